# SPDX-License-Identifier: Apache-2.0
"""The score of OVIC: the offset of an entry's accuracy from a frontier of accuracy over latency.

Source: rules of the On-device Visual Intelligence Challenge, April 2020. Accuracies are in
percent, latencies in milliseconds for one image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Frontier:
    """The best accuracy in percent at a latency: a(t) = k ln t + a0, t in milliseconds."""

    k: float
    a0: float

    def at(self, latency_ms: float) -> float:
        """Return the accuracy on the frontier, in percent; it may be below 0 or above 100."""
        return self.k * math.log(latency_ms) + self.a0


@dataclass(frozen=True)
class OvicRules:
    """One task of a named rule set: the target latency, and the frontier with its date and data.

    `note` says what is odd about the constants; an empty note says nothing.
    """

    name: str
    task: str
    accuracy: str
    target_ms: float
    frontier: Frontier
    data: str
    note: str = ""

    @property
    def fastest_ms(self) -> float:
        """Return 80 % of the target: a faster entry is treated as this fast."""
        return self.target_ms * 4 / 5

    @property
    def slowest_ms(self) -> float:
        """Return 120 % of the target: a slower entry is invalid, this latency itself is valid."""
        return self.target_ms * 6 / 5


# The text of the rules writes "log" and names no base. With base 10 both frontiers are below the
# accuracy of every known model; detection's is even negative up to 109 ms. So the base is e.
DETECTION_2020 = OvicRules(
    name="ovic-2020-04-07",
    task="detection",
    accuracy="COCO mAP",
    target_ms=30.0,
    frontier=Frontier(k=16.894553358968146, a0=-34.42191514521174),
    data="all entries before CVPR 2020, on COCO minival; some may have trained on it",
)
CLASSIFICATION_2020 = OvicRules(
    name="ovic-2020-04-07",
    task="classification",
    accuracy="ImageNet top-1",
    target_ms=10.0,
    frontier=Frontier(k=49.84607103726407, a0=-21.759878323711725),
    data="entries of CVPR 2020, on the validation set",
    note=(
        "The published constants of classification give 93.0 % at 10 ms and more than 100 % at"
        " 12 ms. They are used as published: rank by the offset, and do not read the frontier as"
        " an accuracy that a model reaches."
    ),
)
RULES = {rules.task: rules for rules in (DETECTION_2020, CLASSIFICATION_2020)}
"""The published rules of 7 April 2020 by task."""


@dataclass(frozen=True)
class OvicScore:
    """An entry's score: `metric` is accuracy minus frontier, in points; None if it is invalid.

    `clamped_ms` is the latency that the frontier was asked for, `frontier` its accuracy there in
    percent. `reasons` says why an entry is invalid, and what changed its latency.
    """

    rules: OvicRules
    accuracy: float
    latency_ms: float
    clamped_ms: float
    frontier: float
    metric: float | None
    valid: bool
    reasons: tuple[str, ...]


def ovic_score(rules: OvicRules, accuracy: float, latency_ms: float) -> OvicScore:
    """Return M(A, T) = A - a(T) for an accuracy in percent and a mean latency in milliseconds.

    A latency below 80 % of the target counts as 80 %. Above 120 % the entry is invalid. Both
    bounds themselves are valid. Raises ValueError for an accuracy outside 0…100 or a latency that
    is not finite and above 0.
    """
    if not 0 <= accuracy <= 100:
        raise ValueError(f"accuracy {accuracy:g} is not a percentage from 0 to 100")
    if not (math.isfinite(latency_ms) and latency_ms > 0):
        raise ValueError(f"latency {latency_ms:g} ms is not finite and above 0")
    clamped_ms = max(latency_ms, rules.fastest_ms)
    frontier = rules.frontier.at(clamped_ms)
    valid = latency_ms <= rules.slowest_ms
    return OvicScore(
        rules=rules,
        accuracy=accuracy,
        latency_ms=latency_ms,
        clamped_ms=clamped_ms,
        frontier=frontier,
        metric=accuracy - frontier if valid else None,
        valid=valid,
        reasons=_reasons(rules, latency_ms),
    )


def best_score(scores: Sequence[OvicScore]) -> OvicScore:
    """Return the best score of one entry over several server builds, as the rules ask.

    An entry is valid if it is valid on any build. Of equal scores the first counts; without a
    valid one, the fastest counts. Raises ValueError without a score.
    """
    return max(scores, key=_goodness)


def _goodness(score: OvicScore) -> tuple[bool, float]:
    if score.metric is None:
        return False, -score.latency_ms
    return True, score.metric


def _reasons(rules: OvicRules, latency_ms: float) -> tuple[str, ...]:
    if latency_ms > rules.slowest_ms:
        return (
            f"{latency_ms:g} ms is slower than {rules.slowest_ms:g} ms, 120 % of the target of"
            f" {rules.target_ms:g} ms: the entry is invalid.",
        )
    if latency_ms < rules.fastest_ms:
        return (
            f"{latency_ms:g} ms is faster than {rules.fastest_ms:g} ms, 80 % of the target of"
            f" {rules.target_ms:g} ms: the entry is scored as if it took {rules.fastest_ms:g} ms.",
        )
    return ()
