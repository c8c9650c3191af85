# SPDX-License-Identifier: Apache-2.0
"""The person at the terminal: questions on stderr, answers as lines of stdin."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Mapping

from power.checklist.tools import Answer, StepSkipped, WalkEnded
from power.commands.output import say

_LOOK_S = 0.5


class TerminalPerson:
    """A person who reads stderr and types lines; the end of the input ends the walk."""

    def __init__(self, read_line: Callable[[], str] | None = None) -> None:
        self._read_line = read_line or _read_line

    def show(self, text: str) -> None:
        """Show a line."""
        say(text)

    def wait(self, task: str) -> None:
        """Name a task at the meter, and return when the person presses Enter."""
        self._ask(f">> {task}\n   Enter: done   s: skip this step   q: end, and go on later")

    def choose(self, question: str, choices: Mapping[str, str]) -> Answer:
        """Ask until the line begins with one of the choices; the rest of it is the remark."""
        meanings = "   ".join(f"{word}: {meaning}" for word, meaning in choices.items())
        text = f">> {question}\n   {meanings}   s: skip   q: end   (a remark may follow)"
        while True:
            word, _, remark = self._ask(text).partition(" ")
            if word.lower() in choices:
                return Answer(word.lower(), remark.strip())
            text = f"   {word!r} is none of {', '.join(choices)}, s, q"

    def _ask(self, text: str) -> str:
        say(text)
        line = self._read_line()
        answer = line.strip()
        if not line or answer.lower() == "q":
            raise WalkEnded
        if answer.lower() == "s":
            raise StepSkipped
        return answer


def _read_line() -> str:
    """Return the next line of stdin.

    Ctrl-C that comes right before a read begins would be felt only after the next line. So a
    terminal, which gives one line a read, is read when it has one.
    """
    if sys.stdin.isatty() and sys.platform != "win32":
        while not select.select([sys.stdin], [], [], _LOOK_S)[0]:
            pass
    return sys.stdin.readline()
