# SPDX-License-Identifier: Apache-2.0
"""The command tree: patterns as the manual writes them, and how typed headers match them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from power.emulator.errors import CommandRefused

_NODE = re.compile(r"(\[)?:?(\*?[A-Za-z]+)(<x>)?\]?")
_TYPED = re.compile(r"([A-Za-z]+)(\d*)")

Words = tuple[tuple[str, int | None], ...]
"""The words of a typed header, each with its number if it has one."""


@dataclass(frozen=True)
class Node:
    """One word of a pattern: `[:INPut]` is optional, `ITEM<x>` is numbered."""

    word: str
    optional: bool
    numbered: bool

    @cached_property
    def short(self) -> str:
        """The capitals of the word."""
        return "".join(character for character in self.word if not character.islower())

    @cached_property
    def long(self) -> str:
        """The whole word in capitals."""
        return self.word.upper()

    def accepts(self, typed: str) -> bool:
        """Tell whether a typed word is the short form, the long form, or between (page 5-4)."""
        given = typed.upper()
        return self.long.startswith(given) and len(given) >= len(self.short)


@dataclass(frozen=True)
class Pattern:
    """The header of one command, parsed from `[:INPut]:VOLTage:RANGe`."""

    text: str
    nodes: tuple[Node, ...]

    @staticmethod
    def parse(text: str) -> Pattern:
        """Return the pattern in the manual's notation."""
        nodes = tuple(
            Node(match[2], match[1] is not None, match[3] is not None)
            for match in _NODE.finditer(text)
        )
        return Pattern(text, nodes)

    def match(self, typed: Words) -> tuple[int, ...] | None:
        """Return the numbers of the numbered nodes (1 where missing), or None for no match."""
        for numbers in _matches(self.nodes, typed):
            return numbers
        return None

    def names_last(self, typed: Words) -> bool:
        """Tell whether the typed words end with the pattern's last node, which may be optional."""
        return bool(typed) and self.nodes[-1].accepts(typed[-1][0])

    def header(self, verbose: bool, numbers: tuple[int, ...]) -> str:
        """Return a reply's header: long if verbose, else short without optional nodes (5-5)."""
        left = list(numbers)
        words = []
        for node in self.nodes:
            number = str(left.pop(0)) if node.numbered else ""
            if verbose:
                words.append(node.long + number)
            elif not node.optional:
                words.append(node.short + number)
        return ":" + ":".join(words)


def _matches(nodes: tuple[Node, ...], typed: Words) -> Iterator[tuple[int, ...]]:
    if not nodes:
        if not typed:
            yield ()
        return
    node, rest = nodes[0], nodes[1:]
    if typed and node.accepts(typed[0][0]):
        number = typed[0][1]
        if node.numbered or number is None:
            number_here = (1 if number is None else number,) if node.numbered else ()
            for numbers in _matches(rest, typed[1:]):
                yield (*number_here, *numbers)
    if node.optional:
        number_here = (1,) if node.numbered else ()
        for numbers in _matches(rest, typed):
            yield (*number_here, *numbers)


@dataclass(frozen=True)
class Unit:
    """One unit of a program message: the header's words, whether it is a query, and its data."""

    words: Words
    query: bool
    data: tuple[str, ...]
    common: str = ""


def split_message(message: str) -> list[str]:
    """Split a program message at `;` outside quotes; a missing quote swallows the rest (5-7)."""
    units, quoted, current = [], False, ""
    for character in message:
        quoted ^= character == '"'
        if character == ";" and not quoted:
            units.append(current)
            current = ""
        else:
            current += character
    units.append(current)
    return [unit.strip() for unit in units if unit.strip()]


def parse_unit(text: str, level: list[tuple[str, int | None]]) -> Unit:
    """Parse one unit, relative to the level after the units before it (page 5-1).

    `level` is changed in place to the parent of this unit's header. Common commands do not change
    it.
    """
    head, _, rest = text.replace("\t", " ").partition(" ")
    data = tuple(part.strip() for part in rest.split(",")) if rest.strip() else ()
    query = head.endswith("?")
    head = head.removesuffix("?")  # a second one is no part of a header
    if head.startswith("*"):
        return Unit((), query, data, head.upper())
    absolute = head.startswith(":")
    words: list[tuple[str, int | None]] = []
    for part in head.lstrip(":").split(":"):
        match = _TYPED.fullmatch(part)
        if match is None:
            raise CommandRefused(102)
        words.append((match[1], int(match[2]) if match[2] else None))
    full = words if absolute else level + words
    level[:] = full[:-1]
    return Unit(tuple(full), query, data)
