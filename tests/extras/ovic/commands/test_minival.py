# SPDX-License-Identifier: Apache-2.0
"""`referee ovic minival` writes the ground truth of the images that a list names."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.formats.ground_truth import read_ground_truth


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
        ("1\n", "[]", "truth.json is no COCO instances JSON"),
    ],
)
def test_what_cannot_be_chosen_is_named(ids, content, sentence, minival, capsys):
    """An unknown id, a line without one and another file end with a sentence and write nothing."""
    code, out = minival(ids, content)
    assert (2, False) == (code, out.exists())
    assert sentence in capsys.readouterr().err
