# SPDX-License-Identifier: Apache-2.0
"""A contest as a command opens it, on a disk that takes no writes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.service.teams.registration import add_team
from referee.store.sessions import create_session
from referee.store.teams import Registration
from tests.support.contests import make_contest
from tests.support.mortal_disk import Disk

pytestmark = pytest.mark.slow


@pytest.fixture
def config(mortal: Disk) -> Path:
    """Return contest.toml of an event whose team and session stand in the log only."""
    contest = make_contest(mortal.folder, mode="event", seconds=600)
    with closing(contest.database):
        add_team(contest, "ants", Registration(), "Kim")
        with contest.database.write() as connection:
            now = contest.clock.now()
            create_session(connection, team="ants", length_s=600.0, order_seed=None, now=now)
        database = contest.config.database
        # SQLite empties the log when the database is closed; a dead laptop leaves it.
        left = {it: it.read_bytes() for it in (database, database.with_name("referee.db-wal"))}
    for path, content in left.items():
        path.write_bytes(content)
    with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as connection:
        assert (0,) == connection.execute("select count(*) from sessions").fetchone()
    mortal.refuse_writes()
    return contest.config.path


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder where the commands make their copies."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_an_event_on_a_read_only_disk_is_read_with_its_newest_facts(
    config: Path, copies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every reading command sees what only the log holds, and leaves no copy behind."""

    def said(*command: str) -> str:
        assert 0 == main([*command, "--config", str(config)])
        return capsys.readouterr().out

    assert "ants" == json.loads(said("results", "--json"))["entries"][0]["team"]
    assert "ants" in said("team", "list")
    assert "register team" in said("audit")
    bundle, report = tmp_path / "1.zip", tmp_path / "doctor.zip"
    said("export", "1", "--partial", "--out", str(bundle))
    assert zipfile.is_zipfile(bundle)
    said("doctor", "--out", str(report))
    with zipfile.ZipFile(report) as members:
        facts = json.loads(members.read("database.json"))
        assert ([], 1) == (facts["faults"], facts["rows"]["sessions"])
        assert "ants" in members.read("audit.json").decode()
        assert "ants" in members.read("sessions.json").decode()
    assert [] == list(copies.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ("team", "add", "bees"),
        ("team", "slips", "--out", "{}/slips.html"),
        ("operator", "add", "Kim", "--role", "assistant"),
        ("finalize", "--approved-by", "Kim", "--reason", "x"),
        ("serve",),
    ],
)
def test_a_command_that_writes_says_that_the_disk_is_read_only(
    command: tuple[str, ...], config: Path, tmp_path: Path
) -> None:
    """All that it prints is one sentence with the read-only disk; it writes no slip."""
    copies = tmp_path / "copies"
    copies.mkdir()
    words = [word.format(tmp_path) for word in command]
    ended = subprocess.run(
        [sys.executable, "-m", "referee", *words, "--config", str(config)],
        env=os.environ | {"TMPDIR": str(copies)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ended.returncode in (1, 2) and "" == ended.stdout
    assert f"the disk of {config.parent}" in ended.stderr and "is read-only" in ended.stderr
    assert 1 == len(ended.stderr.splitlines()), ended.stderr
    assert not (tmp_path / "slips.html").exists()
    assert [] == list(copies.iterdir())


def test_without_room_for_the_copy_the_command_names_the_way_out(
    config: Path, copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder for the copy that is not there is told, with the variable that names another."""
    copies.rmdir()
    assert 1 == main(["results", "--config", str(config)])
    assert "Let TMPDIR name a folder" in capsys.readouterr().err


def test_a_page_of_results_is_refused_on_the_read_only_disk(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that cannot be written is told in one sentence."""
    page = config.with_name("results.html")
    assert 2 == main(["results", "--html", str(page), "--config", str(config)])
    assert f"{page} cannot be written: Read-only file system." in capsys.readouterr().err
