# SPDX-License-Identifier: Apache-2.0
"""The tree of commands, and the search for the command of a typed header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from power.emulator.errors import CommandRefused
from power.emulator.grammar import Pattern, Unit
from power.emulator.instrument import Instrument

Numbers = tuple[int, ...]
Data = tuple[str, ...]
Write = Callable[[Instrument, Numbers, Data], None]
Ask = Callable[[Instrument, Numbers, Data], str | bytes]
Listed = Callable[[Instrument], Sequence[Numbers]]


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

    def writer(self, unit: Unit) -> tuple[Write, Numbers]:
        """Return a command's action and its numbers; refuse an undefined header."""
        for candidate in self._commands:
            numbers = candidate.pattern.match(list(unit.words))
            if numbers is not None and candidate.write is not None:
                return candidate.write, numbers
        raise CommandRefused(113)

    def asked(self, unit: Unit, meter: Instrument) -> list[tuple[Command, Ask, Numbers]]:
        """Return the settings that a query asks for: one, or all below a group's header.

        A query of a setting names its last word, also where a command may leave it out: `SCALing?`
        is the group, `SCALing:STATe?` the setting (page 5-4).
        """
        words = list(unit.words)
        for candidate in self._commands:
            numbers = candidate.pattern.match(words)
            if numbers is not None and candidate.ask is not None:
                if not candidate.is_setting or candidate.pattern.names_last(words):
                    return [(candidate, candidate.ask, numbers)]
        group = self._group(words, meter)
        if not group:
            raise CommandRefused(113)
        return group

    def _group(
        self, words: list[tuple[str, int | None]], meter: Instrument
    ) -> list[tuple[Command, Ask, Numbers]]:
        found: list[tuple[Command, Ask, Numbers]] = []
        for candidate in self._commands:
            nodes = candidate.pattern.nodes
            if candidate.ask is None or not candidate.is_setting:
                continue
            above = (Pattern("", nodes[:depth]) for depth in range(1, len(nodes)))
            if any(group.match(words) is not None for group in above):
                found += [
                    (candidate, candidate.ask, numbers) for numbers in candidate.listed(meter)
                ]
        return found
