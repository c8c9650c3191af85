# SPDX-License-Identifier: Apache-2.0
"""What OVIC asks of a TensorFlow Lite model, in numbers; `model_checks` compares a model with it.

Source: rules of the On-device Visual Intelligence Challenge, April 2020, sections 1.4, 1.5 and 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_PIXELS = 1000
"""The largest height and width of an input; the smallest is 1."""

CLASSES_WITH_BACKGROUND = 1001
"""Classes of an ImageNet output with the background first."""

COCO_CLASSES = 90
"""Class indices of a detector are 0 to 89: COCO's category ids 1 to 90, less 1."""

UNCOUNTED_RULES = frozenset({"box_range"})
"""A model that breaks these rules alone does not cost its team an entry of the day.

Its boxes come from an operator that the rules recommend, and no page of theirs bounds them.
"""

CENTRAL_SHARE = {"detection": 1.0, "classification": 0.875}
"""The share of each side that is kept around the centre, by task."""


@dataclass(frozen=True)
class ModelRules:
    """The rules of one task; an organiser may relax three of them.

    `boxes` is the number of detections, and `background` asks a classifier for 1001 classes rather
    than 1000. `overhang` is how far a box may reach beyond the image, as a share of its side; None
    sets no bound. The rules say 0. But TFLite_Detection_PostProcess, which they recommend, does not
    clip, and boxes of real detectors reach out by 0.45. So the judge clips them.
    """

    task: str
    boxes: int = 100
    background: bool = True
    overhang: float | None = None

    @property
    def classes(self) -> int:
        """Return the number of classes of a classifier's output."""
        return CLASSES_WITH_BACKGROUND if self.background else CLASSES_WITH_BACKGROUND - 1


@dataclass(frozen=True)
class TensorFacts:
    """The shape and the element type of an input or output, as the runtime tells them."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Failure:
    """A rule that a model breaks: what the rule expects, and what was found."""

    rule: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.rule}: expected {self.expected}; found {self.found}."
