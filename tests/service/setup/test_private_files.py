# SPDX-License-Identifier: Apache-2.0
"""Only its owner can read a contest's folder and files, also those of earlier versions."""

from __future__ import annotations

import os
import stat

import pytest

from referee.service.setup.config_file import load_config
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.private_files import make_private, private_from_the_start
from tests.support.contests import make_contest


def mode(path):
    """Return the permissions of a path."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    """Use the usual umask, with which everybody can read new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_contest_is_its_owners_alone(tmp_path):
    """Database, keys and configuration are private from the first moment."""
    contest = make_contest(tmp_path)
    data = contest.config.storage.folder
    contest.database.close()
    assert 0o700 == mode(data)
    assert {0o600} == {mode(path) for path in data.iterdir()}
    assert 0o600 == mode(tmp_path / "contest.toml")


def test_a_contest_of_an_earlier_version_is_closed(tmp_path):
    """The next preparation closes files that others could read."""
    contest = make_contest(tmp_path)
    contest.database.close()
    data = contest.config.storage.folder
    (data / "logs").mkdir()
    old = [data / "referee.db", data / "meter.jsonl", data / "logs" / "desk.log"]
    for path in [*old, tmp_path / "contest.toml"]:
        path.touch()
        path.chmod(0o644)
    data.chmod(0o755)
    (data / "logs").chmod(0o755)
    database, _ = prepare_contest(load_config(tmp_path / "contest.toml"))
    database.close()
    assert [0o600] * 4 == [mode(path) for path in [*old, tmp_path / "contest.toml"]]
    assert [0o700] * 2 == [mode(data), mode(data / "logs")]


def test_what_is_not_ours_is_left_alone(tmp_path):
    """Other files in the folder, and the targets of links, keep their permissions."""
    other, behind = tmp_path / "data" / "notes.txt", tmp_path / "elsewhere.db"
    other.parent.mkdir()
    for path in (other, behind):
        path.touch()
        path.chmod(0o644)
    (tmp_path / "data" / "referee.db").symlink_to(behind)
    make_private(tmp_path / "data")
    assert (0o644, 0o644) == (mode(other), mode(behind))


def test_files_of_the_block_are_private_and_later_ones_are_not(tmp_path):
    """The private umask ends with the block, even after an error."""
    with pytest.raises(ZeroDivisionError), private_from_the_start():
        (tmp_path / "within").touch()
        raise ZeroDivisionError
    (tmp_path / "after").touch()
    assert (0o600, 0o644) == (mode(tmp_path / "within"), mode(tmp_path / "after"))
