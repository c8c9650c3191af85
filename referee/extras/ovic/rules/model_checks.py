# SPDX-License-Identifier: Apache-2.0
"""Which of OVIC's rules a TensorFlow Lite model breaks by its input, its outputs and their values.

Source: rules of the On-device Visual Intelligence Challenge, April 2020, sections 1.4, 1.5 and 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.extras.ovic.rules.detections import (
    FARTHEST_SIDES,
    LONGEST_SIDES,
    beyond,
    distance,
    said,
)
from referee.extras.ovic.rules.model_rules import (
    COCO_CLASSES,
    MOST_PIXELS,
    Failure,
    ModelRules,
    TensorFacts,
)

Output = NDArray[Any]

_SHOWN = 8


def signature_failures(
    rules: ModelRules, inputs: Sequence[TensorFacts], outputs: Sequence[TensorFacts]
) -> list[Failure]:
    """Return which rules the inputs and outputs break by number, shape or type."""
    return [*_input_failures(inputs), *_output_failures(rules, outputs)]


def value_failures(rules: ModelRules, outputs: Sequence[Output]) -> list[Failure]:
    """Return which rules the values of one run's outputs break; their shapes must be right.

    What stands behind a detector's count is no value of its.
    """
    values = judged(rules, outputs)
    not_finite = sum(int((~np.isfinite(output.astype(np.float64))).sum()) for output in values)
    if not_finite:
        total = sum(output.size for output in values)
        return [
            Failure("not_a_number", "finite outputs", f"{not_finite} of {total} values not finite")
        ]
    if rules.task == "detection":
        return list(_detection_failures(rules, *values))
    return []


def repeat_failures(first: Sequence[Output], again: Sequence[Output]) -> list[Failure]:
    """Return a failure if two runs on the same image gave different outputs, NaN equal to NaN."""
    different = sum(_different(one, other) for one, other in zip(first, again, strict=True))
    if not different:
        return []
    return [
        Failure(
            "deterministic",
            "the same outputs for the same image",
            f"{different} values that differ from run to run",
        )
    ]


def judged(rules: ModelRules, outputs: Sequence[Output]) -> list[Output]:
    """Return the outputs of a run without what a detector's count does not cover."""
    return said(outputs) if rules.task == "detection" else list(outputs)


def _different(first: Output, second: Output) -> int:
    """Count the values that differ; with another number of detections all of them do."""
    if first.shape != second.shape:
        return max(first.size, second.size)
    return int((~_same(first, second)).sum())


def _same(first: Output, second: Output) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (first == second) | ((first != first) & (second != second))
    return same


def _input_failures(inputs: Sequence[TensorFacts]) -> Iterator[Failure]:
    if len(inputs) != 1:
        yield Failure("input_number", "1 input", f"{len(inputs)} inputs")
        return
    shape = inputs[0].shape
    fits = (
        len(shape) == 4
        and (shape[0], shape[3]) == (1, 3)
        and all(1 <= side <= MOST_PIXELS for side in shape[1:3])
    )
    if not fits:
        expected = f"[1, height, width, 3], height and width from 1 to {MOST_PIXELS}"
        yield Failure("input_shape", expected, _shape(shape))
    if inputs[0].dtype != "uint8":
        yield Failure("input_type", "uint8, RGB from 0 to 255", inputs[0].dtype)


def _output_failures(rules: ModelRules, outputs: Sequence[TensorFacts]) -> Iterator[Failure]:
    expected = output_shapes(rules, rules.boxes)
    if len(outputs) != len(expected):
        noun = "output" if len(expected) == 1 else "outputs"
        yield Failure("output_number", f"{len(expected)} {noun}", f"{len(outputs)}")
        return
    shapes = [output.shape for output in outputs]
    if rules.task == "detection" and shapes[3] == ():
        shapes[3] = (1,)  # The rules call the count a scalar; TensorFlow's own tools write [1].
    if shapes != expected:
        yield _shape_failure(rules, shapes, expected)
    types = {"float32"} if rules.task == "detection" else {"float32", "uint8"}
    dtypes = [output.dtype for output in outputs]
    if not types.issuperset(dtypes):
        yield Failure("output_type", " or ".join(sorted(types)), _listed(dtypes))


def output_shapes(rules: ModelRules, boxes: int) -> list[tuple[int, ...]]:
    """Return the shapes of the outputs; of a detector with this number of boxes."""
    if rules.task == "classification":
        return [(1, rules.classes)]
    return [(1, boxes, 4), (1, boxes), (1, boxes), (1,)]


def _shape_failure(
    rules: ModelRules, shapes: list[tuple[int, ...]], expected: list[tuple[int, ...]]
) -> Failure:
    """Name the one number that is wrong, where it is one number; else show all the shapes."""
    if rules.task == "detection":
        boxes = shapes[0][1] if len(shapes[0]) == 3 else 0
        if shapes == output_shapes(rules, boxes):
            return Failure("number_of_boxes", f"{rules.boxes} boxes", f"{boxes} boxes")
    elif len(shapes[0]) == 2 and shapes[0][0] == 1 and abs(shapes[0][1] - rules.classes) == 1:
        first = "the background first" if rules.background else "no background"
        expected_text = f"{rules.classes} classes, {first}"
        return Failure("background_class", expected_text, f"{shapes[0][1]} classes")
    return Failure("output_shape", _shapes(expected), _shapes(shapes))


def _detection_failures(
    rules: ModelRules, boxes: Output, classes: Output, scores: Output, count: Output
) -> Iterator[Failure]:
    if float(count.reshape(-1)[0]) != rules.boxes:
        yield Failure("count", f"{rules.boxes} detections", f"{count.reshape(-1)[0]:g}")
    inverted = (boxes[:, :2] > boxes[:, 2:]).any(axis=1)
    if inverted.any():
        yield Failure(
            "box_order",
            "start_y <= end_y and start_x <= end_x in each box",
            f"{int(inverted.sum())} of {len(boxes)} boxes inverted, such as"
            f" {_numbers(boxes[inverted][0])}",
        )
    yield from _range_failures(rules, boxes)
    odd = (classes != np.floor(classes)) | (classes < 0) | (classes >= COCO_CLASSES)
    if odd.any():
        yield Failure(
            "class_index",
            f"whole class indices from 0 to {COCO_CLASSES - 1}",
            _numbers(classes[odd][:_SHOWN]),
        )
    improbable = (scores < 0) | (scores > 1)
    if improbable.any():
        yield Failure("score_range", "scores from 0 to 1", _numbers(scores[improbable][:_SHOWN]))


def _range_failures(rules: ModelRules, boxes: Output) -> Iterator[Failure]:
    """Yield a failure for boxes that are none of the image, or reach out too far."""
    reach, away = beyond(boxes), distance(boxes)
    expected = "corners as shares of the image, from 0 to 1"
    if rules.overhang is None:
        outside = (away > FARTHEST_SIDES) | (reach > LONGEST_SIDES) | (away > 0).all()
        expected += "; what reaches out is cut off"
    else:
        outside = reach > rules.overhang
        expected += f" and at most {rules.overhang:g} beyond" if rules.overhang else ""
    if outside.any():
        yield Failure(
            "box_range",
            expected,
            f"{int(outside.sum())} of {len(boxes)} boxes outside, such as"
            f" {_numbers(boxes[outside][0])}",
        )


def _shape(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape[:_SHOWN]))}{', …' if len(shape) > _SHOWN else ''}]"


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(map(_shape, shapes))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _numbers(values: Output) -> str:
    return ", ".join(f"{value:g}" for value in values.tolist())
