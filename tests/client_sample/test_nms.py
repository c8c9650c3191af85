# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression follows Core ML's specification."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sample.nms import NonMaximumSuppression, read_mlmodel


def slow_rows(confidence, coordinates, iou_threshold, confidence_threshold, per_class):
    """Follow the specification's five steps box by box and return the rows that are kept."""
    best = [max(row) for row in confidence]
    label = [list(row).index(max(row)) for row in confidence]
    rest = [row for row in range(len(best)) if not best[row] < confidence_threshold]
    rest.sort(key=lambda row: (-best[row], row))
    kept = []
    while rest:
        top, *rest = rest
        kept.append(top)
        rest = [
            row
            for row in rest
            if (per_class and label[row] != label[top])
            or not slow_iou(coordinates[top], coordinates[row]) > iou_threshold
        ]
    return kept


def slow_iou(one, other):
    """Return the intersection over union of two boxes, 0 where there is no area."""
    ends = []
    for x, y, width, height in (one, other):
        ends.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    (left, top, right, bottom), (left2, top2, right2, bottom2) = ends
    wide = max(0.0, min(right, right2) - max(left, left2))
    tall = max(0.0, min(bottom, bottom2) - max(top, top2))
    areas = (right - left) * (bottom - top) + (right2 - left2) * (bottom2 - top2)
    return wide * tall / (areas - wide * tall) if areas > wide * tall else 0.0


# The few different values make equal confidences and exact thresholds common.
coarse = st.integers(0, 8).map(lambda number: number / 8)


@st.composite
def boxes(draw, most=40):
    """Draw confidences N x C and coordinates N x 4."""
    n, classes = draw(st.integers(0, most)), draw(st.integers(1, 4))
    confidence = draw(st.lists(coarse, min_size=n * classes, max_size=n * classes))
    coordinates = draw(st.lists(coarse, min_size=n * 4, max_size=n * 4))
    return (
        np.array(confidence, dtype=np.float64).reshape(n, classes),
        np.array(coordinates, dtype=np.float64).reshape(n, 4),
    )


@pytest.mark.slow
@given(boxes(), coarse, coarse, st.booleans())
def test_it_keeps_the_rows_that_the_five_steps_keep(data, iou, least, per_class):
    """The vectorised form keeps the rows that the specification's five steps keep, with ties."""
    suppress = NonMaximumSuppression(iou, least, per_class=per_class)
    assert slow_rows(*data, iou, least, per_class) == suppress(*data).rows.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("size", [0.02, 0.3])
def test_it_agrees_on_more_boxes_than_a_block_holds(per_class, size):
    """Hundreds of boxes give the same rows, also when boxes suppress across blocks."""
    chance = np.random.default_rng(3)
    confidence = chance.random((500, 3)).round(2)
    coordinates = np.hstack([chance.random((500, 2)), chance.uniform(0.5, 2, (500, 2)) * size])
    rows = NonMaximumSuppression(0.45, 0.3, per_class=per_class)(confidence, coordinates).rows
    assert slow_rows(confidence, coordinates, 0.45, 0.3, per_class) == rows.tolist()
    assert 64 < len(rows) < 500 or size > 0.02


@pytest.mark.slow
@given(boxes(), coarse, coarse, st.booleans(), st.integers(0, 5), st.integers(0, 40))
def test_outputs_are_the_kept_rows_bounded_and_padded(data, iou, least, per_class, low, more):
    """The first rows are the best kept ones, unchanged, and the others are zeros."""
    confidence, coordinates = data
    plain = NonMaximumSuppression(iou, least, per_class=per_class)(*data)
    bounded = NonMaximumSuppression(
        iou, least, per_class=per_class, min_boxes=low, max_boxes=low + more
    )(*data)
    count = min(low + more, len(plain.rows))
    assert plain.rows[:count].tolist() == bounded.rows.tolist()
    assert count == len(bounded.labels)
    for source, output in (
        (confidence, bounded.confidence),
        (coordinates, bounded.coordinates),
    ):
        assert max(low, count) == len(output)
        assert np.array_equal(source[bounded.rows], output[:count])
        assert not output[count:].any()
    assert sorted(-confidence[bounded.rows].max(axis=1, initial=0)) == [
        -value for value in confidence[bounded.rows].max(axis=1, initial=0)
    ]


def test_the_threshold_is_the_overlap_that_is_still_allowed():
    """A box is suppressed if its IoU is above the threshold, and kept if it is equal."""
    confidence = [[0.9], [0.8]]
    halves = [[0.5, 0.5, 1, 1], [0.5, 0.25, 1, 0.5]]
    assert [0, 1] == NonMaximumSuppression(0.5, 0)(confidence, halves).rows.tolist()
    assert [0] == NonMaximumSuppression(0.4999, 0)(confidence, halves).rows.tolist()


def test_an_iou_threshold_of_one_suppresses_nothing():
    """Identical boxes stay at an IoU threshold of 1.0, as the specification says."""
    kept = NonMaximumSuppression(1.0, 0)([[0.9], [0.9]], [[0.1, 0.1, 0.3, 0.7]] * 2)
    assert [0, 1] == kept.rows.tolist()


def test_an_iou_threshold_of_zero_suppresses_what_overlaps_at_all():
    """At an IoU threshold of 0 boxes that only touch stay."""
    touching = [[0.5, 0.5, 1, 1], [1.5, 0.5, 1, 1], [1.4, 0.5, 1, 1]]
    kept = NonMaximumSuppression(0.0, 0)([[0.9], [0.8], [0.7]], touching)
    assert [0, 1] == kept.rows.tolist()


def test_boxes_at_the_confidence_threshold_stay():
    """Only boxes below the confidence threshold are removed."""
    kept = NonMaximumSuppression(1.0, 0.5)([[0.5], [0.4999]], np.zeros((2, 4)))
    assert [0] == kept.rows.tolist()


def test_thresholds_can_be_overridden_at_run_time():
    """A call's own values replace the parameters, zero included."""
    data = [[0.9], [0.4], [0.2]], [[0, 0, 2, 2], [0, 0, 2, 1], [9, 9, 1, 1]]
    suppress = NonMaximumSuppression(0.4, 0.3)
    assert [0] == suppress(*data).rows.tolist()
    assert [0, 1] == suppress(*data, iou_threshold=0.6).rows.tolist()
    assert [0, 2] == suppress(*data, confidence_threshold=0.0).rows.tolist()
    both = suppress(*data, iou_threshold=1.0, confidence_threshold=0)
    assert [0, 1, 2] == both.rows.tolist()


def test_per_class_lets_boxes_of_other_labels_stand():
    """Per class a box suppresses only its own label's boxes; otherwise it suppresses all."""
    confidence = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]
    same = [[0.5, 0.5, 1, 1]] * 3
    assert [0] == NonMaximumSuppression(0.5, 0)(confidence, same).rows.tolist()
    kept = NonMaximumSuppression(0.5, 0, per_class=True)(confidence, same)
    assert [0, 1] == kept.rows.tolist()


@pytest.mark.parametrize("labels", [("cat", "dog"), (17, 18), ()])
def test_labels_are_strings_integers_or_indices(labels):
    """Each kept box has its class's label, or the index where the model has none."""
    suppress = NonMaximumSuppression(0.5, 0, class_labels=labels, min_boxes=3)
    kept = suppress([[0.1, 0.9], [0.8, 0.2]], [[0, 0, 1, 1], [5, 5, 1, 1]])
    expected = labels or (0, 1)
    assert (expected[1], expected[0]) == kept.labels


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_outputs_have_the_inputs_types(kind):
    """Outputs have the inputs' types, padding included, and whole rows of confidences."""
    suppress = NonMaximumSuppression(0.5, 0, min_boxes=2, max_boxes=2)
    kept = suppress(np.ones((1, 3), dtype=kind), np.ones((1, 4), dtype=kind))
    assert ((2, 3), kind) == (kept.confidence.shape, kept.confidence.dtype)
    assert ((2, 4), kind) == (kept.coordinates.shape, kept.coordinates.dtype)


def test_thresholds_are_compared_in_double_precision():
    """A float32 confidence just below a threshold counts as below it."""
    confidence = np.array([[0.7], [0.3]], dtype=np.float32)
    assert [0, 1] == NonMaximumSuppression(1, 0.3)(confidence, np.zeros((2, 4))).rows.tolist()
    assert [] == NonMaximumSuppression(1, 0.7)(confidence, np.zeros((2, 4))).rows.tolist()


def test_no_boxes_are_padded_too():
    """N may be 0 and gives zeros up to the lower bound."""
    kept = NonMaximumSuppression(0.5, 0.2, min_boxes=2)(np.empty((0, 3)), np.empty((0, 4)))
    assert (2, 3) == kept.confidence.shape
    assert 0 == len(kept.rows) == len(kept.labels)


def test_coordinates_of_any_size_give_no_warning():
    """Boxes as large as a double can hold give no warning."""
    huge = np.array([[0, 0, 1e308, 1e308], [1e308, 0, 1e308, 1e308], [0, 0, 1e-320, 0]])
    kept = NonMaximumSuppression(0.5, 0)([[0.9], [0.8], [0.7]], huge)
    assert 0 == kept.rows[0]


def test_inputs_and_outputs_go_by_the_names_of_the_model():
    """`predict` takes and returns dictionaries as a Core ML model does."""
    suppress = NonMaximumSuppression(
        0.5, 0, confidence_input="c", coordinates_input="b", iou_threshold_input="t"
    )
    same = [[0.5, 0.5, 1, 1]] * 2
    features = {"c": [[0.9], [0.8]], "b": same}
    assert (1, 1) == suppress.predict(features)["confidence"].shape
    outputs = suppress.predict({**features, "t": 1.0})
    assert {"confidence": (2, 1), "coordinates": (2, 4)} == {
        name: output.shape for name, output in outputs.items()
    }


@pytest.mark.parametrize(
    "features", [{}, {"raw_confidence": [[1]]}, {"other": 1}, {"": 0.5}, {"iouThreshold": 0.1}]
)
def test_a_threshold_without_a_name_cannot_be_overridden(features):
    """Missing and unknown inputs are refused by name."""
    suppress = NonMaximumSuppression(0.5, 0, iou_threshold_input="")
    good = {"raw_confidence": [[1.0]], "raw_coordinates": [[0.0, 0, 1, 1]]}
    given_features = features if not features or "raw_confidence" in features else good | features
    with pytest.raises(ValueError, match="the inputs must be raw_confidence, raw_coordinates"):
        suppress.predict(given_features)


@pytest.mark.parametrize(
    ("confidence", "coordinates", "words"),
    [
        ([0.5], [[0, 0, 1, 1]], "N x C"),
        ([[0.5]], [[0, 0, 1]], "N x 4"),
        ([[0.5], [0.5]], [[0, 0, 1, 1]], "N x 4"),
        (np.empty((1, 0)), [[0, 0, 1, 1]], "0 classes"),
        ([[-0.1]], [[0, 0, 1, 1]], "negative"),
        ([[float("nan")]], [[0, 0, 1, 1]], "finite"),
        ([[0.5]], [[0, 0, float("inf"), 1]], "finite"),
        ([[0.5]], [[0, 0, -1, 1]], "negative"),
    ],
)
def test_what_is_no_box_is_refused(confidence, coordinates, words):
    """Shapes and values that the specification excludes are errors."""
    with pytest.raises(ValueError, match=words):
        NonMaximumSuppression(0.5, 0)(confidence, coordinates)


@pytest.mark.parametrize(
    "parameters",
    [
        {"iou_threshold": -0.1},
        {"iou_threshold": 1.1},
        {"iou_threshold": float("nan")},
        {"confidence_threshold": -1},
        {"confidence_threshold": float("nan")},
        {"min_boxes": -1},
        {"min_boxes": 3, "max_boxes": 2},
    ],
)
def test_parameters_outside_their_range_are_refused(parameters):
    """Thresholds and bounds are checked when they are set and when they are overridden."""
    with pytest.raises(ValueError, match="must|lies"):
        NonMaximumSuppression(**{"iou_threshold": 0.5, "confidence_threshold": 0, **parameters})
    overrides = {name: value for name, value in parameters.items() if "threshold" in name}
    if overrides:
        with pytest.raises(ValueError, match="must"):
            NonMaximumSuppression(0.5, 0)([[0.5]], [[0, 0, 1, 1]], **overrides)


def test_labels_must_be_as_many_as_classes():
    """Two labels for three classes are an error."""
    suppress = NonMaximumSuppression(0.5, 0, class_labels=("a", "b"))
    with pytest.raises(ValueError, match="3 classes but 2 class labels"):
        suppress([[0.1, 0.2, 0.3]], [[0, 0, 1, 1]])


@pytest.fixture
def model():
    """Make the message of a suppression as coremltools writes it, with every field set."""
    pytest.importorskip("coremltools", reason="needs the extra [coreml]")
    from coremltools.proto import Model_pb2

    message = Model_pb2.Model(specificationVersion=3)
    spec = message.nonMaximumSuppression
    spec.pickTop.perClass = True
    spec.iouThreshold, spec.confidenceThreshold = 0.45, 0.25
    spec.stringClassLabels.vector.extend(["cat", "dog"])
    spec.confidenceInputFeatureName = "raw confidence"
    spec.coordinatesInputFeatureName = "raw coordinates"
    spec.iouThresholdInputFeatureName = "iou"
    spec.confidenceThresholdInputFeatureName = "least"
    spec.confidenceOutputFeatureName = "confidence"
    spec.coordinatesOutputFeatureName = "coordinates"
    for name in ("confidence", "coordinates"):
        message.description.output.add(name=name)
    return message


def write(message, path):
    """Write a model's message and return its path."""
    path.write_bytes(message.SerializeToString())
    return path


def set_range(message, output, low, high):
    """Give an output a range of rows; a high end of -1 is none."""
    sizes = message.description.output[output].type.multiArrayType.shapeRange.sizeRanges
    sizes.add(lowerBound=low, upperBound=high)
    sizes.add(lowerBound=2, upperBound=2)


def test_every_field_is_read(model, tmp_path):
    """Each parameter comes from the field of its name."""
    found = read_mlmodel(write(model, tmp_path / "nms.mlmodel"))
    assert (0.45, 0.25, True) == (found.iou_threshold, found.confidence_threshold, found.per_class)
    assert ("cat", "dog") == found.class_labels
    assert ("raw confidence", "raw coordinates") == (
        found.confidence_input,
        found.coordinates_input,
    )
    assert ("iou", "least") == (found.iou_threshold_input, found.confidence_threshold_input)
    assert ("confidence", "coordinates") == (found.confidence_output, found.coordinates_output)
    assert (0, None) == (found.min_boxes, found.max_boxes)


def test_labels_may_be_integers_or_missing(model, tmp_path):
    """Labels may be int64; a model without labels has none."""
    model.nonMaximumSuppression.int64ClassLabels.vector.extend([7, 2**40])
    assert (7, 2**40) == read_mlmodel(write(model, tmp_path / "integers.mlmodel")).class_labels
    model.nonMaximumSuppression.ClearField("int64ClassLabels")
    assert () == read_mlmodel(write(model, tmp_path / "none.mlmodel")).class_labels


@pytest.mark.parametrize("output", [0, 1])
def test_one_output_with_a_shape_bounds_both(model, tmp_path, output):
    """A fixed shape, by `shape` or by one allowed shape, is a lower and an upper bound."""
    array = model.description.output[output].type.multiArrayType
    array.shape.extend([10, 2])
    found = read_mlmodel(write(model, tmp_path / "old.mlmodel"))
    assert (10, 10) == (found.min_boxes, found.max_boxes)
    del array.shape[:]
    array.enumeratedShapes.shapes.add(shape=[7, 2])
    found = read_mlmodel(write(model, tmp_path / "new.mlmodel"))
    assert (7, 7) == (found.min_boxes, found.max_boxes)


@pytest.mark.parametrize(("high", "bound"), [(20, 20), (-1, None)])
def test_a_range_of_sizes_gives_both_bounds(model, tmp_path, high, bound):
    """A negative upper end is no bound."""
    set_range(model, 0, 5, high)
    set_range(model, 1, 5, high)
    found = read_mlmodel(write(model, tmp_path / "range.mlmodel"))
    assert (5, bound) == (found.min_boxes, found.max_boxes)


def test_outputs_that_contradict_each_other_are_refused(model, tmp_path):
    """Two outputs with contradicting shapes are refused."""
    set_range(model, 0, 5, 20)
    set_range(model, 1, 5, 30)
    with pytest.raises(ValueError, match="contradict"):
        read_mlmodel(write(model, tmp_path / "two.mlmodel"))


def test_several_allowed_numbers_of_rows_are_refused(model, tmp_path):
    """A choice of several shapes is refused, because the specification does not describe it."""
    shapes = model.description.output[0].type.multiArrayType.enumeratedShapes.shapes
    shapes.add(shape=[7, 2])
    shapes.add(shape=[9, 2])
    with pytest.raises(ValueError, match="which is meant"):
        read_mlmodel(write(model, tmp_path / "several.mlmodel"))


def test_a_suppression_is_found_at_the_end_of_a_pipeline(model, tmp_path):
    """Detectors are pipelines whose last model is the suppression."""
    from coremltools.proto import Model_pb2

    outer = Model_pb2.Model(specificationVersion=3)
    outer.pipeline.models.add().neuralNetwork.SetInParent()
    outer.pipeline.models.add().CopyFrom(model)
    assert 0.45 == read_mlmodel(write(outer, tmp_path / "pipeline.mlmodel")).iou_threshold


def test_a_model_without_a_suppression_is_refused(model, tmp_path):
    """A model of another kind, or one without a named method, is an error."""
    model.nonMaximumSuppression.ClearField("pickTop")
    with pytest.raises(ValueError, match="no suppression method"):
        read_mlmodel(write(model, tmp_path / "no_method.mlmodel"))
    model.neuralNetwork.SetInParent()
    with pytest.raises(ValueError, match="holds no nonMaximumSuppression"):
        read_mlmodel(write(model, tmp_path / "network.mlmodel"))
    with pytest.raises(FileNotFoundError, match="there is no model"):
        read_mlmodel(tmp_path / "missing.mlmodel")


def test_without_coremltools_the_error_names_the_extra(monkeypatch, tmp_path):
    """Without coremltools the error names the package to install."""
    real_import = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("coremltools"):
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"the extra .coreml"):
        read_mlmodel(tmp_path / "any.mlmodel")


def test_confidences_that_sum_to_more_than_one_are_counted():
    """The specification forbids such rows; they are kept as they are, and the count is a remark."""
    boxes = [[0.1, 0.1, 0.1, 0.1], [0.5, 0.5, 0.1, 0.1], [0.9, 0.9, 0.1, 0.1]]
    kept = NonMaximumSuppression(0.5, 0.0)([[0.7, 0.6], [0.5, 0.5], [0.9, 0.105]], boxes)
    assert (3, 1) == (len(kept.rows), kept.above_one)
