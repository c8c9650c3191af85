# SPDX-License-Identifier: Apache-2.0
"""The parameters of a suppression are read from Core ML models."""

from __future__ import annotations

import builtins

import pytest

from client_sample.coreml_nms import read_mlmodel


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
    with pytest.raises(ImportError, match=r"\[coreml\]"):
        read_mlmodel(tmp_path / "any.mlmodel")
