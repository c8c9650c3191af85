# SPDX-License-Identifier: Apache-2.0
"""Names among other words in a text, whatever their script: none turns its neighbours' order.

A name in Arabic or Hebrew draws the numbers and signs beside it to its own side, so "NAME: 7" is
read as "7 :NAME". Unicode's isolates keep a name to itself. A terminal shows nothing of them. Only
texts for people have them: data, files for programs and what is stored have the name alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from wcwidth import wcswidth

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_RIGHT_TO_LEFT = ("R", "AL", "AN")
# What people wrote stands in quotes. An apostrophe inside a word ends none.
_QUOTED = re.compile(r"(?<!\w)(['\u2018])(.+?)(['\u2019])(?!\w)")


def isolated(name: str) -> str:
    """Return a name for a sentence: in isolates, if it has a letter from right to left."""
    if name.isascii() or not _turns(name) or name.startswith(FIRST_STRONG_ISOLATE):
        return name
    return f"{FIRST_STRONG_ISOLATE}{name}{POP_ISOLATE}"


def with_isolated_quotes(sentence: str) -> str:
    """Return a sentence in which each quoted name is isolated."""
    if sentence.isascii():
        return sentence
    return _QUOTED.sub(lambda found: f"{found[1]}{isolated(found[2])}{found[3]}", sentence)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: an ideograph or a picture takes two."""
    if text.isascii():
        return len(text)
    columns = wcswidth(text)
    # A control character has no width; no cell of a table should have one.
    return columns if columns >= 0 else len(text)


def cut_to(text: str, columns: int) -> str:
    """Return a name that takes so many columns at most; what is cut ends with a sign that says so.

    An accent or a joiner stays with its letter.
    """
    if columns_of(text) <= columns:
        return text
    end = len(text)
    while columns_of(text[:end]) >= columns or unicodedata.combining(text[end]):
        end -= 1
    return f"{text[:end]}…"


def left_in(text: str, columns: int) -> str:
    """Return a text for a place of so many columns, blanks behind it; a name is isolated."""
    return isolated(text) + " " * (columns - columns_of(text))


def right_in(text: str, columns: int) -> str:
    """Return a text for a place of so many columns, blanks before it; a name is isolated."""
    return " " * (columns - columns_of(text)) + isolated(text)


def lines_of(rows: Sequence[Sequence[str]], is_left: Sequence[bool]) -> list[str]:
    """Return rows of cells as lines; `is_left` says which columns begin at the left."""
    widths = [max(map(columns_of, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            left_in(cell, width) if left else right_in(cell, width)
            for cell, width, left in zip(row, widths, is_left, strict=True)
        ).rstrip()
        for row in rows
    ]


def _turns(text: str) -> bool:
    return any(unicodedata.bidirectional(one) in _RIGHT_TO_LEFT for one in text)
