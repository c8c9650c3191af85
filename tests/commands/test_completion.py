# SPDX-License-Identifier: Apache-2.0
"""`referee completion` writes what bash, zsh and fish complete by, tried in each of them."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys

import pytest

from referee.cli import main
from tests.support.programs import FISH, ZSH

pytestmark = pytest.mark.slow

# What is typed, and the whole word that it becomes; a command, one below it, an option, a choice.
TYPED = [
    ("referee prac", "practice"),
    ("referee ovic leaderb", "leaderboard"),
    ("referee practice --gro", "--ground-truth"),
    ("referee practice --track netw", "network"),
    ("referee score --detections answ", "answers.txt"),
    ("referee explain 1 --data fold", "folder"),
]


@pytest.fixture
def script_of(tmp_path, capsys, monkeypatch):
    """Return a function that writes a shell's script into an empty folder, and goes there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.txt").touch()
    (tmp_path / "folder").mkdir()

    def write(shell):
        assert 0 == main(["completion", shell])
        path = tmp_path / f".{shell}-script"
        path.write_text(capsys.readouterr().out)
        return path

    return write


def said(*command):
    """Run a program without a person's settings; return what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert "" == done.stderr
    return done.stdout


def test_bash_completes(script_of):
    """The Tab key of bash completes commands, options, choices and files."""
    script = script_of("bash")
    for line, whole in TYPED:
        words = " ".join(line.split())
        told = said(
            *("bash", "--norc", "-c"),
            f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
            'complete -p referee >/dev/null && _shtab_referee && echo "${COMPREPLY[@]}"',
        )
        assert [whole] == told.split(), line


@pytest.mark.needs(FISH)
def test_fish_completes(script_of):
    """fish offers the same, with a line about each."""
    script = script_of("fish")
    for line, whole in TYPED:
        told = said("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
        assert [whole] == [row.split("\t")[0].rstrip("/") for row in told.splitlines()], line


class Zsh:
    """A zsh at a terminal of its own, as a person has it, without a person's settings."""

    def __init__(self):
        """Start it, and wait for its first prompt."""
        path = shutil.which("zsh")
        self._number, self._terminal = pty.fork()
        if self._number == 0:
            os.environ["TERM"] = "dumb"
            os.execv(path, [path, "-f", "-i"])
        self.shown = ""

    def type(self, text):
        """Type a text."""
        os.write(self._terminal, text.encode())

    def wait_for(self, text):
        """Read until the terminal shows a text, and forget what was before it."""
        while text not in self.shown:
            ready, _, _ = select.select([self._terminal], [], [], 180)
            assert ready, self.shown
            try:
                self.shown += os.read(self._terminal, 4096).decode(errors="replace")
            except OSError:  # Linux says so that the shell has ended.
                pytest.fail(f"{text!r} did not come: {self.shown}")
        self.shown = self.shown.partition(text)[2]

    def close(self):
        """End it."""
        os.close(self._terminal)
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)


@pytest.fixture
def zsh():
    """Return a running zsh."""
    shell = Zsh()
    yield shell
    shell.close()


@pytest.mark.needs(ZSH)
def test_zsh_completes(script_of, tmp_path, zsh):
    """The Tab key at a zsh completes what is typed there, as for a person."""
    functions = tmp_path / ".functions"
    functions.mkdir()
    script_of("zsh").rename(functions / "_referee")
    # The prompts are words that no command prints, so what stands behind one is typed into it.
    zsh.type(f"fpath=({functions} $fpath); autoload -U compinit; compinit -D -u; PS1='<''first>'\n")
    zsh.wait_for("<first>")
    for number, (line, whole) in enumerate(TYPED):
        zsh.type(f"{line}\t")
        zsh.wait_for(f"{line.rpartition(' ')[0]} {whole}")
        zsh.type(f"\x15PS1='<''{number}>'\n")
        zsh.wait_for(f"<{number}>")


def test_without_the_library_the_command_says_what_to_install(monkeypatch, capsys):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert 2 == main(["completion", "bash"])
    assert "pip install shtab (the extra 'completion')" in capsys.readouterr().err
