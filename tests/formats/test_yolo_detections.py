# SPDX-License-Identifier: Apache-2.0
"""Detections as a folder of YOLO labels, against ground truths of every kind."""

from __future__ import annotations

import json

import numpy as np
import pytest

from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.yolo_detections import ImagesOfTruth, read_yolo_detections
from tests.support.yolo_data import write_image, write_labels, write_text

ROW = "1 0.5 0.5 0.2 0.4 0.75\n"


def images_of(path, folder=None, **options):
    """Return what is known of the images of a ground truth."""
    source = read_ground_truth(path, **options)
    return ImagesOfTruth(source.truth, source.file_names, source.sizes, folder)


@pytest.fixture
def images(tmp_path):
    """Return the images of labels of two cats."""
    box = "0 0.5 0.5 0.2 0.4\n"
    labels, _ = write_labels(tmp_path, {"a": box, "b": box})
    return images_of(labels)


def found(tmp_path, images, numbering=None, **files):
    """Return the detections of a folder with these files, and their counts."""
    for name, text in files.items():
        write_text(tmp_path / "found" / f"{name.replace('_', '/')}.txt", text)
    return read_yolo_detections(tmp_path / "found", images, numbering)


def refusal(*args, **files):
    """Return the text of the error that reading raises."""
    with pytest.raises(InputError) as error:
        found(*args, **files)
    return str(error.value)


def test_rows_become_detections(tmp_path, images):
    """A row has its image's id, class index + 1, its confidence, and a box in pixels."""
    rows, counts = found(tmp_path, images, b=ROW)
    assert ([2], [2], [0.75]) == (
        rows.image_id.tolist(),
        rows.class_id.tolist(),
        rows.confidence.tolist(),
    )
    assert np.allclose([[80, 30, 119, 69]], rows.box)
    assert (1, 1, (), True) == (counts.files, counts.rows, counts.strange, counts.with_confidence)


def test_without_confidence_each_is_one(tmp_path, images):
    """`save_txt` without `save_conf` writes five numbers: every confidence is 1.0, and told."""
    rows, counts = found(tmp_path, images, a="0 0.5 0.5 0.2 0.4\r\n", b="")
    assert ([1.0], False) == (rows.confidence.tolist(), counts.with_confidence)


def test_a_file_of_no_image_is_counted(tmp_path, images):
    """Rows of an image that is not in the ground truth stay, under an id of none."""
    rows, counts = found(tmp_path, images, a=ROW, zebra=ROW)
    assert (("zebra.txt",), 2) == (counts.strange, counts.rows)
    assert 1 == np.isin(rows.image_id, images.truth.image_ids).sum()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"zebra": ROW}, "none of 1 file is named like an image of the ground truth"),
        ({"a": "0 0.5 0.5 0.2\n"}, "has 4 fields"),
        ({"a": "0 0.1 0.1 0.2 0.1 0.2 0.3 0.1 0.3 0.9\n"}, "has 10 fields"),
        ({"a": "0 0.5 0.5 0.2 0.2 0.9 7\n"}, "has 7 fields"),
        ({"a": ROW, "b": "0 0.5 0.5 0.2 0.2\n"}, "b.txt, line 1 has 5 fields, and the rows before"),
        ({"a": "0.9 0.5 0.5 0.2 0.2 1\n"}, "'0.9' is not a class index, which comes first"),
        ({"a": "cat 0.5 0.5 0.2 0.2 1\n"}, "'cat' is not a class index"),
        ({"a": "-1 0.5 0.5 0.2 0.2 1\n"}, "'-1' is not a class index"),
        ({"a": "0 320 240 20 30 0.9\n"}, "1 of 1 box has numbers above 1"),
        ({"a": "0 0.5 x 0.2 0.2 1\n"}, "a.txt, line 1, cy: 'x' is not a number"),
    ],
)
def test_what_is_no_detection_is_refused(tmp_path, images, files, said):
    """Files of other images, outlines, tracks, mixed widths and pixels are named."""
    assert said in refusal(tmp_path, images, **files)


def test_a_folder_without_files_is_refused(tmp_path, images):
    """An empty folder is no detections."""
    (tmp_path / "found").mkdir()
    assert "has no .txt files" in refusal(tmp_path, images)


def test_a_strange_number_is_left_to_the_score(tmp_path, images):
    """A class beyond the list, NaN and a box beyond the image are counted by the scorer."""
    rows, _ = found(tmp_path, images, a=f"{ROW}99 0.5 0.5 0.2 0.2 0.1\n0 nan 0.5 2 -1 inf\n")
    assert 3 == len(rows)
    assert [True, False, True] == np.isin(rows.class_id, images.truth.class_ids).tolist()


def test_indices_follow_the_order_of_coco_s_ids(tmp_path):
    """Index k is the class with the place k among COCO's ids, as YOLO's 80 classes are."""
    content = {
        "images": [{"id": 42, "file_name": "x/a.png", "width": 200, "height": 100}],
        "categories": [{"id": 90, "name": "toothbrush"}, {"id": 13, "name": "stop sign"}],
        "annotations": [{"image_id": 42, "category_id": 13, "bbox": [0, 0, 1, 1]}],
    }
    images = images_of(write_text(tmp_path / "truth.json", json.dumps(content)))
    rows, _ = found(tmp_path, images, a=ROW + "0 0.5 0.5 0.1 0.1 0.2\n")
    assert ([42, 42], [90, 13]) == (rows.image_id.tolist(), rows.class_id.tolist())


@pytest.mark.parametrize(("numbering", "image"), [("own", 2), ("contest", 7)])
def test_files_named_by_numbers_are_numbered_as_asked(tmp_path, numbering, image):
    """A device saves what it sees under the contest's numbers, or under the images' own."""
    content = {
        "images": [
            {"id": own, "file_name": f"p{own}.png", "width": 200, "height": 100} for own in (2, 7)
        ],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"image_id": 2, "category_id": 1, "bbox": [0, 0, 1, 1]}],
    }
    images = images_of(write_text(tmp_path / "truth.json", json.dumps(content)))
    write_text(tmp_path / "found/2.txt", ROW)
    rows, _ = read_yolo_detections(tmp_path / "found", images, numbering)
    assert [image] == rows.image_id.tolist()


def test_sizes_come_from_the_images_where_the_truth_has_none(tmp_path):
    """CSV says no sizes, so the folder of the images is read, or asked for."""
    truth = write_text(tmp_path / "truth.csv", "7,1,80,30,119,69\n")
    assert "give the folder of the images too" in refusal(
        tmp_path, images_of(truth), **{"7": "0 0.5 0.5 0.2 0.4 0.9\n"}
    )
    write_image(tmp_path / "images/7.png")
    rows, _ = read_yolo_detections(tmp_path / "found", images_of(truth, folder=tmp_path / "images"))
    assert np.allclose([[80, 30, 119, 69]], rows.box)
