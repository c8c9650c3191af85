# SPDX-License-Identifier: Apache-2.0
"""The conditions of stored sessions: what differs between those that are ranked together."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from power.official import is_official
from referee.core.conditions import EMULATED, Conditions, Difference, differences, usual_conditions
from referee.core.marks import NOT_ALIKE, with_marks
from referee.core.text_cells import isolated
from referee.service.setup.config import CameraSection, ContestSection
from referee.store.annotations import extra_seconds
from referee.store.database import Connection
from referee.store.images import configuration_of
from referee.store.readings import EnergyRecord, SessionMeter, session_meter_of
from referee.store.scores import ScoringRun, inputs_of
from referee.store.sessions import SessionRecord
from referee.tracks.track import Delivery, Track

_OFFICIAL = "WT300 series"


def conditions_of(
    track: Track[Any],
    connection: Connection,
    session: SessionRecord,
    energy: EnergyRecord | None,
    run: ScoringRun,
) -> Conditions:
    """Return under which conditions a session was run and scored."""
    extra_s = extra_seconds(connection, session.session_id)
    inputs = inputs_of(connection, run)
    meter = session_meter_of(connection, session.session_id)
    shuffle, dwell_ms = configured(configuration_of(connection, session.session_id) or "")
    return Conditions(
        track=session.track,
        length_s=session.facts.length_s - extra_s,
        extra_s=extra_s,
        meter=EMULATED if energy is not None and energy.emulated else kind_of(meter),
        mode=None if meter is None else meter.settings.mode.value,
        shuffle=shuffle,
        dwell_ms=dwell_ms if track.delivery is Delivery.SHOWN else None,
        ground_truth=inputs.get("ground_truth"),
        sizes=inputs.get("sizes"),
        blacklist=inputs.get("blacklist"),
        rules=scored_by(run.detail),
    )


def scored_by(detail: Mapping[str, object]) -> str | None:
    """Return the rules of a score with their version; None where a track has no such rules."""
    words = [str(detail[name]) for name in ("rules", "rules_version") if detail.get(name)]
    return " ".join(words) or None


def compared(by_session: Mapping[int, Conditions]) -> dict[int, tuple[Difference, ...]]:
    """Return for each session what is not as in most of the others."""
    usual = usual_conditions(by_session)
    if usual is None:
        return {}
    return {number: differences(one, usual) for number, one in by_session.items()}


def marked_name(name: str, differs: Sequence[Difference] | bool) -> str:
    """Return a team's name for a sentence, which has no room for what differs."""
    return with_marks(isolated(name), [NOT_ALIKE] if differs else [])


def difference_text(difference: Difference) -> str:
    """Return a difference in a few words, as every surface says it."""
    found, usual = difference.found, difference.usual
    match difference.condition:
        case "length_s":
            return f"{found:g} s, others {usual:g} s"
        case "extra_s":
            more = float(found or 0) - float(usual or 0)
            return f"{abs(more):g} s {'more' if more > 0 else 'less extra'} time"
        case "meter":
            return f"meter {found}, others {usual}"
        case "mode":
            return f"meter mode {found or 'unknown'}, others {usual or 'unknown'}"
        case "shuffle":
            return "images shuffled, others not" if found else "images not shuffled, others are"
        case "dwell_ms":
            return f"images shown for {found} ms, others {usual} ms"
        case "track":
            return f"track {found}, others {usual}"
        case "rules":
            return f"scored by {found or 'no rules'}, others by {usual or 'none'}"
    what = {"ground_truth": "ground truth", "sizes": "image sizes"}.get(
        difference.condition, "blacklist"
    )
    if found is None:
        return f"no {what}, others have one"
    return f"a {what}, others none" if usual is None else f"other {what} {str(found)[:8]}"


def kind_of(meter: SessionMeter | None) -> str:
    """Return the kind of a meter; those of one series are alike."""
    if meter is None:
        return "none"
    if meter.emulated:
        return EMULATED
    if is_official(meter.identity, meter.settings):
        return _OFFICIAL
    sampling = meter.settings.sampling
    if meter.identity is not None:
        return f"{meter.identity.maker} {meter.identity.model}".strip()
    return "unknown" if sampling is None else sampling.kind


@lru_cache(maxsize=64)
def configured(configuration: str) -> tuple[bool, float]:
    """Return what contest.toml said of the rules of a session: shuffled or not, and the dwell."""
    try:
        read = tomllib.loads(configuration)
    except tomllib.TOMLDecodeError:  # A bundle's or an early version's; the referee read its own.
        read = {}
    contest, camera = read.get("contest", {}), read.get("camera", {})
    return (
        bool(contest.get("shuffle", ContestSection().shuffle)),
        float(camera.get("dwell_ms", CameraSection().dwell_ms)),
    )
