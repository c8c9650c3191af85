# SPDX-License-Identifier: Apache-2.0
"""A start that fails leaves its folder as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import InputError
from referee.programs.failed_start import FolderBefore, SilentServer
from tests.support.contests import write_images, write_truth


def started(folder: Path, error: BaseException | None = None, *, ready: bool = False) -> None:
    """Play a start that makes files in a folder, and fails with an error."""
    before = FolderBefore.of(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "contest.lock").touch()
    with before.undone() as keep:
        (folder / "contest.toml").write_text("new")
        folder.chmod(0o700)
        (folder / "logs").mkdir(exist_ok=True)
        (folder / "logs/desk.log").touch()
        if ready:
            keep()
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [InputError("wrong"), KeyboardInterrupt()])
def test_a_new_folder_goes_with_the_folders_above_it(tmp_path: Path, error: BaseException) -> None:
    """A wrong option, and somebody who gives up before `ready`, leave nothing behind."""
    with pytest.raises(type(error)):
        started(tmp_path / "a/b", error)
    assert [] == os.listdir(tmp_path)


def test_an_empty_folder_is_empty_again(tmp_path: Path) -> None:
    """It has its earlier mode, and what a file manager had left there."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / ".DS_Store").touch()
    with pytest.raises(InputError):
        started(folder, InputError("wrong"))
    assert ([".DS_Store"], 0o755) == (os.listdir(folder), folder.stat().st_mode & 0o777)


def test_earlier_rehearsals_stay_with_their_configuration(tmp_path: Path) -> None:
    """Their files are left alone, and contest.toml is what it was."""
    (tmp_path / "contest.toml").write_text("old")
    (tmp_path / "referee.db").write_text("sessions")
    with pytest.raises(InputError):
        started(tmp_path, InputError("wrong"))
    assert "old" == (tmp_path / "contest.toml").read_text()
    assert "sessions" == (tmp_path / "referee.db").read_text()


def test_what_was_ready_stays(tmp_path: Path) -> None:
    """After `ready` an error undoes nothing, and neither does a good end."""
    with pytest.raises(InputError):
        started(tmp_path / "a", InputError("later"), ready=True)
    started(tmp_path / "b")
    assert {"a", "b"} == set(os.listdir(tmp_path))
    assert (tmp_path / "a/logs/desk.log").exists()


def test_the_logs_of_a_silent_server_stay(tmp_path: Path) -> None:
    """The error names them, so that somebody can read why the server is silent."""
    with pytest.raises(SilentServer):
        started(tmp_path / "a", SilentServer("see the logs"))
    assert (tmp_path / "a/logs/desk.log").exists()


@pytest.mark.parametrize(
    ("truth", "options", "said"),
    [
        ("no.json", (), "no.json does not exist"),
        ("other.json", (), "2.jpg"),
        ("truth.json", ("--meter", "shely:1"), "did you mean shelly:"),
        ("truth.json", ("--data", "images"), "images: is no folder of the referee's"),
        ("truth.json", ("--data", "truth.json/data"), "the folder cannot be made"),
    ],
)
def test_a_rehearsal_that_cannot_start_makes_no_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    truth: str,
    options: tuple[str, ...],
    said: str,
) -> None:
    """One sentence says what is wrong, and the folder where it was started is as before."""
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "images", ["1.jpg"])
    write_truth(tmp_path / "truth.json", [(1, "1.jpg")])
    write_truth(tmp_path / "other.json", [(1, "1.jpg"), (2, "2.jpg")])
    before = sorted(tmp_path.rglob("*"))
    assert 2 == main(["practice", "--images", "images", "--ground-truth", truth, *options])
    assert said in capsys.readouterr().err
    assert before == sorted(tmp_path.rglob("*"))
