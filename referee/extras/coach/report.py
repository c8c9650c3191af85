# SPDX-License-Identifier: Apache-2.0
"""Everything that the coach finds in one session, as values and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from referee.extras.coach.reading import Coached
from referee.extras.coach.rules.best_moment import BestMoment, best_moment
from referee.extras.coach.rules.moments import Moment
from referee.extras.coach.rules.parts import Phase, WhereItWent, where_it_went
from referee.extras.coach.rules.what_if import WhatIf, what_if
from referee.extras.coach.wording import Advice, advice

# The names of the parts that scripts read.
_PARTS = {
    Phase.BEFORE: "before",
    Phase.WAITING: "waiting",
    Phase.WORKING: "working",
    Phase.AFTER: "after",
}


@dataclass(frozen=True)
class Report:
    """The report of a session; `best` is None for one without a score above 0."""

    session_id: int
    team: str
    marks: tuple[str, ...]
    best: BestMoment | None
    went: WhereItWent
    cases: tuple[WhatIf, ...]
    class_names: dict[int, str]

    @property
    def title(self) -> str:
        """Return whose report it is."""
        return " ".join([f"Coach: session {self.session_id} for '{self.team}'", *self.marks])

    def advice(self) -> Advice:
        """Return what the coach says."""
        return advice(self.best, self.went, self.cases, self.class_names)

    def to_json(self) -> dict[str, object]:
        """Return the report ready for JSON: the headlines first, then all that they rest on."""
        return {
            "session": self.session_id,
            "team": self.team,
            "marks": list(self.marks),
            **_stop_json(self.best),
            "energy_wh": _energy_json(self.went),
            "joules_per_image": self.went.joules_per_image,
            "images_per_joule": self.went.images_per_joule,
            "advice": self.advice().sentences,
            "best_moment": None if self.best is None else _best_json(self.best),
            "where_it_went": {
                **msgspec.to_builtins(self.went),
                "joules_per_box": self.went.joules_per_box,
            },
            "what_if": [msgspec.to_builtins(case) for case in self.cases],
        }


def _stop_json(best: BestMoment | None) -> dict[str, object]:
    """Return the best moment to stop; a gain whose interval holds 0 is chance.

    `gain_high` is None where it has no bound, and all are without a score.
    """
    if best is None:
        return dict.fromkeys(("best_stop_s", "gain", "gain_low", "gain_high"))
    high = best.gain_high if math.isfinite(best.gain_high) else None
    gains = {"gain": best.gain, "gain_low": best.gain_low, "gain_high": high}
    return {"best_stop_s": best.best.at_s, **gains}


def _energy_json(went: WhereItWent) -> dict[str, object]:
    """Return the energy of each part, and what the idle device takes of them all, or None."""
    idle_wh = None if went.base is None else went.base.energy_wh
    parts = {_PARTS[part.phase]: part.energy_wh for part in went.parts}
    return {**dict.fromkeys(_PARTS.values(), 0.0), **parts, "idle": idle_wh}


def _best_json(best: BestMoment) -> dict[str, object]:
    def moment(one: Moment) -> dict[str, object]:
        return {**msgspec.to_builtins(one), "score": one.score}

    return {
        **msgspec.to_builtins(best),
        **{name: moment(getattr(best, name)) for name in ("best", "low", "high")},
        "moments": [moment(one) for one in best.moments],
        "gain_high": best.gain_high if math.isfinite(best.gain_high) else None,
        "is_better": best.is_better,
    }


def report_of(
    coached: Coached,
    idle_w: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Return the report of a session; see `best_moment` for `progress`."""
    went = where_it_went(coached.played, idle_w)
    return Report(
        session_id=coached.session_id,
        team=coached.team,
        marks=coached.marks,
        best=best_moment(coached.played, progress=progress),
        went=went,
        cases=tuple(what_if(coached.played, went)),
        class_names=coached.class_names,
    )
