# SPDX-License-Identifier: Apache-2.0
"""A rehearsal on a disk that fills up during a session and has room again later."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Material, Rehearse
from tests.support.running import Program, eventually, request

pytestmark = pytest.mark.slow

_DISK = "300m"  # A rehearsal needs 256 MiB of free space before a session.


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a file system of its own; skip where none can be mounted."""
    folder = tmp_path / "data"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: run the tests as root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until the file system has no room for one byte more."""
    with path.open("wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def log_in(program: Program) -> int:
    """Try to log in and return the status."""
    return request(f"{program.contest}/login", b"username=me&password=practice", {})[0]


def texts(program: Program) -> str:
    """Return all notices of the board in one text."""
    return "\n".join(notice["text"] for notice in program.board()["notices"])


def test_a_full_disk_costs_no_thread_and_the_next_login_works(
    small_disk: Path, rehearse: Rehearse, material: Material
) -> None:
    """A disk that fills during a session costs an alarm, but no energy and no later session."""
    referee_ = rehearse("--seconds", "6", "--load", "6", "--update-interval", "0.1")
    assert log_in(referee_) == 200
    eventually(lambda: (referee_.session() or {}).get("state") == "RUNNING", "the session")
    filler = small_disk / "filler"
    fill(filler)
    eventually(lambda: "The disk refuses the desk's records" in texts(referee_), "the alarm")
    alarm = referee_.board()["alarm"]
    assert alarm is not None and "make room" in alarm["text"].lower()
    eventually(lambda: (referee_.session() or {}).get("state") != "RUNNING", "the session's end")
    # The desk goes on reading the meter while nothing can be written.
    assert referee_.board()["meter"]["link"] == "ok"
    assert referee_.board()["meter"]["old"] is False
    os.unlink(filler)
    row = referee_.scored()
    assert row["end_cause"] == "deadline"
    assert row["energy_wh"] == pytest.approx(6 * 6 / 3600, rel=0.002)
    eventually(lambda: "takes the desk's records again" in texts(referee_), "the all-clear")
    assert log_in(referee_) == 200
    assert "died" not in texts(referee_)
