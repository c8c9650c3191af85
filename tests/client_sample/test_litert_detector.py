# SPDX-License-Identifier: Apache-2.0
"""The LiteRT detector turns a model's outputs into rows in the image's own pixels."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from client_sample.litert_detector import LiteRtDetector

MODELS = Path(__file__).parents[2] / "../shared/data/models"
PHOTOS = Path(__file__).parents[2] / "../shared/data/coco-tiny/images"


class FakeInterpreter:
    """A model that ends in TFLite_Detection_PostProcess; it keeps the picture that it gets."""

    kind: type = np.uint8
    input_shape = (1, 20, 30, 3)
    outputs = (
        np.array([[[0.25, 0.1, 0.75, 0.5], [0.0, 0.0, 1.0, 1.0], [0, 0, 0, 0]]], np.float32),
        np.array([[0.0, 16.0, 7.0]], np.float32),
        np.array([[0.875, 0.25, 0.0]], np.float32),
        np.array([2.0], np.float32),
    )
    shown: np.ndarray

    def __init__(self, model_path: str, num_threads: int) -> None:
        if not model_path.endswith(".tflite"):
            raise ValueError(f"Could not open '{model_path}'.")

    def allocate_tensors(self) -> None:
        """Do nothing."""

    def get_input_details(self):
        """Describe the one input."""
        return [{"index": 0, "dtype": self.kind, "shape": np.array(self.input_shape)}]

    def get_output_details(self):
        """Describe the outputs."""
        return [{"index": 5 + k, "shape": np.array(o.shape)} for k, o in enumerate(self.outputs)]

    def set_tensor(self, index: int, value: np.ndarray) -> None:
        """Keep the picture."""
        type(self).shown = value

    def invoke(self) -> None:
        """Do nothing."""

    def get_tensor(self, index: int) -> np.ndarray:
        """Return an output."""
        return self.outputs[index - 5]


@pytest.fixture
def interpreter(monkeypatch):
    """Put a new fake LiteRT in the place of the real one."""
    module = ModuleType("ai_edge_litert.interpreter")
    module.Interpreter = type("Interpreter", (FakeInterpreter,), {})
    monkeypatch.setitem(sys.modules, "ai_edge_litert", ModuleType("ai_edge_litert"))
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", module)
    return module.Interpreter


def jpeg(width: int, height: int) -> bytes:
    """Make a JPEG whose left half is black and whose right half is white."""
    picture = Image.new("L", (width, height))
    picture.paste(255, (width // 2, 0, width, height))
    file = io.BytesIO()
    picture.save(file, "jpeg")
    return file.getvalue()


def test_boxes_are_inclusive_pixels_of_the_image(interpreter):
    """Fractions of the image become pixel corners; rows beyond the model's count are left out."""
    rows = LiteRtDetector("model.tflite")(1, jpeg(200, 100))
    assert [1, 17] == [row[0] for row in rows]
    assert [0.875, 0.25] == [row[1] for row in rows]
    assert (20, 25, 99, 74) == pytest.approx(rows[0][2:])
    assert (0, 0, 199, 99) == pytest.approx(rows[1][2:])


def test_class_ids_and_confidences_follow_the_options(interpreter):
    """The options choose the first class's id and the least confidence."""
    detector = LiteRtDetector("model.tflite", first_class_id=0, least_confidence=0.5)
    assert [(0, 0.875)] == [row[:2] for row in detector(1, jpeg(200, 100))]


def test_a_model_sees_the_whole_picture_in_its_own_size(interpreter):
    """uint8 models get values from 0 to 255, and grey pictures get three channels."""
    LiteRtDetector("model.tflite")(1, jpeg(200, 100))
    shown = interpreter.shown
    assert ((1, 20, 30, 3), np.uint8) == (shown.shape, shown.dtype)
    assert shown[0, :, :14].max() < 10
    assert shown[0, :, 16:].min() > 245


def test_float_models_see_values_from_minus_one_to_one(interpreter):
    """float32 models get the same picture with values from -1 to 1."""
    interpreter.kind = np.float32
    LiteRtDetector("model.tflite")(1, jpeg(200, 100))
    assert np.float32 == interpreter.shown.dtype
    assert (-1, 1) == pytest.approx((interpreter.shown.min(), interpreter.shown.max()), abs=0.05)


def test_models_of_another_form_are_refused(interpreter):
    """The error names raw boxes, other inputs and other types."""
    interpreter.outputs = (np.zeros((1, 2535, 85), np.float32),)
    with pytest.raises(ValueError, match=r"outputs of the shapes \[\(1, 2535, 85\)\]"):
        LiteRtDetector("model.tflite")
    interpreter.outputs = FakeInterpreter.outputs
    interpreter.input_shape = (1, 3, 20, 30)
    with pytest.raises(ValueError, match="takes uint8 of the shape"):
        LiteRtDetector("model.tflite")
    interpreter.input_shape, interpreter.kind = FakeInterpreter.input_shape, np.int8
    with pytest.raises(ValueError, match="takes int8"):
        LiteRtDetector("model.tflite")


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a detector of LiteRT from a model's bytes."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from tests.support import tflite_models

    def load(make) -> LiteRtDetector:
        path = tmp_path / "model.tflite"
        path.write_bytes(make(tflite_models))
        return LiteRtDetector(path)

    return load


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda models: models.unresolved("FlexErf"), "operator FlexErf of TensorFlow itself"),
        (lambda models: models.unresolved("edgetpu-custom-op"), "compiled for the Edge TPU"),
        (lambda models: models.unresolved("MyOp"), "the operator MyOp of its own"),
        (lambda models: models.mixed_types(), "do not go together in ADD"),
        (lambda models: models.open_sides(models.detector()), "leaves the size of its input open"),
        (lambda models: models.classifier(dtype=np.int8), "takes int8 of the shape"),
        (lambda models: models.two_inputs(), "has 2 inputs"),
    ],
    ids=["flex", "edge tpu", "own", "types", "open", "int8", "two"],
)
def test_a_model_that_cannot_run_is_one_sentence(make, words, made):
    """What LiteRT cannot run is a ValueError before the session, which says what to do."""
    with pytest.raises(ValueError, match=words) as caught:
        made(make)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 3, 2), (2, 0, 3, 1)])
def test_outputs_in_another_order_are_put_right(order, made):
    """TensorFlow 2 writes scores, boxes, number, classes: the values tell which is which."""
    detector = made(lambda models: models.reordered(models.detector(), order))
    rows = detector(1, jpeg(200, 100))
    assert (17, 0.5) == rows[0][:2]
    assert (100, 25, 199, 74) == pytest.approx(rows[0][2:])
    assert ("" == detector.remark) is (order == (0, 1, 2, 3))


@pytest.mark.slow
def test_an_open_batch_is_one_image(made):
    """A model that leaves only the number of images open sees one."""
    detector = made(lambda models: models.open_sides(models.detector(), (-1, 8, 8, 3)))
    assert 100 == len(detector(1, jpeg(200, 100)))


def test_outputs_of_another_meaning_are_refused(interpreter):
    """Scores beyond 1 beside classes that are no whole numbers are of no order."""
    boxes, _, scores, number = FakeInterpreter.outputs
    interpreter.outputs = (boxes, np.array([[0.5, 3.5, 0.0]], np.float32), scores * 50, number)
    with pytest.raises(ValueError, match=r"whole classes and scores from 0 to 1: output 2 has 0.5"):
        LiteRtDetector("model.tflite")


def test_an_image_that_tells_no_order_leaves_it_to_the_next(interpreter):
    """With scores of 1 and classes of 1 both orders fit; the next image decides."""
    boxes, classes, scores, number = FakeInterpreter.outputs
    ones = np.array([[1.0, 1.0, 0.0]], np.float32)
    interpreter.outputs = (boxes, ones, ones, number)
    detector = LiteRtDetector("model.tflite")
    assert "" == detector.remark
    interpreter.outputs = (boxes, scores, classes, number)
    assert [0.875, 0.25] == [row[1] for row in detector(1, jpeg(200, 100))]
    assert "classes 3, scores 2" in detector.remark


def test_quantized_outputs_are_scaled(interpreter, monkeypatch):
    """A score of 224 with the scale 1/256 is 0.875."""
    boxes, classes, _, number = FakeInterpreter.outputs
    scores = np.array([[224, 64, 0]], np.uint8)
    interpreter.outputs = (boxes, classes, scores, number)
    known = FakeInterpreter.get_output_details
    scale = {"quantization": (1 / 256, 0)}
    monkeypatch.setattr(
        interpreter, "get_output_details", lambda self: [one | scale for one in known(self)]
    )
    rows = LiteRtDetector("model.tflite")(1, jpeg(200, 100))
    assert [0.875, 0.25] == [row[1] for row in rows]


def test_without_litert_the_error_names_the_extra(monkeypatch):
    """Without LiteRT the error names the package to install."""
    # Another test may have imported the module, and then the package is not looked at again.
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(ImportError, match=r"the extra .litert"):
        LiteRtDetector("model.tflite")


@pytest.mark.slow
@pytest.mark.skipif(not MODELS.is_dir(), reason="the real models are not here")
@pytest.mark.parametrize(
    ("model", "boxes"), [("mobilenetv1.tflite", 10), ("efficientdet-lite0.tflite", 25)]
)
def test_a_real_model_sees_a_person_on_a_photograph(model, boxes):
    """A real detector finds persons, class 1, in the right place of a photograph."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    detector = LiteRtDetector(MODELS / model)
    rows = detector(1, (PHOTOS / "000000005001.jpg").read_bytes())
    assert boxes == len(rows)
    assert (1, True) == (rows[0][0], rows[0][1] > 0.5)
    assert all(-20 <= row[2] < row[4] <= 660 and -20 <= row[3] < row[5] <= 500 for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(not MODELS.is_dir(), reason="the real models are not here")
@pytest.mark.parametrize("order", [(2, 0, 3, 1), (0, 2, 1, 3), (3, 2, 1, 0)])
@pytest.mark.parametrize("model", ["mobilenetv1", "efficientdet-lite0"])
def test_a_real_model_in_another_order_answers_as_before(model, order, tmp_path):
    """No class is posted as a confidence: the rows of a photograph are the same."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from tests.support.tflite_models import reordered

    known, path = MODELS / f"{model}.tflite", tmp_path / "other.tflite"
    path.write_bytes(reordered(known.read_bytes(), order))
    photograph = (PHOTOS / "000000005001.jpg").read_bytes()
    assert LiteRtDetector(known)(1, photograph) == LiteRtDetector(path)(1, photograph)
