# SPDX-License-Identifier: Apache-2.0
"""The parts of `session.json` and `score.json` that a season keeps, with their types."""

from __future__ import annotations

from typing import Annotated

import msgspec

from referee.extras.season.rows import OldResult, SessionFields
from referee.scoring.uncertainty import gives_interval
from referee.service.evidence.bundle_file import SESSION_MOST

Words = Annotated[str, msgspec.Meta(max_length=1000)]
"""A name or a word; a stranger's megabyte would stand in every row."""


_REASON_MOST = 300


class Moment(msgspec.Struct):
    """A moment of a session."""

    utc: Words


class Input(msgspec.Struct):
    """A file that a session was prepared with."""

    sha256: Words


Count = Annotated[int, msgspec.Meta(ge=0, le=SESSION_MOST)]


class SessionTold(msgspec.Struct):
    """What `session.json` tells of a session."""

    session: Count
    team: Words
    lane: Count
    track: Words
    moments: dict[str, Moment | None]
    classes: dict[str, str]
    inputs: dict[Words, Input]

    def fields(self, event: str | None, station: str | None, old: OldScore | None) -> SessionFields:
        """Return the fields of a row: those of the session, with what other members tell."""
        started, voided = self.moments.get("started"), self.moments.get("voided")
        return {
            "event": event,
            "station": station,
            "session": self.session,
            "team": self.team,
            "lane": self.lane,
            "track": self.track,
            "started_utc": None if started is None else started.utc,
            "voided_utc": None if voided is None else voided.utc,
            "old": None if old is None else old.fields(self),
        }


class OldIntervals(msgspec.Struct):
    """The ends of the 95 % intervals in `score.json`."""

    mean_ap: tuple[float, float] | None = None
    score: tuple[float, float] | None = None


class OldScore(msgspec.Struct):
    """The score that a bundle was exported with; later versions of the referee told more of it.

    `uncertainty_wh` is a limit of error, no standard uncertainty.
    """

    mean_ap: float | None
    score: float | None
    energy_wh: float | None
    verdict: Words | None
    images_fetched: Count
    detections: Count
    rules: Words | None = None
    rules_version: Words | None = None
    uncertainty_wh: float | None = None
    normalized_accuracy: float | None = None
    emulated: bool | None = None
    uncertainty: OldIntervals | None = None
    inputs: dict[Words, Words] | None = None
    reasons: list[str] | None = None

    def fields(self, session: SessionTold) -> OldResult:
        """Return the field `old` of a row.

        A score by other files than the session's names them itself. Of the reasons of the verdict
        the first one is kept.
        """
        intervals = self.uncertainty or OldIntervals()
        return {
            "mean_ap": self.mean_ap,
            "score": self.score,
            "rules": self.rules,
            "rules_version": self.rules_version,
            "energy_wh": self.energy_wh,
            "uncertainty_wh": self.uncertainty_wh,
            "verdict": self.verdict,
            "reason": self.reasons[0][:_REASON_MOST] if self.reasons else None,
            "images_fetched": self.images_fetched,
            "detections": self.detections,
            "normalized_accuracy": self.normalized_accuracy,
            "emulated": self.emulated,
            "inputs": self.inputs or {name: it.sha256 for name, it in session.inputs.items()},
            "mean_ap_interval": _ends(intervals.mean_ap),
            "score_interval": _ends(intervals.score if gives_interval(self.verdict) else None),
        }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)
