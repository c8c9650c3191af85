# SPDX-License-Identifier: Apache-2.0
"""A look at an event sees what its servers would, and changes nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import ConfigError
from referee.service.preflight.slow import TRUTH, material
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.look import looked_at
from referee.service.setup.own_folder import Owner
from tests.support.contests import make_contest, write_images, write_truth


@pytest.fixture
def event(tmp_path: Path) -> Config:
    """Return a fresh event with two images."""
    home = tmp_path / "event"
    assert 0 == main(["init", str(home)])
    write_images(home / "images", ["1.jpg", "2.jpg"])
    write_truth(home / "ground_truth.json", [(1, "1.jpg"), (2, "2.jpg")])
    return load_config(home / "contest.toml")


def state(folder: Path) -> dict[str, tuple[int, str]]:
    """Return mode and contents of all that is in a folder; SQLite's own files come and go."""
    return {
        str(path): (
            path.stat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in [folder, *folder.rglob("*")]
    }


def test_nothing_is_made_of_an_event_without_a_database(event: Config, tmp_path: Path) -> None:
    """The images of now are there, with what their checks must hold for; the folder has no file."""
    event.storage.folder.chmod(0o755)
    before = state(tmp_path)
    with looked_at(event, keeping=False) as look:
        assert (2, False, "") == (look.contest.image_count, look.keeps, look.folder_fault)
        assert TRUTH in material(look.contest)
    assert before == state(tmp_path)


def test_a_folder_that_is_not_there_is_not_made(event: Config, tmp_path: Path) -> None:
    """Not even for findings that could be kept."""
    shutil.rmtree(event.storage.folder)
    (event.path.parent / "signing.pub").unlink()
    before = state(tmp_path)
    with looked_at(event, keeping=True) as look:
        assert (2, False, Owner.NOBODY) == (look.contest.image_count, look.keeps, look.owner)
        assert look.playable.config.storage.folder == look.scratch
    assert before == state(tmp_path)
    assert not look.scratch.exists()


def test_a_strangers_folder_is_named(event: Config, tmp_path: Path) -> None:
    """The fault says what the folder holds, and the rest of the look goes on."""
    shutil.rmtree(event.storage.folder)
    event.storage.folder.mkdir()
    (event.storage.folder / "a.jpg").touch()
    before = state(tmp_path)
    with looked_at(event, keeping=True) as look:
        assert "holds a.jpg" in look.folder_fault
        assert 2 == look.contest.image_count
    assert before == state(tmp_path)


def test_changed_images_are_seen_and_not_stored(tmp_path: Path) -> None:
    """The manifest of the event stays what it was, and the look has the new one."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    write_truth(tmp_path / "truth.json", [(1, "1.jpg"), (2, "2.jpg")])
    for name in ("3.jpg", "4.jpg"):
        (tmp_path / "images" / name).unlink()
    before = state(tmp_path)
    with looked_at(contest.config, keeping=False) as look:
        assert (2, None) == (look.contest.image_count, look.material_fault)
    assert before == state(tmp_path)


def test_a_database_of_an_earlier_version_is_not_brought_up_to_date(tmp_path: Path) -> None:
    """A copy is, so the look works, and what is found is not kept."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    with closing(sqlite3.connect(contest.config.database)) as connection:
        connection.execute("drop trigger migrations_no_delete")
        connection.execute("delete from migrations where name like 'referee/0006%'")
        connection.execute("drop table image_counts")
        connection.commit()
    before = state(tmp_path)
    with looked_at(contest.config, keeping=True) as look:
        assert (4, False, Owner.REFEREE) == (look.contest.image_count, look.keeps, look.owner)
    assert before == state(tmp_path)


def test_a_key_without_its_other_part_is_told(event: Config) -> None:
    """It is what the servers would refuse."""
    (event.storage.folder / "signing.key").unlink()
    with pytest.raises(ConfigError, match="private part"), looked_at(event, keeping=False):
        pass


def test_with_keeping_the_events_own_folder_has_its_database(event: Config) -> None:
    """What slow checks find lasts there, and only its owner can read it."""
    with looked_at(event, keeping=True) as look:
        assert look.keeps
    assert 0o600 == event.database.stat().st_mode & 0o777
    assert os.listdir(event.storage.folder)
