# SPDX-License-Identifier: Apache-2.0
"""Names among other words in a text, whatever their script: none turns its neighbours' order.

A name in Arabic or Hebrew draws the numbers and signs beside it to its own side, so "NAME: 7" is
read as "7 :NAME". Unicode's isolates keep a name to itself. A terminal shows nothing of them. Only
texts for people have them: data, files for programs and what is stored have the name alone.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from wcwidth import wcswidth

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_RIGHT_TO_LEFT = ("R", "AL", "AN")
# The share of a cut name's columns that stands before the gap, as on the pages.
_HEAD = 0.6
# What changes the picture before it: joiners, forms and tones of skin.
_JOINER = "\u200d"
_JOINED = f"{_JOINER}\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
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
    """Return a name that takes so many columns at most; a long one loses its middle.

    The beginning and the end tell most names apart. An accent or a joiner stays with its letter.
    """
    if columns_of(text) <= columns:
        return text
    letters = _letters_of(text)
    head = _within(letters, math.ceil(_HEAD * (columns - 1)))
    left = columns - 1 - columns_of("".join(head))
    tail = _within(letters[::-1], left)[::-1]
    return f"{''.join(head).rstrip()}…{''.join(tail).lstrip()}"


def _letters_of(text: str) -> list[str]:
    """Return what people see as letters: each with its accents, and pictures that are joined."""
    letters: list[str] = []
    for character in text:
        if letters and (
            unicodedata.combining(character)
            or character in _JOINED
            or letters[-1].endswith(_JOINER)
        ):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _within(letters: Sequence[str], columns: int) -> list[str]:
    """Return the first letters that take so many columns at most."""
    taken: list[str] = []
    for letter in letters:
        if columns_of("".join([*taken, letter])) > columns:
            break
        taken.append(letter)
    return taken


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
