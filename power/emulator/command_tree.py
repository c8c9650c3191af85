# SPDX-License-Identifier: Apache-2.0
"""The tree of commands, and the search for the command of a typed header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from power.emulator.errors import Refused
from power.emulator.grammar import Pattern, Unit
from power.emulator.instrument import Instrument

Numbers = tuple[int, ...]
Data = tuple[str, ...]
Write = Callable[[Instrument, Numbers, Data], None]
Ask = Callable[[Instrument, Numbers, Data], str | bytes]


@dataclass(frozen=True)
class Command:
    """One command: its pattern, its action, its answer, and whether the answer has a header."""

    pattern: Pattern
    write: Write | None
    ask: Ask | None
    headed: bool


def command(
    text: str, *, write: Write | None = None, ask: Ask | None = None, headed: bool = True
) -> Command:
    """Return a command for a pattern in the manual's notation."""
    return Command(Pattern.parse(text), write, ask, headed)


class Tree:
    """The tree of all commands; it finds a command or a whole group of commands (page 5-4)."""

    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = commands

    def writer(self, unit: Unit) -> tuple[Write, Numbers]:
        """Return a command's action and its numbers; refuse an undefined header."""
        for candidate in self._commands:
            numbers = candidate.pattern.match(list(unit.words))
            if numbers is not None and candidate.write is not None:
                return candidate.write, numbers
        raise Refused(113)

    def asked(self, unit: Unit) -> list[tuple[Command, Ask, Numbers]]:
        """Return the settings that a query asks for: one, or all below a group's header."""
        words = list(unit.words)
        for candidate in self._commands:
            numbers = candidate.pattern.match(words)
            if numbers is not None and candidate.ask is not None:
                return [(candidate, candidate.ask, numbers)]
        group = self._group(words)
        if not group:
            raise Refused(113)
        return group

    def _group(self, words: list[tuple[str, int | None]]) -> list[tuple[Command, Ask, Numbers]]:
        found: list[tuple[Command, Ask, Numbers]] = []
        for candidate in self._commands:
            nodes = candidate.pattern.nodes
            if candidate.write is None or candidate.ask is None or not candidate.headed:
                continue
            if any(node.numbered for node in nodes) or len(nodes) < 2:
                continue
            if Pattern("", nodes[:-1]).match(words) is not None:
                found.append((candidate, candidate.ask, ()))
        return found
