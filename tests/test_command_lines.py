# SPDX-License-Identifier: Apache-2.0
"""Both command lines, `referee` and `python -m power`, behave alike."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from power.logs.power_log import COLUMNS
from referee import cli
from tests.test_layers import SHARED_BY_COMMANDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
COMMANDS = [*(name for name, _, _ in cli.all_commands()), cli.HIDDEN]
FOLDERS = (ROOT / "referee/commands", *ROOT.glob("referee/extras/*/commands"))
SHARED = {name.rpartition(".")[2] for name in SHARED_BY_COMMANDS if name.startswith("referee.")}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of three readings, the least for an audit."""
    path = tmp_path / "log.csv"
    row = "{0}.0000,2026-06-07T12:00:0{0}.000+00:00,120.0,0.05,6.0,{1},{0},START\n"
    rows = [row.format(second, second / 600) for second in range(3)]
    path.write_text("".join([",".join(COLUMNS) + "\n", *rows]))
    return path


@pytest.fixture
def score(tmp_path: Path) -> list[str]:
    """Return the arguments of a score of one box."""
    (tmp_path / "truth.csv").write_text("1,1,10,10,59,59\n")
    (tmp_path / "answers.txt").write_text("1 1 0.9 10 10 59 59\n")
    return [
        *("referee", "score", "--ground-truth", str(tmp_path / "truth.csv")),
        *("--detections", str(tmp_path / "answers.txt")),
    ]


def run_without_reader(arguments: list[str]) -> tuple[int, str]:
    """Run a command into a pipe without a reader; return its exit code and its standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=180,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


def test_a_score_that_is_piped_into_head_ends_in_silence(score: list[str]) -> None:
    """A score into a closed pipe ends without a traceback."""
    assert (128 + signal.SIGPIPE, "") == run_without_reader(score)


def test_an_audit_that_is_piped_into_head_ends_in_silence(log: Path) -> None:
    """An audit of the meter's command line into a closed pipe ends without a traceback."""
    assert (128 + signal.SIGPIPE, "") == run_without_reader(["power", "audit", str(log)])


def test_every_command_has_its_module_and_every_module_is_a_command() -> None:
    """A folder named `commands` holds commands, and what several of them share."""
    assert len(FOLDERS) > 2
    modules = {
        path.stem for folder in FOLDERS for path in folder.iterdir() if path.name[:1].isalpha()
    }
    assert set(COMMANDS) | SHARED == modules


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` describes a command in a sentence and explains each of its options."""
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert 0 == end.value.code
    assert f"usage: referee {command}" in capsys.readouterr().out
