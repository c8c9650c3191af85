# SPDX-License-Identifier: Apache-2.0
"""The figures of a session's result, which ranking, feed, joint board and bundles have in common.

A new figure is a field of `Figures`, its value in `figures_of`, and a line in
`referee/service/event/columns.py`. What it needs beside the others is a field of `StoredResult`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from power.energy.duration import Duration, duration_of, mean_power
from referee.core.states import SessionFacts, ran_s
from referee.service.results.final_score import ANSWERED
from referee.service.results.score_text import ends_of
from referee.store.database import Connection
from referee.store.readings import EnergyRecord, energy_of
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import SessionRecord
from referee.tracks.track import Track

Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A number of things; more digits are none, and many readers of JSON would lose them."""


class Figures(Struct, frozen=True, kw_only=True):
    """What is known of a session's result; None is not known, and never 0.

    `mean_ap` is the track's accuracy, whatever its name. `uncertainty_wh` is a limit of error.
    `score_low` and `score_high` are the ends of the score's interval. `images` counts those that
    the team fetched, `images_answered` those that it answered. Scores of early versions do not tell
    the second; their normalised accuracy counted the images fetched. An `emulated` energy is not
    official. `mean_power_w` is the energy over the time for which the meter integrated, with the
    digits that this time leaves, and `mean_power_uncertainty_w` what it may be off for that time
    alone.
    """

    score: float | None = None
    mean_ap: float | None = None
    energy_wh: float | None = None
    uncertainty_wh: float | None = None
    mean_power_w: float | None = None
    emulated: bool = False
    score_low: float | None = None
    score_high: float | None = None
    objects_per_s: float | None = None
    normalized_accuracy: float | None = None
    images: Count | None = None
    images_answered: Count | None = None
    mean_power_uncertainty_w: float | None = None

    def values(self) -> dict[str, Any]:
        """Return the figures by name, also of an object that has more than them."""
        return {name: getattr(self, name) for name in Figures.__struct_fields__}


@dataclass(frozen=True)
class StoredResult:
    """What the figures of a session follow from: its newest energy and scoring run, and counts.

    None is what does not exist yet, or what a bundle does not tell. `images` counts those that the
    team fetched.
    """

    facts: SessionFacts
    energy: EnergyRecord | None = None
    run: ScoringRun | None = None
    images: int | None = None


def stored_result(connection: Connection, session: SessionRecord) -> StoredResult:
    """Read what is stored of a session's result."""
    number = session.session_id
    return StoredResult(
        session.facts,
        energy_of(connection, number),
        newest_scoring_run(connection, number),
        count_fetched_images(connection, number),
    )


def figures_of(track: Track[Any], stored: StoredResult) -> Figures:
    """Return the figures of a session."""
    energy, run = stored.energy, stored.run
    low, high = ends_of(run, track)
    mean_w, off_w = _mean_power(energy)
    return Figures(
        score=None if run is None else run.score,
        mean_ap=None if run is None else run.accuracy,
        energy_wh=None if energy is None else energy.energy_wh,
        uncertainty_wh=None if energy is None else energy.uncertainty_wh,
        mean_power_w=mean_w,
        mean_power_uncertainty_w=off_w,
        emulated=energy is not None and energy.emulated,
        score_low=low,
        score_high=high,
        objects_per_s=_objects_per_s(stored.facts, run),
        normalized_accuracy=None if run is None else run.detail.get("normalized_accuracy"),
        images=stored.images,
        images_answered=None if run is None else run.detail.get(ANSWERED),
    )


def _mean_power(energy: EnergyRecord | None) -> tuple[float | None, float | None]:
    """Return the energy over the time for which the meter integrated, and what it may be off.

    Energies of early versions tell the meter's whole seconds alone, and how long the session was.
    """
    if energy is None:
        return None, None
    detail = energy.detail
    if detail.get("duration_s") is not None:
        lasted = Duration(detail["duration_s"], detail.get("duration_uncertainty_s") or 0.0)
        return mean_power(energy.energy_wh, lasted)
    settings = detail.get("facts", {}).get("settings", {})
    return mean_power(
        energy.energy_wh,
        duration_of(
            detail.get("integration_s"),
            None,
            timer_s=settings.get("timer_s", 0),
            session_s=detail.get("session_s"),
            exact=settings.get("sampling") is not None,
        ),
    )


def _objects_per_s(facts: SessionFacts, run: ScoringRun | None) -> float | None:
    """Return the reported boxes per second, or None if the session is not over or not scored."""
    boxes = None if run is None else run.detail.get("detections")
    seconds = ran_s(facts)
    return float(boxes) / seconds if boxes is not None and seconds else None
