# SPDX-License-Identifier: Apache-2.0
"""The ground truth of a contest is the prepared one, in the contest's numbers."""

from __future__ import annotations

import json

import pytest

from referee.errors import InputError
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_contest_truth, read_truth_with
from referee.service.setup.preparation import prepare_contest
from tests.support.contests import write_config, write_images, write_truth
from tests.support.yolo_data import write_image, write_labels, write_text


def change_truth(folder):
    """Move a box."""
    path = folder / "truth.json"
    document = json.loads(path.read_text())
    document["annotations"][0]["bbox"] = [0, 0, 5, 5]
    path.write_text(json.dumps(document))


def test_truth_is_in_the_contests_numbers(tmp_path, clock):
    """Truth boxes carry the image numbers that contestants see."""
    write_images(tmp_path / "images", ["dog.jpg", "cat.jpg"])
    write_truth(tmp_path / "truth.json", [(70, "dog.jpg"), (5, "cat.jpg")])
    config = load_config(write_config(tmp_path, shuffle=False))
    prepare_contest(config)[0].close()
    contest = open_contest(config, clock)
    truth = read_contest_truth(contest)
    contest.database.close()
    assert ([1, 2], [2, 1]) == (truth.image_ids.tolist(), truth.box_image_id.tolist())


@pytest.mark.parametrize("change", [change_truth, lambda folder: (folder / "truth.json").unlink()])
def test_changed_truth_is_not_scored_with(contest, tmp_path, change):
    """A ground truth other than the prepared one is refused by name."""
    assert 4 == len(read_contest_truth(contest).box)
    change(tmp_path)
    with pytest.raises(InputError, match="truth.json: has changed since"):
        read_contest_truth(contest)


LABEL = "0 0.5 0.5 0.2 0.4\n"


@pytest.fixture
def labelled(tmp_path):
    """Return the configuration of a contest with YOLO labels, which is not prepared yet."""
    write_labels(tmp_path, {"a": LABEL, "b": LABEL.replace("0", "1", 1)}, more_images=["c.png"])
    path = write_config(tmp_path, shuffle=False)
    path.write_text(path.read_text().replace("truth.json", "labels"))
    return load_config(path)


def test_labels_are_the_truth_of_a_contest(labelled, clock):
    """Images, classes and boxes come of the labels and the folder, and all of it is told."""
    told: list[str] = []
    prepare_contest(labelled, tell=told.append)[0].close()
    assert ["ground truth: 2 boxes in 2 label files of 3 images; 1 image has no object"] == [
        "; ".join(sentence.split("; ")[:2]) for sentence in told
    ]
    contest = open_contest(labelled, clock)
    truth = read_contest_truth(contest)
    contest.database.close()
    assert {1: "cat", 2: "dog"} == contest.classes
    assert ([1, 2, 3], [1, 2]) == (truth.image_ids.tolist(), truth.box_image_id.tolist())
    assert pytest.approx([80, 30, 119, 69]) == truth.box[0].tolist()


def test_changed_labels_are_not_scored_with(labelled, clock, tmp_path):
    """A label file that changed since the preparation is refused."""
    prepare_contest(labelled)[0].close()
    contest = open_contest(labelled, clock)
    write_text(tmp_path / "labels/a.txt", LABEL.replace("0.2", "0.3"))
    with pytest.raises(InputError, match="labels: has changed since"):
        read_contest_truth(contest)
    contest.database.close()


def test_corrected_labels_must_name_the_same_classes(labelled, clock, tmp_path):
    """Labels in place of the contest's may lie anywhere, with the same names or with none."""
    prepare_contest(labelled)[0].close()
    contest = open_contest(labelled, clock)
    write_text(tmp_path / "later/set/a.txt", LABEL.replace("0.2", "0.3"))
    truth, _ = read_truth_with(contest, tmp_path / "later/set", None)
    assert 1 == len(truth.box)
    write_text(tmp_path / "later/set/classes.txt", "dog\ncat\n")
    with pytest.raises(InputError, match="names class 0 'dog', and the contest 'cat'"):
        read_truth_with(contest, tmp_path / "later/set", None)
    contest.database.close()


def test_labels_of_turned_images_are_no_truth_of_a_contest(labelled, tmp_path):
    """Contestants get the stored image, and its labels were made on the turned one."""
    write_image(tmp_path / "images/d.jpg", orientation=6)
    with pytest.raises(InputError, match=r"images/d\.jpg: its EXIF data turn it"):
        prepare_contest(labelled)
