# SPDX-License-Identifier: Apache-2.0
"""What the CLICS contest API of 2026-01 says of a feed, in our own words.

A field is `name: kind`, with `!` behind the kind where the API requires it. Where its text and its
JSON schema differ, the stricter one stands here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

FIELDS = {
    "contest": "id: ID!, name: string!, formal_name: string, start_time: TIME?, duration: RELTIME!,"
    " countdown_pause_time: RELTIME?, scoreboard_freeze_duration: RELTIME?,"
    " scoreboard_thaw_time: TIME?, scoreboard_type: scoring!",
    "state": "started: TIME?, frozen: TIME?, ended: TIME?, thawed: TIME?, finalized: TIME?,"
    " end_of_updates: TIME?",
    "judgement-types": "id: VERDICT!, name: string!, penalty: boolean, solved: boolean!",
    "problems": "id: ID!, label: string!, name: string!, ordinal: integer!,"
    " test_data_count: count!, max_score: number!",
    "organizations": "id: ID!, name: string!, formal_name: string?",
    "teams": "id: ID!, name: string!, label: string!, display_name: string?, organization_id: ID?",
    "submissions": "id: ID!, language_id: ID!, problem_id: ID!, team_id: ID!, time: TIME!,"
    " contest_time: RELTIME!, files: files!",
    "judgements": "id: ID!, submission_id: ID!, judgement_type_id: ID?, score: amount!,"
    " start_time: TIME!, start_contest_time: RELTIME!, end_time: TIME?, end_contest_time: RELTIME?",
    "awards": "id: ID!, citation: string!, team_ids: IDs?",
}
"""The fields of each type."""

_ID = r"^(?=.{1,36}$)[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?$"
_RELTIME = r"^-?[0-9]+:[0-5][0-9]:[0-5][0-9](\.[0-9]{3})?$"
_TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?(Z|[+-]\d\d(:\d\d)?)$"
_KINDS: dict[str, dict[str, Any]] = {
    "ID": {"type": "string", "pattern": _ID},
    "IDs": {"type": "array", "items": {"type": "string", "pattern": _ID}, "uniqueItems": True},
    "VERDICT": {"type": "string", "pattern": "^[A-Z]{2,3}$"},
    "TIME": {"type": "string", "pattern": _TIME},
    "RELTIME": {"type": "string", "pattern": _RELTIME},
    "scoring": {"const": "score"},
    "amount": {"type": "number", "minimum": 0},
    "count": {"type": "integer", "minimum": 0},
    "files": {"type": "array", "minItems": 1, "maxItems": 1},
    **{kind: {"type": kind} for kind in ("string", "boolean", "integer", "number")},
}
_REFERENCES = {
    "team_id": "teams",
    "team_ids": "teams",
    "problem_id": "problems",
    "organization_id": "organizations",
    "submission_id": "submissions",
    "judgement_type_id": "judgement-types",
}

Held = Mapping[tuple[str, str | None], Mapping[str, Any] | None]
"""What a program holds: the newest data of each type and id."""


def schema_of(kind: str, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a type's objects, without the fields that a feed leaves out."""
    properties, required = {}, []
    for field in FIELDS[kind].split(","):
        name, _, of = field.strip().partition(": ")
        if name in left_out:
            continue
        one = _KINDS[of.rstrip("?!")]
        properties[name] = {"anyOf": [one, {"type": "null"}]} if of.endswith("?") else one
        required += [name] * of.endswith("!")
    return {"type": "object", "properties": properties, "required": required}


def broken_rules(held: Held) -> Iterator[str]:
    """Yield what is wrong between the objects of a feed, as its programs would meet it."""
    alive = {key: data for key, data in held.items() if data is not None}
    yield from (
        f"{kind} {own}: no {_REFERENCES[name]} {of}"
        for (kind, own), data in alive.items()
        for name in _REFERENCES.keys() & data.keys()
        for of in ([data[name]] if isinstance(data[name], str) else data[name] or ())
        if (_REFERENCES[name], of) not in alive
    )
    contest, state = alive["contest", None], alive["state", None]
    if contest["start_time"] != state["started"]:
        yield "the contest and its state began at two times"
    yield from _out_of_order(state)
    for (kind, own), data in alive.items():
        yield from (f"{kind} {own}: {text}" for text in _wrong_times(contest, kind, data))


def _out_of_order(state: Mapping[str, Any]) -> Iterator[str]:
    first, last = ["started", "frozen", "ended"], "end_of_updates"
    for order in ([*first, "thawed", last], [*first, "finalized", last]):
        moments = [state[name] for name in order if state[name] is not None]
        if moments != sorted(moments):
            yield f"the state is not in the order {order}"
    for name, needs in (("thawed", "frozen"), ("finalized", "ended"), (last, "finalized")):
        if state[name] is not None and state[needs] is None:
            yield f"{name} without {needs}"
    if state["frozen"] is not None and state["thawed"] is None and state[last] is not None:
        yield "it ends while it is frozen"


def _wrong_times(contest: Mapping[str, Any], kind: str, data: Mapping[str, Any]) -> Iterator[str]:
    times = {"submissions": [""], "judgements": ["start_", "end_"]}.get(kind, [])
    for of in times:
        absolute, relative = data[f"{of}time"], data[f"{of}contest_time"]
        if (absolute is None) != (relative is None):
            yield f"{of}time and {of}contest_time do not go together"
        elif absolute is not None:
            start = datetime.fromisoformat(contest["start_time"])
            if datetime.fromisoformat(absolute) - start != span(relative):
                yield f"{of}contest_time is not the time since the start"
    if kind == "submissions" and span(data["contest_time"]) > span(contest["duration"]):
        yield "it is later than the contest lasts, so programs drop it"
    if kind == "judgements":
        if (data["judgement_type_id"] is None) != (data["end_time"] is None):
            yield "its verdict and its end do not go together"
        if data["end_time"] is not None and data["end_time"] < data["start_time"]:
            yield "it ends before it starts"


def span(text: str) -> timedelta:
    """Return a relative time."""
    hours, minutes, seconds = map(float, text.removeprefix("-").split(":"))
    length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -length if re.match("-", text) else length
