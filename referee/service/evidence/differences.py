# SPDX-License-Identifier: Apache-2.0
"""Where two values or two texts differ first, in words: the place, what was found and expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Set
from typing import Any

from referee.core.counts import counted

_LONGEST = 160


def json_difference(found: Any, expected: Any, place: str = "") -> str | None:
    """Return where two values of JSON differ first, or None if they are equal."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in [*expected, *(name for name in found if name not in expected)]:
            inner = f"{place}.{name}" if place else str(name)
            if name not in found or name not in expected:
                there = "is missing" if name not in found else "should not be there"
                return f"{inner} {there}"
            if (difference := json_difference(found[name], expected[name], inner)) is not None:
                return difference
        return None
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, pair in enumerate(zip(found, expected, strict=True), 1):
            if (difference := json_difference(*pair, f"{place}[{number}]")) is not None:
                return difference
        return None
    if type(found) is type(expected) and found == expected:
        return None
    return f"{place or 'the value'}: found {_short(found)}, expected {_short(expected)}"


def without_additions(then: Any, now: Any, always: Set[str]) -> Any:
    """Return `now` without the fields that an earlier version did not tell, as `then` shows.

    A field that is in `always` stays, and so does each key of a table by class, which is a number.
    """
    if isinstance(then, dict) and isinstance(now, dict):
        return {
            name: without_additions(then.get(name), value, always)
            for name, value in now.items()
            if name in then or name in always or name.isdigit()
        }
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [without_additions(*pair, always) for pair in zip(then, now, strict=True)]
    return now


def text_difference(found: bytes, expected: bytes) -> str | None:
    """Return the first line in which two texts differ, or None if they are equal."""
    return blocks_difference(found, [expected])


def blocks_difference(found: bytes, blocks: Iterable[bytes]) -> str | None:
    """Return the first line in which a text differs from one that comes in blocks, or None.

    A block is compared where it stands, so equal texts need the memory of one block.
    """
    remaining, place = iter(blocks), 0
    for block in remaining:
        if not found.startswith(block, place):
            return _difference(found, place, b"".join([block, *remaining]))
        place += len(block)
    return None if place == len(found) else _difference(found, place, b"")


def _difference(found: bytes, place: int, expected: bytes) -> str:
    """Return how a text differs from `expected` behind a place up to which it is right."""
    begin = found.rfind(b"\n", 0, place) + 1
    expected = found[begin:place] + expected
    before = found.count(b"\n", 0, begin)
    pairs = zip(found[begin:].split(b"\n"), expected.split(b"\n"), strict=False)
    for number, (mine, theirs) in enumerate(pairs, before + 1):
        if mine != theirs:
            return f"line {number}: found {_line(mine)}, expected {_line(theirs)}"
    lines, wanted = found.count(b"\n"), before + expected.count(b"\n")
    return f"found {counted(lines, 'line')}, expected {wanted}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _line(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return f"'{text}'" if len(text) <= _LONGEST else f"'{text[:_LONGEST]}…'"
