# SPDX-License-Identifier: Apache-2.0
"""The ground truth of a contest is the prepared one, in the contest's numbers."""

from __future__ import annotations

import json

import pytest

from referee.errors import InputError
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.preparation import prepare_contest
from tests.support.contests import write_config, write_images, write_truth


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
