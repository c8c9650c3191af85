# SPDX-License-Identifier: Apache-2.0
"""The version names the commit where the program's files or its checkout know it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import referee
from referee.cli import main
from referee.service.setup import commit as module
from referee.service.setup.commit import version_text
from tests.support.programs import GIT


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str | None]:
    """Return a function that tells the commit of a program whose files lie in `tmp_path`."""
    (tmp_path / "referee").mkdir()
    monkeypatch.setattr(referee, "__file__", str(tmp_path / "referee" / "__init__.py"))
    return module.commit.__wrapped__


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; return what it printed."""
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def checkout(folder: Path) -> str:
    """Make a checkout with one commit; return the commit."""
    (folder / "referee" / "commit.txt").write_text("$Format:%H$\n")
    (folder / ".gitattributes").write_text("referee/commit.txt export-subst\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "begin")
    return git(folder, "rev-parse", "HEAD")


def test_a_file_that_git_filled_in_knows_the_commit(known, tmp_path: Path) -> None:
    """A wheel that was built from an archive tells the commit of the archive."""
    (tmp_path / "referee" / "commit.txt").write_text("0123456789abcdef" * 2 + "01234567\n")
    assert "0123456789ab" == known()


def test_a_folder_without_git_knows_no_commit(known, tmp_path: Path) -> None:
    """The text that git has not filled in is no commit, and no file is none either."""
    assert known() is None
    (tmp_path / "referee" / "commit.txt").write_text("$Format:%H$\n")
    assert known() is None


@pytest.mark.needs(GIT)
def test_a_checkout_tells_its_commit_and_whether_it_was_changed(known, tmp_path: Path) -> None:
    """The commit stands alone while the files are those of the commit, whatever tags it has."""
    made = checkout(tmp_path)[:12]
    git(tmp_path, "tag", "v9.9.9")
    assert made == known()
    (tmp_path / ".gitattributes").write_text("# changed\n")
    assert f"{made}, changed" == known()


@pytest.mark.needs(GIT)
def test_an_archive_of_git_tells_the_commit_that_the_checkout_told(known, tmp_path: Path) -> None:
    """What a release is built from names its commit."""
    made = checkout(tmp_path)
    archived = git(tmp_path, "archive", "--format=tar", "HEAD", "referee/commit.txt")
    assert made in archived


@pytest.mark.needs(GIT)
def test_somebody_elses_repository_around_the_program_is_not_asked(
    known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual environment within a checkout of another project tells no commit of that one."""
    checkout(tmp_path)
    (tmp_path / "packages" / "referee").mkdir(parents=True)
    monkeypatch.setattr(referee, "__file__", str(tmp_path / "packages/referee/__init__.py"))
    assert known() is None


def test_the_command_prints_version_and_commit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`referee --version` is one line."""
    monkeypatch.setattr(module, "commit", lambda: "0123456789ab")
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert f"referee {referee.__version__} (commit 0123456789ab)\n" == capsys.readouterr().out
    monkeypatch.setattr(module, "commit", lambda: None)
    assert referee.__version__ == version_text()


def test_the_time_of_the_commit_is_known_with_it(known, tmp_path: Path) -> None:
    """The file's second line has it; without git and without the line nobody knows it."""
    time = module.commit_time.__wrapped__
    assert time() is None
    noted = tmp_path / "referee" / "commit.txt"
    noted.write_text("0123456789abcdef" * 2 + "01234567\n2026-11-28T12:00:00+01:00\n")
    assert ("0123456789ab", datetime(2026, 11, 28, 11, tzinfo=UTC)) == (known(), time())
    noted.write_text("$Format:%H$\n$Format:%cI$\n")
    assert time() is None


@pytest.mark.needs(GIT)
def test_a_checkout_knows_the_time_of_its_commit(known, tmp_path: Path) -> None:
    """It is git's own."""
    checkout(tmp_path)
    made = datetime.fromisoformat(git(tmp_path, "log", "-1", "--format=%cI"))
    assert made == module.commit_time.__wrapped__()
