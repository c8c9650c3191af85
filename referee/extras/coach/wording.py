# SPDX-License-Identifier: Apache-2.0
"""What the coach says, in sentences: for the terminal, for the page and for the explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from referee.core.counts import counted
from referee.extras.coach.rules.best_moment import BestMoment
from referee.extras.coach.rules.moments import IMAGES_LEAST
from referee.extras.coach.rules.parts import (
    TENTHS,
    Base,
    BaseSource,
    DearImage,
    Phase,
    Tenth,
    WhereItWent,
)
from referee.extras.coach.rules.side_by_side import SideBySide
from referee.extras.coach.rules.what_if import ARCHIVE_IMAGES, Case, WhatIf, WhyNot

PHASES = {
    Phase.BEFORE: "before the first image",
    Phase.WAITING: "waiting for the referee",
    Phase.WORKING: "working",
    Phase.AFTER: "after the last answer",
}

_BEST, _WHAT_IF = "The best moment to log out", "What if"

_WHY_NOT = {
    WhyNot.LOGGED_OUT: "the client logged out with its last answer, or it answered to the end",
    WhyNot.NO_WAITING: "the client hardly waited with nothing to do",
    WhyNot.NO_ARCHIVES: "this track has no archives",
    WhyNot.ARCHIVES_USED: "the client fetched archives already",
    WhyNot.FEW_REQUESTS: "that needs 30 requests for single images",
    WhyNot.NO_OVERHEAD: "the requests took hardly any time beside that of their bytes",
    WhyNot.SEVERAL_AT_ONCE: "an answer named several images, so the time of each is not known",
    WhyNot.FEW_BOXES: "there are too few images and boxes to tell the time of a class",
    WhyNot.NO_COSTLY_CLASS: "no class costs more than it brings, beyond the uncertainty",
    WhyNot.NO_BASE: "the power of the idle device is not known: give it as --idle-w",
}

_ASSUMES = {
    Case.LOGOUT: "nothing else changes",
    Case.PIPELINED: "the answers stay the same and come earlier, and the logout as much earlier",
    Case.ARCHIVES: f"one request brings {ARCHIVE_IMAGES} images, and bytes take as long as before",
    Case.CLASS_LEFT_OUT: "a box takes the time that boxes of its class took, and the rest stays",
    Case.FEWER_IMAGES: "the session is as long, and the energy above idle falls as the images do",
}


@dataclass(frozen=True)
class Advice:
    """The headline of a session's report, and the lines of each part by its title."""

    headline: str
    parts: Mapping[str, Sequence[str]]

    @property
    def sentences(self) -> list[str]:
        """Return what a client could do otherwise; the headline is the first."""
        return [line for title in (_BEST, _WHAT_IF) for line in self.parts.get(title, ())]


def advice(
    best: BestMoment | None,
    went: WhereItWent,
    cases: Sequence[WhatIf],
    class_names: Mapping[int, str],
) -> Advice:
    """Return what the coach says of a session."""
    headline = best_words(best, went.images)
    parts = {
        _BEST: [headline, *_best_more(best)],
        "Where the energy went": [*_went(went)],
        "Its course": [*_course(went)],
        "The dearest images": [*_dearest(went)],
        _WHAT_IF: [case_words(one, class_names) for one in cases],
    }
    return Advice(headline, {title: lines for title, lines in parts.items() if lines})


def best_words(best: BestMoment | None, images: int) -> str:
    """Return what there is to say of the best moment, in one sentence.

    `images` counts those that were answered in time.
    """
    if best is None:
        return (
            "The score is 0, so no moment is better than another."
            if images
            else "No image was answered in time, so there is no score to raise."
        )
    if not best.is_better:
        return "No moment is better than the end, within the uncertainty."
    more = f"{percent(best.gain)} more" if best.gain < 1 else f"{1 + best.gain:.2g} times the"
    where = f"{more} score with a logout at {clock(best.best.at_s)}"
    if best.low == best.high:
        return f"{where}."
    between = f"{clock(best.low.at_s)} and {clock(best.high.at_s)}"
    return f"{where}; the best moment lies between {between}."


def _best_more(best: BestMoment | None) -> Iterator[str]:
    if best is None:
        return
    end, top = best.moments[-1], best.best
    if best.is_better:
        yield (
            f"Score {top.score:.5g} there and {end.score:.5g} at the end ({clock(end.at_s)}): "
            f"{_range(best)}, with 95 % confidence for other images of the same kind."
        )
    if best.low != best.high:
        yield (
            "With 95 % confidence, the best moment for other images lies between "
            f"{clock(best.low.at_s)} (score {best.low.score:.5g}) and "
            f"{clock(best.high.at_s)} (score {best.high.score:.5g}). Between them chance decides: "
            "the latest one rests on the most images."
        )
    if end.images < IMAGES_LEAST:
        yield f"Earlier moments need {IMAGES_LEAST} answered images, so they are not compared."


def _range(best: BestMoment) -> str:
    if best.gain_high < 1:
        low, high, more = percent(best.gain_low), percent(best.gain_high), "more"
    else:
        low, high, more = f"{1 + best.gain_low:.3g}", f"{1 + best.gain_high:.3g}", "times as much"
    return f"{low} {more}" if low == high else f"{low} to {high} {more}"


def _went(went: WhereItWent) -> Iterator[str]:
    for part in went.parts:
        if part.seconds <= 0:
            continue
        share = part.energy_wh / went.energy_wh
        what = f"{joules(part.energy_wh)} in {part.seconds:.1f} s ({100 * share:.1f} %)"
        yield f"{PHASES[part.phase]}: {what}"
    if went.base is not None:
        yield base_words(went.base, went.energy_wh)
    if went.joules_per_image is not None:
        yield (
            f"{went.joules_per_image:.3g} J an image, "
            f"{went.images_per_joule:.3g} images a joule"
            + ("" if went.joules_per_box is None else f", {went.joules_per_box:.3g} J a box")
        )
    if went.overlap is not None:
        busy = f"{100 * went.overlap:.0f} %"
        yield f"overlap: in {busy} of the time of its requests the client had an image to work on"


def _course(went: WhereItWent) -> Iterator[str]:
    """Yield what an image took in each tenth of the session, in a line for each half."""
    if went.images:
        for half in (went.tenths[: TENTHS // 2], went.tenths[TENTHS // 2 :]):
            told = ", ".join(_tenth_words(one) for one in half)
            yield f"{clock(half[0].from_s)} to {clock(half[-1].to_s)}: {told}"


def _tenth_words(tenth: Tenth) -> str:
    if not tenth.images:
        return f"{joules(tenth.energy_wh)} for no image"
    return f"{joules(tenth.energy_wh / tenth.images)} an image"


def _dearest(went: WhereItWent) -> Iterator[str]:
    yield from map(dear_words, went.dearest)
    if went.dearest and not went.is_resolved:
        yield "Images came faster than the meter's updates: their energies follow the times."


def base_words(base: Base, energy_wh: float) -> str:
    """Return what the idle device took."""
    how = {
        BaseSource.GIVEN: "as given",
        BaseSource.BEFORE_FIRST_IMAGE: "the mean before the first image",
    }[base.source]
    share = 100 * base.energy_wh / energy_wh
    return f"idle: {base.power_w:.3g} W ({how}), {joules(base.energy_wh)} ({share:.1f} %)"


def dear_words(dear: DearImage) -> str:
    """Return what an image took."""
    size = "" if dear.size is None else f", {dear.size[0]}x{dear.size[1]}"
    boxes = counted(dear.boxes, "box", "boxes")
    known = "" if dear.number == dear.image_id else f" (number {dear.image_id} of the ground truth)"
    what = f"({dear.seconds:.2g} s{size}, {boxes})"
    return f"image {dear.number}{known}: {joules(dear.energy_wh)} {what}"


def case_name(case: WhatIf, class_names: Mapping[int, str]) -> str:
    """Return what is done otherwise, in a few words."""
    if case.class_id is not None:
        return f"without the class {class_names.get(case.class_id) or case.class_id}"
    return {
        Case.LOGOUT: "a logout with the last answer",
        Case.PIPELINED: "fetching the next image while it works",
        Case.ARCHIVES: "with archives of images",
        Case.CLASS_LEFT_OUT: "without a class",
        Case.FEWER_IMAGES: "without every second image",
    }[case.case]


def case_words(case: WhatIf, class_names: Mapping[int, str]) -> str:
    """Return what a case would have given and what it assumes, or why nobody knows."""
    name = case_name(case, class_names)
    if case.why_not is not None or case.gain is None:
        return f"{name}: no figure, since {_WHY_NOT[case.why_not or WhyNot.FEW_BOXES]}"
    word = "more" if case.gain >= 0 else "less"
    saved = f", {case.seconds:.1f} s saved" if case.seconds else ""
    return (
        f"{name}: {percent(abs(case.gain))} {word} score (mAP {case.mean_ap:.4f}, "
        f"{joules(case.energy_wh or 0.0)}{saved}), if {_ASSUMES[case.case]}"
    )


def compared_words(sides: SideBySide, first: str, second: str) -> Iterator[str]:
    """Yield what differs between two sessions, which `first` and `second` name."""
    for change in sides.changes:
        yield (
            f"{PHASES[change.phase]}: {joules(change.first_wh)} in {change.first_s:.1f} s, then "
            f"{joules(change.second_wh)} in {change.second_s:.1f} s"
        )
    if sides.first_mean_ap is not None and sides.second_mean_ap is not None:
        yield f"mAP: {sides.first_mean_ap:.5f}, then {sides.second_mean_ap:.5f}"
    if sides.ground_truth_differs:
        yield "Their images or ground truths differ, so their scores are not compared."
    if sides.comparison is not None:
        difference = sides.comparison.difference
        ahead = "neither" if difference == 0 else second if difference > 0 else first
        ends = sides.comparison.interval
        yield (
            f"score: {second} minus {first} is {difference:.5g} "
            f"({ends.low:.5g} to {ends.high:.5g} with 95 % confidence); {ahead} is ahead. Another "
            "contest turns the order with a probability of "
            f"{100 * sides.comparison.turn_probability:.1f} %"
        )


def joules(energy_wh: float) -> str:
    """Return an energy with three digits."""
    return (
        f"{3600 * energy_wh:.3g} J"
        if abs(3600 * energy_wh) < 999.5
        else f"{3600 * energy_wh:.0f} J"
    )


def percent(share: float) -> str:
    """Return a share as a percentage with two digits, or more from 100 on."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:.1f} %"


def clock(seconds: float) -> str:
    """Return a session time as minutes and seconds, such as 7:41, or 0:07.3 in a short one."""
    minutes, rest = divmod(round(seconds, 1), 60)
    return f"{int(minutes)}:{rest:04.1f}" if rest % 1 else f"{int(minutes)}:{int(rest):02d}"
