# SPDX-License-Identifier: Apache-2.0
"""The folders of a contestant's rehearsals."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.programs.practice_folder import config_in, folder_for, practice_config
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection


def rehearsed(data, images, track="network"):
    """Write the folder of a rehearsal."""
    contest = ContestSection(mode="practice", track=track, shuffle=False)
    practice_config(
        data=data, contest=contest, images=images, server=ServerSection(), meter=MeterSection()
    )


def test_each_material_has_a_folder_of_its_own(tmp_path):
    """Other images, and the camera track, get the next folder; the same material its own again."""
    base = tmp_path / "practice-data"
    first, second = (ImagesSection(tmp_path / it, tmp_path / "truth.json") for it in ("a", "b"))
    assert base == folder_for(base, first, "network")
    rehearsed(base, first)
    assert base == folder_for(base, first, "network")
    assert tmp_path / "practice-data-2" == folder_for(base, first, "camera")
    rehearsed(tmp_path / "practice-data-2", first, "camera")
    assert tmp_path / "practice-data-3" == folder_for(base, second, "network")
    assert tmp_path / "practice-data-2" == folder_for(base, first, "camera")


def test_a_folder_that_cannot_be_read_is_left_alone(tmp_path):
    """A folder with another kind of contest.toml is somebody else's."""
    base = tmp_path / "practice-data"
    base.mkdir()
    (base / "contest.toml").write_text("[[")
    images = ImagesSection(tmp_path, tmp_path / "truth.json")
    assert tmp_path / "practice-data-2" == folder_for(base, images, "network")


def test_a_strangers_folder_is_passed_over(tmp_path):
    """A folder of that name without a configuration, which holds photographs, is not taken."""
    base = tmp_path / "practice-data"
    base.mkdir()
    (base / "photo.jpg").touch()
    images = ImagesSection(tmp_path, tmp_path / "truth.json")
    assert tmp_path / "practice-data-2" == folder_for(base, images, "network")


def test_a_folder_that_is_mistyped_is_told_with_those_that_are_there(tmp_path):
    """Nobody who looks for a rehearsal is told to make an event."""
    rehearsed(tmp_path / "practice-data", ImagesSection(tmp_path / "a", tmp_path / "truth.json"))
    (tmp_path / "practice-data/referee.db").touch()
    with pytest.raises(
        InputError, match=r"practice-dta: is not there.* such as .*/practice-data\.$"
    ):
        config_in(tmp_path / "practice-dta")
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match=r"photos: is no folder of rehearsals"):
        config_in(tmp_path / "photos")
