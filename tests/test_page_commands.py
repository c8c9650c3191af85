# SPDX-License-Identifier: Apache-2.0
"""Every command of the documents runs as it stands, or its block says why not.

A block of commands runs in a folder that has what a reader would have by then, unless the line
before it is `<!-- not run: the reason -->`. Also a block that does not run is parsed: each of its
lines is one that the program takes.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from power import cli as power_cli
from referee import cli
from tests.support.emulators import Emulator
from tests.support.page_worlds import WORLDS, write_files_of
from tests.test_links import PAGES

# Some record for a second, and all commands are imported.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
KINDS = ("console", "sh", "bash")
METER = "TCPIP::192.168.1.5::INSTR"
"""The meter of the documents; an emulated one takes its place."""


@dataclass(frozen=True)
class Command:
    """A line of a page as somebody types it, and the lines that the page shows below it."""

    text: str
    shown: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The words, without a comment and without where the output goes."""
        return shlex.split(self.text.partition(" > ")[0], comments=True)

    @property
    def target(self) -> str | None:
        """The file that takes the output."""
        found = re.search(r" > (\S+)", self.text)
        return found[1] if found else None

    @property
    def fails(self) -> bool:
        """Whether the page shows that the command refuses."""
        return any(re.match(r"(referee(?: \w+)?|error): .", line) for line in self.shown)


@dataclass(frozen=True)
class Block:
    """A fenced block of commands, and the reason why it does not run."""

    page: Path
    line: int
    reason: str
    commands: tuple[Command, ...]

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of commands of a page."""
    fenced = re.compile(
        r"(?:^<!-- not run: (.+?) -->\n)?^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE
    )
    text = page.read_text(encoding="utf-8")
    for found in fenced.finditer(text):
        reason, kind, body = found.groups()
        commands = tuple(_typed(kind, re.sub(r"\\\n\s*", "", body)))
        if commands:
            yield Block(page, 1 + text[: found.start()].count("\n"), reason or "", commands)


def _typed(kind: str, body: str) -> Iterator[Command]:
    """Yield the commands of a block: in a `console`, those behind a `$`."""
    if kind in KINDS and kind != "console":
        lines = [line for line in body.splitlines() if line and not line.startswith("#")]
        yield from (Command(line, ()) for line in lines)
        return
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        typed, *shown = part.splitlines()
        yield Command(typed, tuple(shown))


BLOCKS = [block for page in PAGES for block in blocks(page)]
RUN = [page for page in PAGES if any(it.page == page and not it.reason for it in BLOCKS)]


class Parsed(Exception):
    """The program has taken its command line."""


def main_of(words: list[str]) -> tuple[Any, list[str]] | None:
    """Return the program of ours that a command starts, and its arguments."""
    if words[:1] == ["referee"]:
        return cli.main, words[1:]
    if words[:3] == ["python", "-m", "power"]:
        return power_cli.main, words[3:]
    if words[:2] == ["python", "-m"] and words[2].startswith("client_sample"):
        folder = (ROOT / words[2].replace(".", "/")).is_dir()
        module = importlib.import_module(f"{words[2]}.__main__" if folder else words[2])
        return module.main, words[3:]
    return None


@pytest.fixture
def only_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each program end as soon as it has taken its command line."""
    parse = argparse.ArgumentParser.parse_args

    def parse_args(self: argparse.ArgumentParser, *args: Any, **settings: Any) -> None:
        parse(self, *args, **settings)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_args)


def test_the_pages_have_many_commands() -> None:
    """The walk finds the blocks, those that run and those that do not."""
    assert len(BLOCKS) > 70
    assert sum(len(it.commands) for it in BLOCKS if not it.reason) > 50


@pytest.mark.parametrize("block", [it for it in BLOCKS if it.reason], ids=str)
def test_a_block_that_does_not_run_says_why(block: Block) -> None:
    """The reason is more than a word, and a test that it names is there."""
    assert len(block.reason.split()) > 2
    tests = re.findall(r"tests/[\w/]+\.py", block.reason)
    assert [] == [name for name in tests if not (ROOT / name).is_file()]


@pytest.mark.usefixtures("only_parsed")
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_line_of_ours_is_understood(block: Block) -> None:
    """The programs take each line, with its commands, options and values."""
    for command in block.commands:
        words = command.words
        started = main_of(words)
        if started is not None and not command.fails:
            if "client_sample.camera" in words:
                pytest.importorskip("cv2", reason="needs the extra [camera]")
            main, arguments = started
            try:
                with pytest.raises(Parsed):
                    main(arguments)
            except SystemExit as end:  # Only --help and its like end well.
                assert 0 == end.code, command.text
        elif words[:1] == ["make"]:
            assert words[1] in TARGETS, command.text


@cache
def emulated_meter() -> Emulator:
    """Return the meter of all pages, which runs until the last one is done."""
    return Emulator("--watts", "5")


@pytest.fixture(scope="module", autouse=True)
def _end_the_meter() -> Iterator[None]:
    yield
    if emulated_meter.cache_info().currsize:
        emulated_meter().end()


def run(command: Command, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this folder, and return its exit code."""
    words = command.words
    if METER in words:
        words[words.index(METER)] = emulated_meter().resource
        if "--seconds" in words:
            words[words.index("--seconds") + 1] = "1"
    if words[0] == "export":
        monkeypatch.setenv(*words[1].split("=", 1))
        return 0
    started = main_of(words)
    if started is None:
        assert words[0] == "python", f"{command.text}: mark the block as not run, with the reason"
        return subprocess.run([sys.executable, *words[1:]], check=False, timeout=180).returncode
    with ExitStack() as stack:
        if command.target:
            file = stack.enter_context(open(command.target, "w", encoding="utf-8"))
            stack.enter_context(redirect_stdout(file))
        try:
            code: int = started[0](started[1])
        except SystemExit as end:
            return int(end.code or 0)
        return code


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run_as_they_stand(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other they succeed, or refuse where the page shows that they do."""
    if page.name in WORLDS:
        WORLDS[page.name](tmp_path)
    write_files_of(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for block in BLOCKS:
        if block.page == page and not block.reason:
            for command in block.commands:
                code = run(command, monkeypatch)
                assert command.fails == (code != 0), f"{block}: {command.text}"
