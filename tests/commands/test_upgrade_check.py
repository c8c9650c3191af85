# SPDX-License-Identifier: Apache-2.0
"""`referee upgrade-check` says whether this version opens a folder, and leaves it as it is."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from tests.support.contests import make_contest


def checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    """Return the exit code of the check of a folder, and its object."""
    code = main(["upgrade-check", str(folder), "--json"])
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return code, told


def test_an_event_of_this_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of this version opens as it is, before and after its first session."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    code, told = checked(tmp_path, capsys)
    assert (0, True, []) == (code, told["opens"], told["lacking"])
    contest.config.database.unlink()
    assert 0 == checked(tmp_path, capsys)[0]
    assert not contest.config.database.exists()


def test_a_key_of_a_later_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration with a section that is unknown here is refused with the way out."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    with contest.config.path.open("a") as file:
        file.write("[telepathy]\n")
    code, told = checked(tmp_path, capsys)
    assert (1, False) == (code, told["opens"])
    assert "no section [telepathy]" in str(told["text"])
    assert "work with the version that wrote" in str(told["text"])


def test_a_fact_that_was_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A database that somebody edited is found before an upgrade."""
    contest = make_contest(tmp_path, mode="event")
    with closing(contest.database) as database:
        database.connection.execute("drop trigger audit_no_update")
    code, told = checked(tmp_path, capsys)
    assert 1 == code and "the schema lacks trigger audit_no_update" in str(told["text"])


def test_what_is_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of another kind in the database's place is told in a sentence."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    contest.config.database.write_bytes(b"no database" * 999)
    code, told = checked(tmp_path, capsys)
    assert 1 == code and "cannot be opened as a database" in str(told["text"])


def test_a_folder_without_an_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without a configuration is wrong use."""
    assert 2 == main(["upgrade-check", str(tmp_path)])
    assert "has no contest.toml" in capsys.readouterr().err
