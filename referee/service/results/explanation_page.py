# SPDX-License-Identifier: Apache-2.0
"""The page that explains a score: the mistakes first, then what is missed, and the curves folded.

It loads the pictures beside it and nothing else. The template is `explanation.html`, beside this
file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.core.counts import counted
from referee.scoring.detection_outcomes import Fate, Fates
from referee.scoring.result import IlsvrcResult
from referee.service.setup.extra import SessionReport
from referee.service.setup.pages import page

_MEANINGS = {
    Fate.TRUE_POSITIVE: ("right", "finds an object that no box before it has found"),
    Fate.DUPLICATE: ("duplicate", "a second box on an object that is found already"),
    Fate.WRONG_CLASS: ("wrong class", "lies on an object, and names another class"),
    Fate.POOR_OVERLAP: ("poor overlap", "lies on an object of its class, but not closely enough"),
    Fate.BACKGROUND: ("background", "lies where no such object is"),
    Fate.MALFORMED: ("malformed", "has corners the wrong way round, or not finite"),
    Fate.BLACKLISTED: ("blacklisted", "not scored: its image is on the blacklist for this class"),
    Fate.DIFFICULT: ("difficult", "not scored: its object is flagged as difficult"),
    Fate.CLASS_OUT_OF_RANGE: ("unknown class", "not scored: no class has its number"),
    Fate.CONFIDENCE_NOT_FINITE: ("no confidence", "not scored: its confidence is not finite"),
    Fate.UNKNOWN_IMAGE: ("unknown image", "not scored: no image has its number"),
}
_FALSE = (Fate.DUPLICATE, Fate.WRONG_CLASS, Fate.POOR_OVERLAP, Fate.BACKGROUND, Fate.MALFORMED)

FALSE_COLOUR, TRUE_COLOUR = "#d62728", "#2ca02c"
"""The colours of the boxes in the pictures, which the legend names."""


@dataclass(frozen=True)
class PagePicture:
    """A picture of the page: its path beside it, its caption, and its text for who sees none."""

    path: str
    caption: str
    alt: str


@dataclass(frozen=True)
class CurvePicture(PagePicture):
    """The picture of a class's curve, with the class's AP."""

    average_precision: float


def explanation_page(
    subject: str,
    result: IlsvrcResult,
    fates: Fates,
    wrong: Sequence[PagePicture],
    missed: Sequence[PagePicture],
    curves: Sequence[CurvePicture],
    reports: Mapping[str, SessionReport],
) -> str:
    """Return the page; `subject` says in words whose score it is, such as "session 3 of 'ants'".

    The curves of the weakest classes come first. `reports` are those of guests, by their names;
    the page of each stands beside this one.
    """
    has_score = result.mean_ap is not None
    what = f"scores mAP {result.mean_ap:.4f}" if has_score else "has no mAP"
    false = sum(fates.count(fate) for fate in _FALSE)
    return page(
        "service/results/explanation.html",
        title=f"Why {subject} {what}",
        facts=[
            f"{counted(result.detections, 'box', 'boxes')} on {counted(result.images, 'image')}:"
            f" {fates.count(Fate.TRUE_POSITIVE)} right, {false} wrong.",
            f"{len(fates.missed)} of {counted(result.truth_boxes, 'object')} missed.",
        ],
        fates=[
            (name, meaning, fates.count(fate))
            for fate, (name, meaning) in _MEANINGS.items()
            if fates.count(fate)
        ],
        wrong=wrong,
        wrong_of=false,
        missed=missed,
        missed_of=len(fates.missed),
        colours={"false": FALSE_COLOUR, "true": TRUE_COLOUR},
        reports=reports,
        curves=sorted(curves, key=lambda one: one.average_precision),
    )
