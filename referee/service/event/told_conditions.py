# SPDX-License-Identifier: Apache-2.0
"""The conditions of a session as its bundle or a station tells them.

They are compared by the one rule of `referee/core/conditions.py`. What is not told, as by a bundle
of an early version, is unknown: it is said, and nobody is accused of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import msgspec

from power.energy.judge import facts_from_json
from referee.core.conditions import (
    EMULATED,
    NOTHING_KNOWN,
    UNKNOWN,
    Conditions,
    Value,
    unknown_conditions,
)
from referee.core.counts import counted
from referee.service.event.conditions import configured, kind_of, scored_by
from referee.store.readings import SessionMeter
from referee.tracks.track import Delivery, Track

TELLING_MEMBERS = tuple(
    "session.json score.json verdict.json run.json config.toml facts.jsonl".split()
)
"""The members of a bundle that tell how its session was run and scored."""

_EXTRA, _METERS = "extra_times", "session_meters"
_TEXT_MOST = 200
_NAMED_MOST = 5
_NUMBERS = {"length_s", "extra_s", "dwell_ms"}
_MAY_LACK = {"mode", "ground_truth", "sizes", "blacklist", "rules"}
_WORDS = {
    **{"length_s": "length", "extra_s": "extra time", "mode": "meter mode", "dwell_ms": "dwell"},
    **{"shuffle": "shuffling", "ground_truth": "ground truth", "sizes": "image sizes"},
}


def conditions_in_bundle(track: Track[Any], members: Mapping[str, bytes]) -> Conditions:
    """Return the conditions of a bundle's session; raise ValueError or the like for no values."""
    documents = {
        name: _json(members.get(name)) for name in TELLING_MEMBERS if name.endswith(".json")
    }
    session, score = documents["session.json"], documents["score.json"] or {}
    facts = members.get("facts.jsonl")
    extra_s = (
        UNKNOWN if facts is None else sum(float(one["seconds"]) for one in _rows(facts, _EXTRA))
    )
    total_s = float(session["length_s"])
    meter, mode = _meter(documents["run.json"], documents["verdict.json"] or {})
    if facts is not None and not any(_rows(facts, _METERS)):  # Its settings are nobody's then.
        meter, mode = EMULATED if meter == EMULATED else kind_of(None), None
    text = members.get("config.toml")
    shuffle, dwell_ms = (UNKNOWN, UNKNOWN) if text is None else configured(text.decode("utf-8"))
    inputs = score.get("inputs") or {name: one["sha256"] for name, one in session["inputs"].items()}
    return read_conditions(
        {
            "track": session["track"],
            "length_s": total_s if isinstance(extra_s, str) else total_s - extra_s,
            "extra_s": extra_s,
            "meter": meter,
            "mode": mode,
            "shuffle": shuffle,
            "dwell_ms": dwell_ms if track.delivery is Delivery.SHOWN else None,
            **{name: inputs.get(name) for name in ("ground_truth", "sizes", "blacklist")},
            "rules": scored_by(score),
        }
    )


def read_conditions(stored: Mapping[str, Value] | None) -> Conditions:
    """Return conditions out of JSON; what is not there, or no value of its kind, is unknown."""
    if stored is None:
        return NOTHING_KNOWN
    named = {one.name: stored.get(one.name, UNKNOWN) for one in fields(Conditions)}
    return Conditions(**{name: _of_its_kind(name, value) for name, value in named.items()})


def not_told_text(conditions: Conditions) -> str:
    """Return in a few words what of a session's conditions nobody tells, '' if all is told."""
    if conditions == NOTHING_KNOWN:
        return "how it was run and scored"
    return ", ".join(_WORDS.get(name, name) for name in unknown_conditions(conditions))


def some_of(names: Sequence[str]) -> str:
    """Return the first of these names, and how many more there are."""
    rest = len(names) - _NAMED_MOST
    return ", ".join(names[:_NAMED_MOST]) + (f" and {counted(rest, 'other')}" if rest > 0 else "")


def _json(content: bytes | None) -> Any:
    return None if content is None else msgspec.json.decode(content)


def _rows(facts: bytes, table: str) -> Iterator[Mapping[str, Any]]:
    for line in facts.splitlines():
        if table.encode() in line:  # Few lines have the word, and a session has many lines.
            fact = msgspec.json.decode(line)
            if fact["table"] == table:
                yield fact["row"]


def _meter(run: Any, verdict: Mapping[str, object]) -> tuple[str, str | None]:
    """Return the kind of a session's meter, and its input mode."""
    if run is None:
        return UNKNOWN, UNKNOWN
    emulated, facts = bool(run.get("emulated") or verdict.get("emulated")), run.get("facts")
    if facts is None:
        return EMULATED if emulated else kind_of(None), None
    try:
        run_facts = facts_from_json(facts)
    except ValueError:
        return EMULATED if emulated else UNKNOWN, UNKNOWN
    mode = run_facts.settings.mode.value
    return kind_of(SessionMeter(emulated, run_facts.identity, run_facts.settings)), mode


def _of_its_kind(name: str, value: Any) -> Any:
    """Return a stranger's value if it is one of a condition, else that it is unknown."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name in _NUMBERS:
        return value if is_number or (name == "dwell_ms" and value is None) else UNKNOWN
    if name == "shuffle":
        return value if isinstance(value, bool) else UNKNOWN
    is_text = isinstance(value, str) and value.isprintable() and len(value) <= _TEXT_MOST
    return value if is_text or (value is None and name in _MAY_LACK) else UNKNOWN
