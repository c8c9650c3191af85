# SPDX-License-Identifier: Apache-2.0
"""What a person may say of a model, where its file does not, and how known exporters do it."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple

FITS = ("letterbox", "corner", "stretch")
PIXELS = ("0-1", "0-255", "-1-1", "imagenet")
COLOURS = ("rgb", "bgr")
BOXES = ("xyxy", "yxyx", "cxcywh")
SCORES = ("plain", "sigmoid", "softmax")
HEADS = ("yolo5", "yolo8", "yolox")
PROVIDERS = ("cpu", "cuda", "tensorrt", "coreml", "nnapi", "qnn")

OWN_SIZE = (0, 0)
"""The size of an input that takes each photograph in its own size."""


class ModelSettings(NamedTuple):
    """What is known of a model beside its shapes; None is not known.

    `fit` is how a photograph gets the input's size; `pixels` the range of the input's numbers;
    `boxes` the order of a box's numbers; `scores` what still has to be done to the scores; `head`
    the layout of a YOLO's rows.
    """

    size: Optional[Tuple[int, int]] = None
    fit: Optional[str] = None
    pixels: Optional[str] = None
    colours: Optional[str] = None
    boxes: Optional[str] = None
    scores: Optional[str] = None
    head: Optional[str] = None
    names: Optional[str] = None
    least_confidence: float = 0.001
    iou: float = 0.7
    most_boxes: int = 300
    threads: int = 0
    provider: str = "cpu"

    def or_else(self, known: ModelSettings) -> ModelSettings:
        """Return these settings, with those of another source where these are not known."""
        own = self._asdict()
        return self._replace(**{k: v for k, v in known._asdict().items() if own[k] is None})


LIKE: Dict[str, ModelSettings] = {
    "ultralytics": ModelSettings(fit="letterbox", pixels="0-1", colours="rgb"),
    "yolox": ModelSettings(fit="corner", pixels="0-255", colours="bgr", head="yolox"),
    "rtdetr": ModelSettings(
        fit="stretch", pixels="0-1", colours="rgb", boxes="cxcywh", scores="sigmoid"
    ),
    "rfdetr": ModelSettings(
        fit="stretch", pixels="imagenet", colours="rgb", boxes="cxcywh", scores="sigmoid"
    ),
    "detr": ModelSettings(
        fit="stretch", pixels="imagenet", colours="rgb", boxes="cxcywh", scores="softmax"
    ),
    "torchvision": ModelSettings(
        size=OWN_SIZE, fit="stretch", pixels="0-1", colours="rgb", boxes="xyxy"
    ),
    "tensorflow": ModelSettings(
        size=OWN_SIZE, fit="stretch", pixels="0-255", colours="rgb", boxes="yxyx"
    ),
}
"""What models of a family take and give, as their exporters write them."""


class Question(NamedTuple):
    """An option that tells what a file does not."""

    option: str
    answers: Tuple[str, ...]
    about: str


class Unclear(ValueError):
    """A model's file leaves questions, which options answer."""

    def __init__(self, questions: List[Question]) -> None:
        self.questions = questions
        asked = "; ".join(
            f"{one.option} {'|'.join(one.answers)} ({one.about})" for one in questions
        )
        short = (
            ""
            if all(one.option == "--names" for one in questions)
            else (f" For a known exporter --like {'|'.join(LIKE)} answers most of it.")
        )
        super().__init__(
            f"its file does not say all that a score needs. Give {asked}.{short} Look at the boxes "
            "with --check DIR before you log in"
        )
