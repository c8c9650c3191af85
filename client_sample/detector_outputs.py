# SPDX-License-Identifier: Apache-2.0
"""Which output of a detector is which: its boxes, classes and scores, and their number.

TFLite_Detection_PostProcess gives boxes, classes, scores and their number. Converters of TensorFlow
2 give them in other orders. Shapes tell the boxes and the number apart. Classes and scores have one
shape: classes are whole numbers, and scores lie between 0 and 1.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence, Tuple

Shape = Tuple[int, ...]

_ROUNDING = 0.01  # Scores of a quantized model may be rounded up by less than this.


class OutputOrder(NamedTuple):
    """The place of each output among a model's outputs."""

    boxes: int
    classes: int
    scores: int
    number: int


USUAL = OutputOrder(0, 1, 2, 3)
"""The order of TFLite_Detection_PostProcess."""


def possible_orders(shapes: Sequence[Shape]) -> List[OutputOrder]:
    """Return the orders that the outputs' shapes allow, the usual one first; none for others."""
    boxes = [place for place, shape in enumerate(shapes) if len(shape) == 3 and shape[2] == 4]
    if len(shapes) != 4 or len(boxes) != 1:
        return []
    rows = (1, shapes[boxes[0]][1])
    number = [place for place, shape in enumerate(shapes) if shape in ((), (1,))]
    if not number:  # Some write it as one row of one; with one box that is the form of all.
        number = [3] if rows == (1, 1) else [k for k, shape in enumerate(shapes) if shape == (1, 1)]
    columns = [k for k, shape in enumerate(shapes) if shape == rows and k not in number]
    if len(columns) != 2 or len(number) != 1 or shapes[boxes[0]][0] != 1:
        return []
    one, other = columns
    return [
        OutputOrder(boxes[0], one, other, number[0]),
        OutputOrder(boxes[0], other, one, number[0]),
    ]


def fits(order: OutputOrder, outputs: Sequence[Any]) -> bool:
    """Tell whether the values of one run are those of this order."""
    count = count_of(order, outputs)
    classes, scores = (outputs[place][0, :count] for place in (order.classes, order.scores))
    whole = bool(((classes == classes.round()) & (classes >= 0)).all())
    return whole and bool(((scores >= -_ROUNDING) & (scores <= 1 + _ROUNDING)).all())


def count_of(order: OutputOrder, outputs: Sequence[Any]) -> int:
    """Return how many rows of the outputs are detections: what is behind them is left over."""
    count = float(outputs[order.number].reshape(-1)[0])
    rows = int(outputs[order.boxes].shape[1])
    return int(min(max(count, 0.0), rows)) if count == count else 0


def ranges(order: OutputOrder, outputs: Sequence[Any]) -> str:
    """Return the least and the greatest value of the two outputs that look alike, for a person."""
    count = count_of(order, outputs)
    texts = []
    for place in sorted((order.classes, order.scores)):
        values = outputs[place][0, :count]
        texts.append(f"output {place + 1} has {values.min():.4g} to {values.max():.4g}")
    return ", ".join(texts)
