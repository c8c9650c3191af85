# SPDX-License-Identifier: Apache-2.0
"""Rule sets of the ILSVRC detection score, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from referee.core.arguments import is_one_of, real_number, told
from referee.errors import ArgumentError


@dataclass(frozen=True)
class Rules:
    """The choices that turn ground truth and detections into one mAP.

    A detection may match a truth box of width w and height h (inclusive pixels) if their IoU
    reaches the threshold `min(iou_cap, w*h / ((w+tolerance_px) * (h+tolerance_px)))`. With
    `strict` the IoU must exceed the threshold. The mean runs over the classes with ground truth.
    With `missing_as_zero` it runs over all listed classes; one without ground truth counts 0.
    With `best_box_only` a detection may match the one box that it overlaps most, if it reaches the
    threshold of that box, and is a duplicate if an earlier detection holds it (VOCevaldet.m).
    Otherwise it may match the best box that is still free.
    With `ignore_difficult`, which needs `best_box_only`, flagged boxes are not to be found, and a
    detection whose box is flagged counts neither way.

    Raises ArgumentError for one of these two without the other, for an `iou_cap` that is not above
    0 and at most 1, and for a tolerance that is not finite or below 0.
    """

    name: str
    version: str
    strict: bool = False
    missing_as_zero: bool = False
    iou_cap: float = 0.5
    tolerance_px: float = 10.0
    best_box_only: bool = False
    ignore_difficult: bool = False

    def __post_init__(self) -> None:
        for name in ("strict", "missing_as_zero", "best_box_only", "ignore_difficult"):
            value = getattr(self, name)
            if not is_one_of(value, (True, False)):
                raise ArgumentError(f"{name} is {told(value)}: give True or False")
        real_number(self.iou_cap, "iou_cap"), real_number(self.tolerance_px, "tolerance_px")
        if self.ignore_difficult and not self.best_box_only:
            raise ArgumentError("ignore_difficult needs best_box_only")
        if not 0 < self.iou_cap <= 1:
            raise ArgumentError(f"iou_cap is {self.iou_cap}: give an IoU above 0 and at most 1")
        if not 0 <= self.tolerance_px < math.inf:
            raise ArgumentError(f"tolerance_px is {self.tolerance_px}: give pixels, 0 or more")


DEVKIT = Rules(name="ilsvrc-devkit", version="2014")
"""The ILSVRC 2014/2015 development kit (eval_detection.m, VOCap.m); the default."""

STRICT = Rules(name="ilsvrc-strict", version="1", strict=True)
"""The devkit's rules, but the IoU must exceed the threshold, as in the LPIRC paper's words."""

REFEREE_2015 = Rules(name="lpirc-referee", version="2015", strict=True, missing_as_zero=True)
"""The rules of the 2015-2019 referee: strict, and the mean over all listed classes."""

FIXED_HALF = Rules(name="ilsvrc-fixed-0.5", version="1", tolerance_px=0.0)
"""The devkit's rules, but the IoU must reach 0.5 for small boxes too."""

VOC = Rules(
    name="pascal-voc",
    version="2010",
    tolerance_px=0.0,
    best_box_only=True,
    ignore_difficult=True,
)
"""PASCAL VOC from 2010 on (VOCevaldet.m, VOCap.m of the VOC development kit)."""

RULE_SETS = {
    "devkit": DEVKIT,
    "strict": STRICT,
    "referee-2015": REFEREE_2015,
    "fixed-0.5": FIXED_HALF,
    "voc": VOC,
}
"""The rule sets by the names that a user gives."""


def rules_of(rules: object) -> Rules:
    """Return rules by their name in `RULE_SETS`, or as they are.

    Raises ArgumentError for the name of none, and for anything else that is no `Rules`.
    """
    if isinstance(rules, str) and rules in RULE_SETS:
        return RULE_SETS[rules]
    if not isinstance(rules, Rules):
        raise ArgumentError(
            f"rules are {told(rules)}, which are no Rules: give the name of a set, one of"
            f" {', '.join(RULE_SETS)}, or Rules of your own"
        )
    return rules
