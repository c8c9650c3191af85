# SPDX-License-Identifier: Apache-2.0
"""Classic mistakes of a contestant's program, proved by the score of the repaired answers.

A session's detections can be read in several ways: as the protocol says, or as programs that make
a classic mistake mean them. Images, classes and boxes have such readings, and so has the order of
a row's numbers. The reading with the best
mAP wins. Its faults are reported only if its mAP is clearly better than that of the detections as
sent, and if it makes rows match without making other rows miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.mistakes.orders import ColumnOrder, column_orders
from referee.scoring.mistakes.posted import Posted, ProgramFault
from referee.scoring.mistakes.readings import (
    AS_SENT,
    Choice,
    PossibleReadings,
    a_few,
    one_changed,
    two_changed,
)
from referee.scoring.result import IlsvrcResult

Rows = NDArray[np.bool_]

# A repair is reported only if it gains this much mAP and this ratio.
_LEAST_GAIN = 0.02
_LEAST_RATIO = 1.1
# It must make this many rows match, and this many for each row that it makes miss. Among a hundred
# readings of random boxes, one always gains some matches; it loses others. A repair loses none.
_LEAST_MATCHES = 5
_LEAST_MATCHES_A_MISS = 4
# Another order of the same rows gains less. The matching rows must have the lower confidences, so
# many standard deviations below chance.
_LEAST_RATIO_RANKED = 1.05
_LEAST_RANKED = 20
_LEAST_DEVIATIONS = 5.0
# Below this mAP two faults may hide each other, so that a few rows show neither.
_LOW = 0.2
# Two faults that hide each other leave at most this mAP.
_MOST_WHEN_HIDDEN = 0.1

_CONFIDENCE_TURNED = ProgramFault(
    "confidences_turned",
    "The confidences are 1 minus what they should be: the surest boxes have the lowest. A sure box "
    "has a confidence near 1.",
)


@dataclass(frozen=True)
class Mistake:
    """A mistake of a contestant's program: a code, advice in words, and the proof.

    `repaired_mean_ap` is the mAP of the same detections when all reported faults are repaired. It
    is None for a mistake that no repair can prove.
    """

    code: str
    text: str
    repaired_mean_ap: float | None


def find_mistakes(
    truth: GroundTruth,
    posted: Posted,
    sizes: Mapping[int, tuple[int, int]],
    mean_ap: float | None = None,
) -> tuple[Mistake, ...]:
    """Return the mistakes that cost score; the 50,000 most confident rows decide.

    `truth` and `sizes` (width, height in pixels) use the contest's image ids. `mean_ap` is the mAP
    of the detections, if it is known. Unless it is low, a few rows show in some milliseconds
    whether a mistake is likely. The search takes about fifty evaluations.
    """
    if not len(posted.detections) or not len(truth.box):
        return ()
    order = likely_order(truth, posted, sizes)
    likely = mean_ap is None or mean_ap <= _LOW or is_suspect(truth, posted, sizes)
    if order is None:
        proved = _proved(PossibleReadings(truth, posted, sizes)) if likely else ()
        return (*proved, *_equal_confidences(posted.detections))
    meant = order.read(posted)
    return (
        *_proved_in_order(truth, posted, meant, sizes, order.faults),
        *_equal_confidences(meant.detections),
    )


def likely_order(
    truth: GroundTruth, posted: Posted, sizes: Mapping[int, tuple[int, int]]
) -> ColumnOrder | None:
    """Return the order of the columns in which a few rows match best, if it is another one."""
    few = posted.select(a_few(posted.detections.confidence))
    rows = np.arange(len(few.detections))
    best, most = None, _most_matches(PossibleReadings(truth, few, sizes, ranked=rows))
    for order in column_orders(few):
        matched = _most_matches(PossibleReadings(truth, order.read(few), sizes, ranked=rows))
        if _matches_more(matched, most):
            best, most = order, matched
    return best


def _most_matches(readings: PossibleReadings) -> Rows:
    """Return the rows that match in the best of all readings with one change, or with two."""
    choices: Iterable[Choice] = (AS_SENT, *one_changed(AS_SENT, readings.lengths))
    best = max(map(readings.matches, choices), key=np.count_nonzero)
    if np.count_nonzero(best) < _LEAST_MATCHES:  # Two faults may hide each other.
        pairs = map(readings.matches, two_changed(readings.lengths))
        best = max((best, *pairs), key=np.count_nonzero)
    return best


def _proved_in_order(
    truth: GroundTruth,
    posted: Posted,
    meant: Posted,
    sizes: Mapping[int, tuple[int, int]],
    faults: tuple[ProgramFault, ...],
) -> tuple[Mistake, ...]:
    """Return the faults of rows whose columns are in another order, or those of the rows as sent.

    The other order must have clearly the better score, whatever else is wrong.
    """
    as_sent = PossibleReadings(truth, posted, sizes)
    proved = tuple(_proved(as_sent))
    before = proved[0].repaired_mean_ap if proved else _map_of(as_sent.result(AS_SENT))
    readings = PossibleReadings(truth, meant, sizes)
    others = tuple(_proved(readings))
    after = others[0].repaired_mean_ap if others else _map_of(readings.result(AS_SENT))
    if not _gains(after or 0.0, before or 0.0):
        return proved
    return (*(Mistake(fault.code, fault.text, after) for fault in faults), *others)


def is_suspect(truth: GroundTruth, posted: Posted, sizes: Mapping[int, tuple[int, int]]) -> bool:
    """Tell whether a few of the rows match better in another reading, or in another order."""
    few = posted.select(a_few(posted.detections.confidence))
    readings = PossibleReadings(truth, few, sizes)
    sent = readings.matches(AS_SENT)
    return _upside_down(readings, AS_SENT) or any(
        _matches_more(readings.matches(choice), sent)
        for choice in one_changed(AS_SENT, readings.lengths)
    )


def _proved(readings: PossibleReadings) -> Iterator[Mistake]:
    """Yield the faults of the best reading: change one family at a time, then pairs of families."""
    sent = readings.result(AS_SENT)
    best, repaired = _best(readings, sent)
    faults = readings.faults(best)
    if _upside_down(readings, best):
        turned = readings.turned(best)
        if _ranks_better(turned, repaired):
            repaired, faults = turned, (*faults, _CONFIDENCE_TURNED)
    for fault in faults:
        yield Mistake(fault.code, fault.text, repaired.mean_ap)


def _best(readings: PossibleReadings, sent: IlsvrcResult) -> tuple[Choice, IlsvrcResult]:
    """Return the reading that the evidence favours, and its result."""
    best, repaired = AS_SENT, sent
    while True:
        better = _better(readings, one_changed(best, readings.lengths), best, repaired)
        if better is None:
            break
        best, repaired = better
    if best == AS_SENT and _map_of(sent) <= _MOST_WHEN_HIDDEN:
        # Hundreds of pairs: the one with the most matches is judged, not each.
        pairs = list(two_changed(readings.lengths))
        counts = [int(np.count_nonzero(readings.matches(pair))) for pair in pairs]
        most = pairs[int(np.argmax(counts))]
        return _better(readings, [most], best, repaired) or (best, repaired)
    return best, repaired


def _better(
    readings: PossibleReadings, choices: Iterable[Choice], known: Choice, before: IlsvrcResult
) -> tuple[Choice, IlsvrcResult] | None:
    """Return the choice with the best mAP, and its result, if it clearly beats `known`."""
    matched = readings.matches(known)
    best, highest = None, before
    for choice in choices:
        if _matches_more(readings.matches(choice), matched):
            result = readings.result(choice)
            if _map_of(result) > _map_of(highest) and _clearly_better(result, before):
                best, highest = choice, result
    return None if best is None else (best, highest)


def _matches_more(rows: Rows, before: Rows) -> bool:
    """Tell whether many rows match that did not, and hardly any the other way round."""
    gained = np.count_nonzero(rows & ~before)
    lost = np.count_nonzero(before & ~rows)
    return bool(gained >= _LEAST_MATCHES and gained >= _LEAST_MATCHES_A_MISS * lost)


def _clearly_better(result: IlsvrcResult, before: IlsvrcResult) -> bool:
    return _gains(_map_of(result), _map_of(before))


def _gains(after: float, before: float) -> bool:
    return after - before >= _LEAST_GAIN and after >= _LEAST_RATIO * before


def _ranks_better(turned: IlsvrcResult, before: IlsvrcResult) -> bool:
    """Tell whether the other order is clearly better; it finds the same objects."""
    return _map_of(turned) - _map_of(before) >= _LEAST_GAIN and _map_of(
        turned
    ) >= _LEAST_RATIO_RANKED * _map_of(before)


def _upside_down(readings: PossibleReadings, choice: Choice) -> bool:
    """Tell whether rows that match have lower confidences than the others, by more than chance.

    This is the rank test of Wilcoxon, Mann and Whitney, with middle ranks for ties.
    """
    sent, matched = readings.few_confidences, readings.matches(choice)
    if not np.all((sent >= 0) & (sent <= 1)):
        return False
    hit, miss = sent[matched], np.sort(sent[~matched])
    if len(hit) < _LEAST_RANKED or not len(miss):
        return False
    below = np.searchsorted(miss, hit) + np.searchsorted(miss, hit, side="right")
    pairs = len(hit) * len(miss)
    deviation = np.sqrt(pairs * (len(hit) + len(miss) + 1) / 12)
    return bool(below.sum() / 2 - pairs / 2 <= -_LEAST_DEVIATIONS * deviation)


def _map_of(result: IlsvrcResult) -> float:
    return result.mean_ap or 0.0


def advice(mistakes: Sequence[Mistake], mean_ap: float | None) -> Iterator[str]:
    """Yield sentences: first the proved mistakes and the repaired mAP, then the other mistakes."""
    repaired = [m for m in mistakes if m.repaired_mean_ap is not None]
    yield from (mistake.text for mistake in repaired)
    if repaired and mean_ap is not None:
        what = "Repaired" if len(repaired) == 1 else "With all of this repaired"
        yield f"{what}, the mAP is {repaired[0].repaired_mean_ap:.4f}, not {mean_ap:.4f}."
    yield from (mistake.text for mistake in mistakes if mistake.repaired_mean_ap is None)


def _equal_confidences(detections: Detections) -> Iterator[Mistake]:
    confidence = detections.confidence
    if len(confidence) > 1 and np.all(confidence == confidence[0]):
        yield Mistake(
            "confidences_equal",
            f"All confidences are {confidence[0]:g}. The score orders detections by confidence, so "
            "each false one costs as much as it can. Send the confidence of your detector.",
            None,
        )
