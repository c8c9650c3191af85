# SPDX-License-Identifier: Apache-2.0
"""A model's detector finds the one known box of each family, in the photograph's own pixels."""

from __future__ import annotations

import numpy as np
import pytest

from client_sample.models.class_names import map_classes
from client_sample.models.detector import ModelDetector
from client_sample.models.runner import RunFailed, Tensor
from client_sample.models.settings import Unclear
from tests.client_sample.models.conftest import KnownRunner, settings
from tests.support.detector_heads import (
    BOX,
    CLASS,
    FAMILIES,
    LETTERBOXED,
    PHOTOGRAPH,
    ROW,
    SCORE,
    STRETCHED,
    ULTRALYTICS,
    listed,
    rows_of_six,
    split,
    tensorflow,
    yolo5,
    yolo8,
)

NCHW, NHWC = (1, 3, 64, 64), (1, 64, 64, 3)


def detector(outputs, metadata=None, shape=NCHW, dtype="float32", more=(), **given):
    """Return a detector of known outputs, and its runner."""
    runner = KnownRunner(outputs, metadata, [Tensor("x", shape, dtype), *more])
    return ModelDetector(runner, settings(**given), {}), runner


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_gives_its_box(family, photograph):
    """The best row is the known box, class and score; no other row of its class is left."""
    outputs, metadata, given = FAMILIES[family]
    made, _ = detector(outputs(), metadata, **given)
    rows = made(1, photograph)
    assert ROW == pytest.approx(rows[0], abs=0.01)
    assert 1 == sum(row[0] == ROW[0] for row in rows)


@pytest.mark.parametrize(
    "shape", [NCHW, NHWC, (None, 3, 64, 64), (None, None, None, 3), (3, 64, 64)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
def test_every_form_of_input_gets_the_letterbox(shape, dtype, photograph):
    """The photograph lies between grey bands, in the input's order, type and range."""
    made, runner = detector([("output0", yolo8())], ULTRALYTICS, shape, dtype)
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    (fed,) = runner.fed
    assert (len(shape), dtype) == (fed.ndim, fed.dtype.name)
    image = fed.reshape(fed.shape[-3:])
    image = image.transpose(1, 2, 0) if image.shape[0] == 3 else image
    whole = 255 if dtype == "uint8" else 1
    assert (64, 64, 3) == image.shape
    assert image[32, 32] == pytest.approx([whole, 0, 0], abs=whole / 50)
    assert image[12, 32] == pytest.approx([whole * 114 / 255] * 3, abs=whole / 50)
    assert image[13, 32] == pytest.approx([whole, 0, 0], abs=whole / 50)


@pytest.mark.parametrize(
    ("pixels", "colours", "red"),
    [
        ("0-255", "bgr", (0, 0, 255)),
        ("-1-1", "rgb", (1, -1, -1)),
        ("imagenet", "rgb", (2.249, -2.036, -1.804)),
        ("imagenet", "bgr", (-1.804, -2.036, 2.249)),
    ],
)
def test_pixels_have_the_range_that_was_asked_for(pixels, colours, red, photograph):
    """Normalisation and the order of colours follow their options."""
    made, runner = detector([("output0", yolo8())], ULTRALYTICS, pixels=pixels, colours=colours)
    made(1, photograph)
    assert red == pytest.approx(runner.fed[0][0, :, 32, 32], abs=0.02 * max(map(abs, red)))


@pytest.mark.parametrize(
    ("dtype", "zero", "red"), [("int8", -128, (127, -128, -128)), ("uint8", 0, (255, 0, 0))]
)
def test_a_quantized_input_tells_its_range(dtype, zero, red, photograph):
    """Of a scale of 1/255 the pixels are 0 to 1, and no option is asked for."""
    source = Tensor("x", NHWC, dtype, 1 / 255, zero)
    runner = KnownRunner([("Identity", yolo8(1 / 64))], {}, [source])
    made = ModelDetector(runner, settings(fit="letterbox", colours="rgb", names="order"), {})
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    assert red == pytest.approx(runner.fed[0][0, 32, 32], abs=3)


def test_what_a_file_does_not_say_is_asked_for_at_once():
    """One sentence names every option that is missing; nothing is guessed."""
    with pytest.raises(Unclear) as caught:
        detector([("output", yolo5(84))])
    asked = [question.option for question in caught.value.questions]
    assert ["--fit", "--pixels", "--colours", "--names", "--head"] == asked
    assert "--fit letterbox|corner|stretch" in str(caught.value)
    with pytest.raises(Unclear) as caught:
        detector(listed(BOX), shape=(None, 3, None, None), names="ids", pixels="0-1", colours="rgb")
    assert ["--input", "--fit", "--boxes"] == [one.option for one in caught.value.questions]


def test_a_model_may_take_each_photograph_in_its_own_size(photograph):
    """torchvision's models resize inside, so their boxes are the photograph's own."""
    made, runner = detector(
        listed(BOX), shape=(None, 3, None, None), like="torchvision", names="order"
    )
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    assert (1, 3, 77, 131) == runner.fed[0].shape


def test_a_model_that_knows_the_photographs_size_gives_its_pixels(photograph):
    """The export of RT-DETR's authors takes width and height, and needs no inverse."""
    size = Tensor("orig_target_sizes", (None, 2), "int64")
    labels, boxes, scores = (
        (name, values[None]) for name, values in (listed(BOX)[k] for k in (1, 0, 2))
    )
    made, runner = detector([labels, boxes, scores], more=[size], like="rtdetr", names="order")
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    assert [list(PHOTOGRAPH)] == runner.fed[1].tolist()


def test_classes_and_scores_of_one_type_are_told_by_their_values(photograph):
    """Names that say nothing, and whole numbers beside fractions."""
    boxes, classes, scores, count = (values for _, values in tensorflow())
    outputs = [("a", scores), ("b", boxes), ("c", count), ("d", classes)]
    made, _ = detector(outputs, like="tensorflow", names="order")
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)


@pytest.mark.parametrize("classes", [(0, 0), (0, 1)])
def test_classes_may_be_0_and_1_alone(classes, photograph):
    """A photograph of persons has class 0 in every row, which looks like a score of 0."""
    table = np.array([[0, *LETTERBOXED, index, SCORE] for index in classes], np.float32)
    made, runner = detector([("output", table)], ULTRALYTICS, boxes="xyxy")
    assert [(k, SCORE) for k in classes] == [row[:2] for row in made(1, photograph)]
    boxes, labels, scores = (values[None] for _, values in listed(STRETCHED))
    outputs = [("a", scores), ("b", boxes), ("c", (labels > 1).astype(np.float32))]
    made, _ = detector(outputs, like="torchvision", names="order")
    assert (1, *ROW[1:]) == pytest.approx(made(1, photograph)[0], abs=0.01)


def test_rows_of_seven_begin_with_the_pictures_number(photograph):
    """Rotated boxes have seven numbers, too, and are refused, as is a batch's other picture."""
    rotated = np.array([[[*LETTERBOXED, SCORE, CLASS, 0.3]]], np.float32)
    for table in (rotated, np.array([[3, *LETTERBOXED, CLASS, SCORE]], np.float32)):
        with pytest.raises(ValueError, match="do not begin with the number of the picture"):
            detector([("output", table)], ULTRALYTICS, boxes="xyxy")


def test_fractions_are_told_by_most_boxes(photograph):
    """A raw head has a few boxes far outside, and a list may end in rows of zeros."""
    scores, boxes = (values for _, values in split(True))
    boxes = boxes.copy()
    boxes[0, :9] *= 50
    made, _ = detector(
        [("scores", scores), ("boxes", boxes)], like="torchvision", scores="plain", names="ids"
    )
    assert (CLASS + 1, *ROW[1:]) == pytest.approx(
        next(row for row in made(1, photograph) if row[0]), abs=0.01
    )


@pytest.mark.parametrize("count", [2, 4])
def test_names_are_as_many_as_the_classes_of_a_head(count):
    """A head with more classes than names would be off by one, or another exporter's."""
    outputs, _, given = FAMILIES["rf-detr"]
    names = {"names": str([f"n{k}" for k in range(count)])}
    with pytest.raises(ValueError, match=f"it has 3 classes, and there are names for {count}"):
        detector(outputs(), names, **given | {"names": None})


def test_a_background_takes_no_place(photograph):
    """An SSD's background has the best score nearly everywhere, and is no class."""
    runner = KnownRunner(split(True), {}, [Tensor("x", NCHW, "float32")])
    known = settings("torchvision", scores="plain", names="labels.txt", most_boxes=3)
    made = ModelDetector(runner, known, {0: "BACKGROUND", 1: "cat", 2: "dog", 3: "bird"})
    assert (3, *ROW[1:]) == pytest.approx(made(1, photograph)[0], abs=0.01)
    made.map_to(map_classes({9: "bird"}, None, made.names, made.classes))
    ((class_id, *_),) = made(1, photograph)
    assert 9 == class_id


@pytest.mark.parametrize(
    ("outputs", "given"),
    [
        ([("y", np.array([[[2, 0.9, 10, 20, 30, 40]]], np.float32))], {}),
        ([("boxes", np.ones((1, 9, 4), np.float32)), ("s", np.full((1, 9, 3), -4.0))], {}),
    ],
    ids=["class first", "logits"],
)
def test_scores_that_are_none_are_refused_before_the_login(outputs, given):
    """Columns in another order and logits would be posted as confidences."""
    with pytest.raises(ValueError, match="its scores go from .* not from 0 to 1"):
        detector(outputs, like="torchvision", scores="plain", names="order", **given)


def test_a_number_that_is_none_costs_one_box_alone(photograph):
    """NaN in a session leaves the other boxes; NaN for a plain picture is refused at once."""
    output = yolo8()
    made, runner = detector([("output0", output)], ULTRALYTICS)
    runner.arrays = [output.copy()]
    runner.arrays[0][0, 4:, 3], runner.arrays[0][0, 0, 41] = np.nan, np.nan
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    with pytest.raises(ValueError, match="gives NaN for a plain picture"):
        detector([("output0", runner.arrays[0])], ULTRALYTICS)


def test_a_mask_of_pixels_is_all_of_them(photograph):
    """Some exports of DETR take one beside the picture."""
    mask = Tensor("pixel_mask", (None, None, None), "int64")
    outputs, _, given = FAMILIES["detr"]
    made, runner = detector(outputs(), more=[mask], **given)
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)
    assert (1, 64, 64) == runner.fed[1].shape and runner.fed[1].all()


def test_a_model_that_sees_nothing_answers_nothing(photograph):
    """Rows of zeros and outputs without a row are no boxes, and no error."""
    nothing = rows_of_six()
    nothing[:] = 0
    for output in (nothing, nothing[:, :0], nothing[0, :0]):
        made, _ = detector([("output0", output)], ULTRALYTICS)
        assert [] == made(1, photograph)
    empty = [(name, values[:0]) for name, values in listed(BOX)]
    made, _ = detector(empty, like="torchvision", names="order")
    assert [] == made(1, photograph)


def test_boxes_end_at_the_edges_of_the_photograph(photograph):
    """A box in the grey band alone is none, and one across the edge is cut off."""
    table = rows_of_six((-5.0, 5.0, 70.0, 70.0))
    table[0, 1] = [0, 1, 64, 12, 0.5, 1]
    made, _ = detector([("output0", table)], ULTRALYTICS)
    ((_, _, *corners),) = made(1, photograph)
    assert [0, 0, 130, 76] == corners


@pytest.mark.parametrize(
    ("outputs", "given", "words"),
    [
        ([("y", np.zeros((1, 7, 999), np.float32))], {}, r"no family .* y \[1, 7, 999\]"),
        ([("y", yolo8())], {"shape": (4, 3, 64, 64)}, "takes 4 pictures at once"),
        ([("y", yolo8())], {"shape": (1, 1, 64, 64)}, "no three colours"),
        ([("y", yolo8())], {"dtype": "int64"}, "takes int64"),
        ([("y", yolo8())], {"size": (32, 32)}, "its input is 64x64"),
        ([("y", yolo8(more=2))], {}, "which with yolo8 are 5 classes, and there are 3 names"),
    ],
    ids=["family", "batch", "grey", "type", "size", "names"],
)
def test_a_model_that_cannot_be_used_is_one_sentence(outputs, given, words):
    """The error says what the model has, and what to do."""
    with pytest.raises(ValueError, match=words):
        detector(outputs, ULTRALYTICS, **given)


def test_a_size_that_the_model_cannot_take_is_said():
    """An open size may still have to fit the strides, and the library's words name no option."""
    runner = KnownRunner(
        [("y", yolo8())], ULTRALYTICS, [Tensor("x", (1, 3, None, None), "float32")]
    )

    def fail(feeds):
        raise RunFailed("Concat: Axis 2 has 41 and 42")

    runner.run = fail
    with pytest.raises(ValueError, match=r"cannot take a picture of 65x65: give --input .* 41 and"):
        ModelDetector(runner, settings(size=(65, 65)), {})


def test_rotated_boxes_are_refused():
    """Ultralytics' tasks 'obb' and 'classify' have no upright boxes."""
    with pytest.raises(ValueError, match="its task is 'obb'"):
        detector([("output0", yolo8(more=1))], ULTRALYTICS | {"task": "obb"})


def test_objects_of_two_classes_in_one_place_both_stay(photograph):
    """Suppression compares boxes of one class alone, and keeps every class of a row."""
    output = yolo8()
    output[0, 4, 40] = 0.75
    made, _ = detector([("output0", output)], ULTRALYTICS)
    assert [(2, 0.875), (0, 0.75)] == [row[:2] for row in made(1, photograph)]
    assert LETTERBOXED[1] > 13
