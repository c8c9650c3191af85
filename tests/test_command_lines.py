# SPDX-License-Identifier: Apache-2.0
"""Both command lines, `referee` and `python -m power`, behave alike."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from power.logs.power_log import COLUMNS
from referee import cli
from tests.test_layers import SHARED_BY_COMMANDS, module_name, sources

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
    assert {name.replace("-", "_") for name in COMMANDS} | SHARED == modules


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` describes a command in a sentence and explains each of its options."""
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert 0 == end.value.code
    assert f"usage: referee {command}" in capsys.readouterr().out


def codes_of(tree: ast.Module) -> set[int]:
    """Return the exit codes that the functions of a command's module return as numbers.

    They are the functions that get the parsed arguments and return a number, and those of the same
    module whose result they return.
    """
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    named = {
        name.id: value.value
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Tuple)
        for name, value in zip(getattr(one.targets[0], "elts", []), one.value.elts)
        if isinstance(value, ast.Constant) and isinstance(value.value, int)
    }
    waiting = [
        name
        for name, one in functions.items()
        if one.args.args[:1]
        and one.args.args[0].arg in ("args", "options")
        and ast.unparse(one.returns or ast.Constant(None)) == "int"
    ]
    found: set[int] = set()
    for name in waiting:  # It grows meanwhile.
        for node in ast.walk(functions[name]):
            for value in _returned(node.value) if isinstance(node, ast.Return) else ():
                if isinstance(value, ast.Constant) and isinstance(value.value, int):
                    found.add(value.value)
                elif isinstance(value, ast.Name) and value.id in named:
                    found.add(named[value.id])
                elif isinstance(value, ast.Call):
                    called = ast.unparse(value.func)
                    waiting += [called] if called in functions and called not in waiting else []
    return found


def _returned(value: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what an expression may give: both sides of a choice."""
    if isinstance(value, ast.IfExp):
        yield from (value.body, value.orelse)
    elif value is not None:
        yield value


def codes_by_command() -> dict[str, set[int]]:
    """Return the exit codes of the modules of each command, by what is typed."""
    found: dict[str, set[int]] = {}
    for path, tree in sources().items():
        before, part, rest = module_name(path).partition(".commands.")
        if part and rest.partition(".")[0] not in SHARED:
            prog = "python -m power" if before == "power" else "referee"
            command = rest.partition(".")[0].replace("_", "-")
            found.setdefault(f"{prog} {command}", set()).update(codes_of(tree))
    return found


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    """The page of the commands has each exit code, and each command whose answer may be no."""
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8").partition("## Exit codes")[2]
    codes = codes_by_command()
    assert {0, 1, 2} == set().union(*codes.values())
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert {0, 1, 2, 128 + signal.SIGPIPE} == told
    says_no = {command for command, found in codes.items() if 1 in found}
    assert says_no == set(re.findall(r"^\| `([a-z -]+)` \|", page, re.MULTILINE))
