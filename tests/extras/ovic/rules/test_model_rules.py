# SPDX-License-Identifier: Apache-2.0
"""Each rule for a model's input, outputs and values is judged by facts alone."""

from __future__ import annotations

import numpy as np
import pytest

from referee.extras.ovic.rules.model_checks import (
    repeat_failures,
    signature_failures,
    value_failures,
)
from referee.extras.ovic.rules.model_rules import ModelRules, TensorFacts

DETECTION, CLASSIFICATION = ModelRules("detection"), ModelRules("classification")
IMAGE = [TensorFacts((1, 300, 300, 3), "uint8")]
SCORES = [TensorFacts((1, 1001), "float32")]


def of_detector(boxes: int = 100, count: tuple[int, ...] = (1,), dtype: str = "float32"):
    """Return the facts of a detector's outputs."""
    shapes = [(1, boxes, 4), (1, boxes), (1, boxes), count]
    return [TensorFacts(shape, dtype) for shape in shapes]


def good_outputs() -> list[np.ndarray]:
    """Return outputs of a detector that break no rule."""
    boxes = np.tile(np.array([0.1, 0.2, 0.3, 0.4], np.float32), (1, 100, 1))
    classes, scores = np.zeros((1, 100), np.float32), np.full((1, 100), 0.5, np.float32)
    return [boxes, classes, scores, np.array([100], np.float32)]


@pytest.mark.parametrize(
    ("rules", "outputs"),
    [
        (DETECTION, of_detector()),
        (DETECTION, of_detector(count=())),
        (ModelRules("detection", boxes=10), of_detector(10)),
        (CLASSIFICATION, SCORES),
        (CLASSIFICATION, [TensorFacts((1, 1001), "uint8")]),
        (ModelRules("classification", background=False), [TensorFacts((1, 1000), "uint8")]),
    ],
)
def test_models_as_the_rules_want_them_pass(rules, outputs):
    """The official forms pass, and those that an organiser relaxed."""
    assert [] == signature_failures(rules, IMAGE, outputs)


@pytest.mark.parametrize(
    ("rules", "inputs", "outputs", "rule", "found"),
    [
        (CLASSIFICATION, [], SCORES, "input_number", "0 inputs"),
        (CLASSIFICATION, IMAGE * 2, SCORES, "input_number", "2 inputs"),
        (DETECTION, IMAGE, of_detector(10), "number_of_boxes", "10 boxes"),
        (DETECTION, IMAGE, of_detector()[:3], "output_number", "3"),
        (
            DETECTION,
            IMAGE,
            of_detector()[::-1],
            "output_shape",
            "[1], [1, 100], [1, 100], [1, 100, 4]",
        ),
        (DETECTION, IMAGE, of_detector(dtype="uint8"), "output_type", "uint8"),
        (CLASSIFICATION, IMAGE, of_detector(), "output_number", "4"),
        (
            CLASSIFICATION,
            IMAGE,
            [TensorFacts((1, 1000), "uint8")],
            "background_class",
            "1000 classes",
        ),
        (CLASSIFICATION, IMAGE, [TensorFacts((1, 90), "uint8")], "output_shape", "[1, 90]"),
        (CLASSIFICATION, IMAGE, [TensorFacts((1001,), "uint8")], "output_shape", "[1001]"),
        (CLASSIFICATION, IMAGE, [TensorFacts((1, 1001), "int8")], "output_type", "int8"),
    ],
)
def test_a_wrong_signature_breaks_one_rule(rules, inputs, outputs, rule, found):
    """A wrong number, shape or type breaks one rule, and the sentence has what was found."""
    (failure,) = signature_failures(rules, inputs, outputs)
    assert (rule, found) == (failure.rule, failure.found)
    assert failure.expected in str(failure) and failure.found in str(failure)


@pytest.mark.parametrize(
    ("shape", "fits"),
    [
        ((1, 1, 1, 3), True),
        ((1, 1000, 1000, 3), True),
        ((1, 1001, 10, 3), False),
        ((1, 10, 1001, 3), False),
        ((1, 0, 10, 3), False),
        ((1, -1, 10, 3), False),
        ((2, 10, 10, 3), False),
        ((1, 10, 10, 1), False),
        ((1, 3, 10, 10), False),
        ((10, 10, 3), False),
        ((), False),
    ],
)
def test_the_edges_of_the_input(shape, fits):
    """Height and width are 1 to 1000, for one image of three colours in the last place."""
    failures = signature_failures(CLASSIFICATION, [TensorFacts(shape, "uint8")], SCORES)
    assert ([] if fits else ["input_shape"]) == [it.rule for it in failures]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16"])
def test_an_input_has_bytes(dtype):
    """The input type is always uint8."""
    (failure,) = signature_failures(DETECTION, [TensorFacts((1, 9, 9, 3), dtype)], of_detector())
    assert ("input_type", dtype) == (failure.rule, failure.found)


@pytest.mark.parametrize(
    ("output", "place", "value", "rule"),
    [
        (0, (0, 3), [0.5, 0.2, 0.4, 0.4], "box_order"),
        (0, (0, 3), [0.1, 0.5, 0.4, 0.4], "box_order"),
        (0, (0, 3), [30, 40, 120, 160], "box_range"),
        (0, (0, 3), [0, 0, 300, 300], "box_range"),
        (0, (0, 3), [-2, 0.2, -1, 0.4], "box_range"),
        (0, (0, 3), [0.1, 1.6, 0.4, 1.7], "box_range"),
        (0, (0, slice(None)), [1.1, 0.2, 1.2, 0.4], "box_range"),
        (0, (0, 3, 1), np.nan, "not_a_number"),
        (1, (0, 7), -1, "class_index"),
        (1, (0, 7), 90, "class_index"),
        (1, (0, 7), 1.5, "class_index"),
        (1, (0, 7), np.inf, "not_a_number"),
        (2, (0, 7), 1.01, "score_range"),
        (2, (0, 7), -0.01, "score_range"),
        (3, 0, 99, "count"),
        (3, 0, np.nan, "not_a_number"),
    ],
)
def test_one_wrong_value_of_a_detector_breaks_one_rule(output, place, value, rule):
    """Each value that a rule forbids breaks that rule alone."""
    outputs = good_outputs()
    outputs[output][place] = value
    assert [rule] == [failure.rule for failure in value_failures(DETECTION, outputs)]


@pytest.mark.parametrize(
    ("output", "place", "value"),
    [
        (0, (0, 3), [0, 0, 1, 1]),
        (0, (0, 3), [0.5, 0.5, 0.5, 0.5]),
        (0, (0, 3), [-0.45, 0, 1.45, 1]),
        (0, (0, 3), [-1.5, -1.5, 2.5, 2.5]),
        (0, (0, 3), [1.01, 0, 1.1, 1]),
        (1, (0, 7), 89),
        (2, (0, 7), 1),
        (2, (0, 7), 0),
    ],
)
def test_values_at_the_edges_pass(output, place, value):
    """Whole images, boxes without area, overhangs, and both ends of a range are allowed."""
    outputs = good_outputs()
    outputs[output][place] = value
    assert [] == value_failures(DETECTION, outputs)


@pytest.mark.parametrize("count", [0, 1, 40, 99])
def test_what_stands_behind_the_count_is_not_judged(count):
    """The post-processing leaves there what the memory held: only the count is told."""
    outputs = good_outputs()
    outputs[3][0] = count
    outputs[0][0, count:] = [np.nan, 9e9, -9e9, np.inf]
    outputs[1][0, count:], outputs[2][0, count:] = 1e30, -7
    (failure,) = value_failures(DETECTION, outputs)
    assert ("count", f"{count}") == (failure.rule, failure.found)


def test_an_organiser_may_ask_for_boxes_inside_the_image():
    """With an overhang of 0 the rules' own text holds."""
    outputs = good_outputs()
    outputs[0][0, 0, 0] = -0.001
    (failure,) = value_failures(ModelRules("detection", overhang=0), outputs)
    assert ("box_range", "corners as shares of the image, from 0 to 1") == (
        failure.rule,
        failure.expected,
    )


def test_equal_images_give_equal_outputs():
    """A value that differs from run to run is counted; NaN is equal to NaN."""
    first, again = good_outputs(), good_outputs()
    first[2][0, 0] = again[2][0, 0] = np.nan
    assert [] == repeat_failures(first, again)
    again[2][0, 5] += 0.25
    (failure,) = repeat_failures(first, again)
    assert ("deterministic", "1 values that differ from run to run") == (
        failure.rule,
        failure.found,
    )
