# SPDX-License-Identifier: Apache-2.0
"""What `make` does for those who change the code, with tools that only note that they ran."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.running import PATIENCE_S

ROOT = Path(__file__).parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the Makefile, whose tools note that they ran, and fail when told so."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "setup.cfg").touch()
    tools = tmp_path / ".venv/bin"
    tools.mkdir(parents=True)
    for name in ("pip", "python", "ruff", "mypy"):
        (tools / name).write_text(
            f'#!/bin/sh\necho {name} >>ran\n[ {name} != "$EDITS" ] || '
            # An installation takes longer than a file system's clock ticks.
            "{ touch -d '1 minute ago' .venv/*-begun; touch setup.cfg; }\n"
            f'[ {name} != "$FAILS" ]\n'
        )
        (tools / name).chmod(0o755)
    (tmp_path / ".venv/made").touch()
    for path in (tmp_path / ".venv/made", tmp_path / "setup.cfg"):
        os.utime(path, (0, 0))
    return tmp_path


def make(folder: Path, target: str, **environment: str) -> tuple[int, list[str]]:
    """Make a target; return the exit code, and the tools that ran."""
    (folder / "ran").write_text("")
    done = subprocess.run(
        ["make", "--silent", target],
        cwd=folder,
        env={**os.environ, "MAKEFLAGS": "", **environment},
        capture_output=True,
        timeout=PATIENCE_S,
    )
    return done.returncode, (folder / "ran").read_text().split()


@pytest.mark.parametrize("stamp", ["run", "test", "test-all", "check", "docs", "release"])
def test_what_is_edited_during_an_installation_is_installed_next(folder: Path, stamp: str) -> None:
    """The stamp has the time at which the installation began."""
    target = f".venv/{stamp}"
    assert "pip" in make(folder, target, EDITS="pip")[1]
    assert "pip" in make(folder, target)[1]
    assert (0, []) == make(folder, target)


@pytest.mark.parametrize("fails", ["ruff", "mypy"])
def test_a_check_runs_all_its_tools_and_then_fails(folder: Path, fails: str) -> None:
    """One look tells what every tool has found."""
    make(folder, ".venv/check")
    code, ran = make(folder, "check", FAILS=fails)
    assert (2, ["ruff", "ruff", "mypy"]) == (code, ran)
    assert 0 == make(folder, "check")[0]
