# SPDX-License-Identifier: Apache-2.0
"""`referee ovic labels` prints the list of all labels that a ground truth has."""

from __future__ import annotations

import json

import pytest

from referee.cli import main

CATS = [{"id": 17, "name": "cat"}, {"id": 1, "name": "person"}]


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
        ([], "is no COCO instances JSON with categories"),
        ({"categories": []}, "is no COCO instances JSON with categories"),
        ({"categories": [*CATS, CATS[0]]}, "each with an id of its own"),
        ({"categories": [{"id": "1", "name": "person"}]}, "is no COCO instances JSON"),
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
