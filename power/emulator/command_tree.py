# SPDX-License-Identifier: Apache-2.0
"""The tree of commands, and the search for the command of a typed header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from power.emulator.errors import CommandRefused
from power.emulator.grammar import Pattern, Unit, Words
from power.emulator.instrument import Instrument

Numbers = tuple[int, ...]
Data = tuple[str, ...]
Write = Callable[[Instrument, Numbers, Data], None]
Ask = Callable[[Instrument, Numbers, Data], str | bytes]
Listed = Callable[[Instrument], Sequence[Numbers]]

# How many different headers a tree remembers; a measuring program uses some tens.
_REMEMBERED = 1000


@dataclass(frozen=True)
class Command:
    """One command: its pattern, its action, its answer, and whether the answer has a header.

    `listed` returns the numbers of a numbered header that the answer about its group has.
    """

    pattern: Pattern
    write: Write | None
    ask: Ask | None
    headed: bool
    listed: Listed

    @property
    def is_setting(self) -> bool:
        """Tell whether its answer can be sent back as a command."""
        return self.write is not None and self.ask is not None and self.headed


def command(
    text: str,
    *,
    write: Write | None = None,
    ask: Ask | None = None,
    headed: bool = True,
    listed: Listed | None = None,
) -> Command:
    """Return a command for a pattern in the manual's notation."""
    pattern = Pattern.parse(text)
    numbered = any(node.numbered for node in pattern.nodes)
    return Command(pattern, write, ask, headed, listed or (lambda meter: () if numbered else ((),)))


class Tree:
    """The tree of all commands; it finds a command or a whole group of commands (page 5-4)."""

    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = commands
        # A program sends the same few headers all the time, and a search looks at every command.
        self._written = lru_cache(_REMEMBERED)(self._find_written)
        self._asked = lru_cache(_REMEMBERED)(self._find_asked)
        self._group = lru_cache(_REMEMBERED)(self._find_group)

    def writer(self, unit: Unit) -> tuple[Write, Numbers]:
        """Return a command's action and its numbers; refuse an undefined header."""
        written = self._written(unit.words)
        if written is None:
            raise CommandRefused(113)
        return written

    def asked(self, unit: Unit, meter: Instrument) -> list[tuple[Command, Ask, Numbers]]:
        """Return the settings that a query asks for: one, or all below a group's header.

        A query of a setting names its last word, also where a command may leave it out: `SCALing?`
        is the group, `SCALing:STATe?` the setting (page 5-4).
        """
        command = self._asked(unit.words)
        if command is not None:
            return [command]
        group = [
            (member, ask, numbers)
            for member, ask in self._group(unit.words)
            for numbers in member.listed(meter)
        ]
        if not group:
            raise CommandRefused(113)
        return group

    def _find_written(self, words: Words) -> tuple[Write, Numbers] | None:
        for candidate in self._commands:
            numbers = candidate.pattern.match(words)
            if numbers is not None and candidate.write is not None:
                return candidate.write, numbers
        return None

    def _find_asked(self, words: Words) -> tuple[Command, Ask, Numbers] | None:
        for candidate in self._commands:
            numbers = candidate.pattern.match(words)
            if numbers is not None and candidate.ask is not None:
                if not candidate.is_setting or candidate.pattern.names_last(words):
                    return candidate, candidate.ask, numbers
        return None

    def _find_group(self, words: Words) -> list[tuple[Command, Ask]]:
        """Return the settings below a group's header, whatever their numbers."""
        queries: list[tuple[Command, Ask]] = []
        for candidate in self._commands:
            nodes = candidate.pattern.nodes
            if candidate.ask is None or not candidate.is_setting:
                continue
            above = (Pattern("", nodes[:depth]) for depth in range(1, len(nodes)))
            if any(group.match(words) is not None for group in above):
                queries.append((candidate, candidate.ask))
        return queries
