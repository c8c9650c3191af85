# SPDX-License-Identifier: Apache-2.0
"""Which family of heads a model's outputs are of, told by shapes, names and metadata.

What they do not tell is a question for a person: `Unclear` names the options. Nothing is guessed.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from client_sample.models.metadata import BOXED
from client_sample.models.settings import (
    BOXES,
    HEADS,
    SCORES,
    ModelSettings,
    Question,
    Unclear,
)

# The strides of YOLO's levels: of most, of those with a level for small or for large objects, and
# of the tiny ones of version 3 and 4.
STRIDES = ((8, 16, 32), (4, 8, 16, 32), (8, 16, 32, 64), (16, 32))
_ANCHORS = 3
# The smallest input that a detector is trained with has more places than this.
_FEWEST_PLACES = 20
# No transformer has more queries; more rows are those of a grid, and need suppression.
_MOST_QUERIES = 1000

# What exporters call the outputs of which each is one thing.
_BOXES = ("detection_boxes", "det_boxes", "pred_boxes", "boxes", "dets")
_SCORES = ("detection_scores", "det_scores", "pred_scores", "scores")
_CLASSES = ("detection_classes", "det_classes", "pred_classes", "labels", "classes")
_LOGITS = ("logits", "pred_logits", "labels")
_COUNT = ("num_detections", "num_dets", "num_predictions")


class Output(NamedTuple):
    """One output of a first run: its name and its array."""

    name: str
    values: Any


class Context(NamedTuple):
    """What is known beside the outputs.

    `size` is the input's width and height, `names` the number of class names, 0 if there are none.
    `original` tells that the model knows the photograph's size and gives boxes in its pixels.
    """

    size: Tuple[int, int]
    settings: ModelSettings
    names: int = 0
    task: str = ""
    exporter: str = ""
    original: bool = False


class Dense(NamedTuple):
    """A row for each place of YOLO's grids; suppression is to be done.

    `strides` are for rows that may be offsets from their place, otherwise empty.
    """

    output: int
    classes: int
    channels_first: bool
    objectness: bool
    strides: Tuple[int, ...] = ()


class Rows(NamedTuple):
    """Rows with box, score and class, suppression done; `first` columns come before the box."""

    output: int
    first: int
    boxes: str


class Listed(NamedTuple):
    """Boxes, classes and scores as outputs of their own; `scores` -1 is the boxes' fifth column."""

    boxes_at: int
    classes_at: int
    scores_at: int
    count_at: Optional[int]
    boxes: str


class Pairs(NamedTuple):
    """Boxes, and a score for each class of each: of DETR's queries, or of a dense head."""

    boxes_at: int
    scores_at: int
    boxes: str
    scores: str
    dense: bool


class Queries(NamedTuple):
    """RT-DETR's rows of Ultralytics: a box in fractions, and a score for each class."""

    output: int
    classes: int


def find_head(outputs: Sequence[Output], context: Context) -> Any:
    """Return the head of some outputs.

    Raises Unclear where an option must say more, and ValueError for outputs of no family.
    """
    if context.task and context.task not in BOXED:
        raise ValueError(f"its task is {context.task!r}, whose rows hold no upright boxes")
    found = _listed(outputs, context) or _pairs(outputs, context)
    if found is None:
        flat = [k for k, one in enumerate(outputs) if _is_table(one.values)]
        # YOLO's older exports add the raw maps, and those of masks their prototypes.
        if len(flat) == 1:
            found = _one(flat[0], outputs[flat[0]].values, context)
    if found is None:
        shapes = ", ".join(f"{one.name} {list(one.values.shape)}" for one in outputs)
        raise ValueError(
            f"its outputs are of no family that this client knows: {shapes}. It knows YOLO's rows, "
            "RT-DETR and DETR, and lists of boxes, classes and scores. Export the model again as "
            "one of them, or give your own --detector MODULE:FUNCTION"
        )
    return found


def places(size: Tuple[int, int], strides: Sequence[int]) -> int:
    """Return how many places the grids of these strides have."""
    return sum(math.ceil(size[0] / step) * math.ceil(size[1] / step) for step in strides)


def _is_table(values: Any) -> bool:
    return bool(values.ndim == 2 or (values.ndim == 3 and values.shape[0] == 1))


def _named(outputs: Sequence[Output], words: Sequence[str]) -> Optional[int]:
    """Return the output of the first of these names, without the scope that TensorFlow adds."""
    names = [one.name.split(":")[0].rpartition("/")[2].lower() for one in outputs]
    return next((names.index(word) for word in words if word in names), None)


def _ask(questions: List[Question]) -> None:
    if questions:
        raise Unclear(questions)


def _box_order(context: Context, known: Optional[str], questions: List[Question]) -> str:
    order = known or context.settings.boxes
    if order is None:
        questions.append(Question("--boxes", BOXES, "the order of a box's numbers"))
    return order or ""


def _listed(outputs: Sequence[Output], context: Context) -> Optional[Listed]:
    """Return the head of boxes, classes, scores and perhaps their number, or None."""
    boxes_at = _find_boxes(outputs, (4, 5))
    if boxes_at is None:
        return None
    boxes = outputs[boxes_at].values
    row = boxes.shape[:-1]
    # A batch of one may be left out, or be there for the boxes alone.
    columns = [
        k
        for k, one in enumerate(outputs)
        if k != boxes_at
        and one.values.size == math.prod(row)
        and one.values.ndim < 3
        and (one.values.shape[-1:] == row[-1:])
    ]
    with_scores = boxes.shape[-1] == 5
    count = _named(outputs, _COUNT)
    if count is None:
        ones = [k for k, one in enumerate(outputs) if k not in (boxes_at, *columns[:2])]
        count = next((k for k in ones if outputs[k].values.size == 1), None)
    columns = [k for k in columns if k != count]
    if with_scores:
        return Listed(boxes_at, columns[0], -1, None, "xyxy") if len(columns) == 1 else None
    told = _classes_and_scores(outputs, columns)
    if told is None:
        return None
    name = outputs[boxes_at].name.lower()
    known = "yxyx" if "detection_boxes" in name else None
    known = "xyxy" if "det_boxes" in name or context.original else known
    questions: List[Question] = []
    order = _box_order(context, known, questions)
    _ask(questions)
    return Listed(boxes_at, *told, count, order)


def _find_boxes(outputs: Sequence[Output], widths: Sequence[int]) -> Optional[int]:
    """Return the output that has rows of boxes, by its name where several could be it."""
    fitting = [
        k
        for k, one in enumerate(outputs)
        if _is_table(one.values) and one.values.shape[-1] in widths
    ]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    return next((k for k in fitting if k == _named([*outputs], _BOXES)), None)


def _classes_and_scores(
    outputs: Sequence[Output], columns: Sequence[int]
) -> Optional[Tuple[int, int]]:
    """Return the places of classes and scores: by name, by type, or by the values of a run."""
    classes, scores = _named(outputs, _CLASSES), _named(outputs, _SCORES)
    if classes in columns and scores in columns and classes is not None and scores is not None:
        return classes, scores
    if len(columns) != 2:
        return None
    whole = [k for k in columns if outputs[k].values.dtype.kind in "iu"]
    if not whole:
        whole = [k for k in columns if is_whole(outputs[k].values)]
    if len(whole) > 1:  # Scores may be all 0 or 1.
        whole = [k for k in whole if outputs[k].values.max(initial=0) > 1]
    if len(whole) != 1:
        raise ValueError(
            "it does not tell its classes from its scores: "
            f"{outputs[columns[0]].name} and {outputs[columns[1]].name} are of one type and shape. "
            "Name them 'classes' and 'scores' in the export"
        )
    other = columns[1] if columns[0] == whole[0] else columns[0]
    return whole[0], other


def is_whole(values: Any) -> bool:
    """Tell whether numbers may be class indices."""
    return bool((values == values.round()).all() and (values >= 0).all())


def _pairs(outputs: Sequence[Output], context: Context) -> Optional[Pairs]:
    """Return the head of boxes and a score for each class, or None."""
    tables = [k for k, one in enumerate(outputs) if _is_table(one.values)]
    boxes_at = _find_boxes(outputs, (4,))
    scores_at = _named(outputs, _LOGITS)
    if scores_at is None and len(tables) == 2:
        scores_at = next(k for k in tables if k != boxes_at)
    if boxes_at is None or scores_at not in tables or scores_at == boxes_at:
        return None
    boxes, scores = outputs[boxes_at].values, outputs[scores_at].values
    if boxes.shape[:-1] != scores.shape[:-1]:
        return None
    rows = boxes.shape[-2]
    dense = rows > _MOST_QUERIES or any(rows in _counts(context.size, one) for one in STRIDES)
    name = outputs[boxes_at].name.lower()
    questions: List[Question] = []
    known = "cxcywh" if name in ("pred_boxes", "dets") else None
    order = _box_order(context, known, questions)
    how = context.settings.scores
    if how is None:
        questions.append(Question("--scores", SCORES, "what its scores still need"))
    _ask(questions)
    return Pairs(boxes_at, scores_at, order, how or "", dense)


def _counts(size: Tuple[int, int], strides: Sequence[int]) -> Tuple[int, int]:
    count = places(size, strides)
    return count, _ANCHORS * count


def _one(place: int, values: Any, context: Context) -> Any:
    """Return the head of a single table, or None."""
    table = values.reshape(values.shape[-2:])
    dense = _dense(place, table.shape, context)
    if dense is not None:
        return dense
    width = table.shape[1]
    names = context.names
    if names and width == 4 + names and context.settings.scores is not None:
        return Queries(place, names)
    if width == 6:
        return Rows(place, 0, context.settings.boxes or "xyxy")
    if width == 7:
        questions: List[Question] = []
        order = _box_order(context, None, questions)
        _ask(questions)
        return Rows(place, 1, order)
    if context.task in ("segment", "pose") and width > 6:  # Masks and keypoints stand behind.
        return Rows(place, 0, context.settings.boxes or "xyxy")
    return None


def _dense(place: int, shape: Tuple[int, ...], context: Context) -> Optional[Dense]:
    for strides in STRIDES:
        for rows in _counts(context.size, strides):
            for axis in (1, 0):
                if shape[axis] == rows >= _FEWEST_PLACES and shape[1 - axis] > 4:
                    anchored = rows != places(context.size, strides)
                    return _layout(place, axis == 1, shape[1 - axis], anchored, strides, context)
    return None


def _layout(
    place: int,
    channels_first: bool,
    channels: int,
    anchored: bool,
    strides: Tuple[int, ...],
    context: Context,
) -> Dense:
    """Return the layout of YOLO's rows.

    Version 5 and 7 have three anchors at each place, and a score of the object before those of its
    classes; 8 to 13 have neither. Without anchors, rows with such a score are those of YOLOX and of
    version 6; their values tell later whether boxes are offsets.
    """
    head = context.settings.head
    less = {"yolo5": 5, "yolo8": 4, "yolox": 5}
    if head is None:
        if anchored:
            head = "yolo5"
        elif channels_first or channels - 4 == context.names:
            head = "yolo8"
        elif channels - 5 == context.names:
            head = "yolox"
        else:
            raise Unclear([Question("--head", HEADS, "the layout of its rows")])
    classes = channels - less[head]
    more = classes - context.names if context.names else 0
    if classes < 1 or more < 0 or (more and context.task not in ("segment", "pose")):
        raise ValueError(
            f"its rows have {channels} numbers, which with {head} are {classes} classes, and there "
            f"are {context.names} names. Give the right --names or --head"
        )
    grid = strides if head != "yolo8" and not anchored else ()
    return Dense(place, classes - more, channels_first, head != "yolo8", grid)


def class_count(head: Any, outputs: Sequence[Output]) -> int:
    """Return how many classes a head has, 0 if its outputs do not tell."""
    if isinstance(head, (Dense, Queries)):
        return head.classes
    if isinstance(head, Pairs):
        return int(outputs[head.scores_at].values.shape[-1]) - (head.scores == "softmax")
    return 0


WORDS: Dict[type, str] = {
    Dense: "YOLO's rows, suppression done here",
    Rows: "rows of box, score and class, suppression done in the model",
    Listed: "lists of boxes, classes and scores",
    Pairs: "boxes, and scores of each class",
    Queries: "RT-DETR's rows",
}
"""Each family in words, for a person."""
