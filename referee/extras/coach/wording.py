# SPDX-License-Identifier: Apache-2.0
"""What the coach says, in sentences: for the terminal, for the page and for the explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from referee.core.counts import counted
from referee.extras.coach.rules.best_moment import BestMoment
from referee.extras.coach.rules.parts import Base, BaseSource, DearImage, Phase, WhereItWent
from referee.extras.coach.rules.side_by_side import SideBySide
from referee.extras.coach.rules.what_if import ARCHIVE_IMAGES, Case, WhatIf, WhyNot

PHASES = {
    Phase.BEFORE: "before the first image",
    Phase.WAITING: "waiting for the referee",
    Phase.WORKING: "working",
    Phase.AFTER: "after the last answer",
}

_WHY_NOT = {
    WhyNot.NO_WAITING: "the client never waited with nothing to do",
    WhyNot.ARCHIVES_USED: "the client fetched archives already",
    WhyNot.FEW_REQUESTS: "it needs 30 requests for single images",
    WhyNot.NO_OVERHEAD: "the requests took no time beside that of their bytes",
    WhyNot.SEVERAL_AT_ONCE: "answers did not name one image each, so nobody knows its time",
    WhyNot.FEW_BOXES: "there are too few images and boxes to tell the time of a class",
    WhyNot.NO_COSTLY_CLASS: "no class costs more than it brings, beyond the uncertainty",
    WhyNot.NO_BASE: "the power of the idle device is not known: give it as --idle-w",
}

_ASSUMES = {
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


def advice(
    best: BestMoment | None,
    went: WhereItWent,
    cases: Sequence[WhatIf],
    class_names: Mapping[int, str],
) -> Advice:
    """Return what the coach says of a session."""
    headline = best_words(best)
    return Advice(
        headline,
        {
            "The best moment to log out": [headline, *_best_more(best)],
            "Where the energy went": [*_went(went)],
            "What if": [case_words(one, class_names) for one in cases],
        },
    )


def best_words(best: BestMoment | None) -> str:
    """Return what there is to say of the best moment, in one sentence."""
    if best is None:
        return "Without a score above 0 no moment is the best."
    if not best.is_better:
        return "No moment is better than the end, within the uncertainty."
    more = f"{percent(best.gain)} more" if best.gain < 1 else f"{1 + best.gain:.2g} times the"
    return f"{more} score with a logout at {clock(best.best.at_s)}."


def _best_more(best: BestMoment | None) -> Iterator[str]:
    if best is None:
        return
    end, top = best.moments[-1], best.best
    if best.is_better:
        yield (
            f"Score {top.score:.5g} there and {end.score:.5g} at the end ({clock(end.at_s)}): "
            f"{percent(best.gain_low)} to {percent(best.gain_high)} more, with 95 % for other "
            "images of the same kind."
        )
    yield f"The best moment lies between {clock(best.low_s)} and {clock(best.high_s)}, with 95 %."


def _went(went: WhereItWent) -> Iterator[str]:
    for part in went.parts:
        share = part.energy_wh / went.energy_wh
        what = f"{joules(part.energy_wh)} in {part.seconds:.1f} s ({100 * share:.1f} %)"
        yield f"{PHASES[part.phase]}: {what}"
    if went.base is not None:
        yield base_words(went.base, went.energy_wh)
    if went.joules_per_image is not None:
        yield (
            f"{went.joules_per_image:.3g} J an image, "
            f"{1 / went.joules_per_image:.3g} images a joule"
            + ("" if went.joules_per_box is None else f", {went.joules_per_box:.3g} J a box")
        )
    if went.overlap is not None:
        yield f"{100 * went.overlap:.0f} % of the time of requests it had an image to work on"
    if went.dearest:
        yield from (f"dearest: {dear_words(dear)}" for dear in went.dearest)
        if not went.is_resolved:
            yield "The meter was read less often than images came: their energies follow the times."


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
    return f"image {dear.image_id} {joules(dear.energy_wh)} ({dear.seconds:.2g} s{size}, {boxes})"


def case_name(case: WhatIf, class_names: Mapping[int, str]) -> str:
    """Return what is done otherwise, in a few words."""
    if case.class_id is not None:
        return f"without the class {class_names.get(case.class_id) or case.class_id}"
    return {
        Case.PIPELINED: "fetching the next image while it works",
        Case.ARCHIVES: "with archives of images",
        Case.CLASS_LEFT_OUT: "without a class",
        Case.FEWER_IMAGES: "with every second image",
    }[case.case]


def case_words(case: WhatIf, class_names: Mapping[int, str]) -> str:
    """Return what a case would have given and what it assumes, or why nobody knows."""
    name = case_name(case, class_names)
    if case.why_not is not None or case.gain is None:
        return f"{name}: not told, since {_WHY_NOT[case.why_not or WhyNot.FEW_BOXES]}"
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
        ahead = second if sides.comparison.difference > 0 else first
        ends = sides.comparison.interval
        yield (
            f"score: {second} minus {first} is {sides.comparison.difference:.5g} "
            f"({ends.low:.5g} to {ends.high:.5g} with 95 %). {ahead} is ahead; another contest "
            f"turns the order with a probability of {100 * sides.comparison.turn_probability:.1f} %"
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
