# SPDX-License-Identifier: Apache-2.0
"""`referee ovic minival` writes the ground truth of the images that a list names."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.formats.ground_truth import read_ground_truth

CATS = [{"id": 17, "name": "cat"}, {"id": 1, "name": "person"}]


@pytest.fixture
def minival(tmp_path):
    """Return a function that chooses from a truth of four images with a box each."""
    truth, out = tmp_path / "truth.json", tmp_path / "minival.json"
    images = [{"id": n, "file_name": f"{n}.jpg", "width": 40, "height": 30} for n in range(1, 5)]
    box = {"category_id": 17, "bbox": [1, 2, 10, 10], "area": 100, "iscrowd": 0}
    boxes = [box | {"id": 10 * n, "image_id": n} for n in range(1, 5)]
    categories = [{"id": 1, "name": "person"}, {"id": 17, "name": "cat"}]
    whole = {"info": {"year": 2014}, "images": images, "annotations": boxes}
    truth.write_text(json.dumps(whole | {"categories": categories}))

    def run(ids: str, content: str | None = None):
        (tmp_path / "ids.txt").write_text(ids)
        if content is not None:
            truth.write_text(content)
        paths = ["--ground-truth", truth, "--image-ids", tmp_path / "ids.txt", "--out", out]
        return main(["ovic", "minival", *map(str, paths)]), out

    return run


def test_the_chosen_images_and_their_boxes_stay(minival, capsys):
    """Images and annotations are those of the list, in the truth's order; the rest is as it was."""
    code, out = minival("4\n2\n\n")
    assert 0 == code
    assert capsys.readouterr().out.endswith("minival.json: 2 images, 2 annotations\n")
    found = read_ground_truth(out)
    assert ([2, 4], [2, 4]) == (found.truth.image_ids.tolist(), found.truth.box_image_id.tolist())
    assert [1, 17] == found.truth.class_ids.tolist()
    assert {"year": 2014} == json.loads(out.read_text())["info"]


@pytest.mark.parametrize(
    ("ids", "content", "sentence"),
    [
        ("1\n9\n", None, "truth.json: 1 of 2 images are not there: 9"),
        ("1\ncat\n", None, "ids.txt, line 2, image id: 'cat' is not a whole number"),
        ("\n", None, "ids.txt has no image id"),
        ("1\n", "[]", "truth.json is not COCO instances JSON"),
    ],
)
def test_what_cannot_be_chosen_is_named(ids, content, sentence, minival, capsys):
    """An unknown id, a line without one and another file end with a sentence and write nothing."""
    code, out = minival(ids, content)
    assert (2, False) == (code, out.exists())
    assert sentence in capsys.readouterr().err


@pytest.fixture
def labels(tmp_path):
    """Return a function that prints the labels of a truth with this content."""

    def run(content: object) -> int:
        truth = tmp_path / "truth.json"
        truth.write_text(json.dumps(content))
        return main(["ovic", "labels", "--ground-truth", str(truth)])

    return run


def test_each_label_has_its_class_index(labels, capsys):
    """A model answers the category id less 1; the list goes up by it."""
    assert 0 == labels({"categories": CATS, "images": []})
    assert "class,category_id,name\n0,1,person\n16,17,cat\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([], "is not COCO instances JSON with categories"),
        ({"categories": []}, "is not COCO instances JSON with categories"),
        ({"categories": [*CATS, CATS[0]]}, "each with an id of its own"),
        ({"categories": [{"id": "1", "name": "person"}]}, "is not COCO instances JSON"),
        ({"categories": [{"id": 91, "name": "hair brush"}]}, "category 91 is not 1 to 90"),
        ({"categories": [{"id": 0, "name": "background"}]}, "category 0 is not 1 to 90"),
    ],
)
def test_what_has_no_list_is_named(content, sentence, labels, capsys):
    """A file of another form and a category that no model can answer end with a sentence."""
    assert 2 == labels(content)
    out, err = capsys.readouterr()
    assert ("", True) == (out, sentence in err)


def test_coco_has_80_labels_for_90_indices(shared_data, capsys):
    """The list of a real ground truth has every name, also those that no image has."""
    truth = shared_data / "coco-tiny/annotations.json"
    assert 0 == main(["ovic", "labels", "--ground-truth", str(truth)])
    lines = capsys.readouterr().out.splitlines()
    assert (81, "0,1,person", "89,90,toothbrush") == (len(lines), lines[1], lines[-1])
