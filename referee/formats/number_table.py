# SPDX-License-Identifier: Apache-2.0
"""Large tables of plain numbers, parsed by whole arrays instead of line by line.

The modules `lines` and `numbers` define the grammar. A million lines take a fraction of a second.
Comparing bytes finds the runs of digits. Three multiplications on a 64-bit word turn up to eight
digits into an integer. Integer and fraction join exactly, since both are below 2^53 and the power
of ten is exact. So every value equals that of float(). float() itself reads the unusual lines, one
by one. For text that is not a table the functions return None; the caller then finds the reason.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from numpy.typing import NDArray

from referee.formats.line_blocks import THREADS, parse_blocks
from referee.formats.lines import plain_lines

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

_PAIRINGS = (
    (np.uint64(1 + (10 << 8)), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(1 + (100 << 16)), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(1 + (10000 << 32)), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)

_LONGEST_RUN = 8
_PADDING = 8
_EXACT = 2.0**53
_SEPARATOR = re.compile(rb"[ \t]*,[ \t]*|[ \t]+")

_NEWLINE, _COMMA, _MINUS, _POINT, _ZERO, _NINE, _BLANK = (ord(sign) for sign in "\n,-.09 ")
_POWERS: Floats = np.array([10.0**n for n in range(_LONGEST_RUN + 1)])
_LAST_BYTES = np.array(
    [0] + [(2**64 - 1) & ((2**64 - 1) << 8 * (8 - n)) for n in range(1, 9)], dtype=np.uint64
)
# The further characters of numbers such as 1e5, +1, inf and nan. float() also reads underscores
# and other white space, but the grammar has neither.
_OF_NUMBERS = np.isin(np.arange(256), list(b"+EINFTYAeinftya"))


def parse_numbers(content: bytes, columns: int) -> Floats | None:
    """Return lines of numbers as a table (n, columns), or None if they do not form one."""
    parse = partial(parse_block, columns=columns)
    tables = [table for _, table in parse_blocks(plain_lines(content), parse, threads=THREADS)]
    found = [table for table in tables if table is not None]
    if len(found) < len(tables):
        return None
    return np.concatenate(found) if found else np.empty((0, columns))


def are_whole(numbers: Floats) -> bool:
    """Tell whether all numbers are integers below 2^53, which doubles hold exactly."""
    return bool(((np.abs(numbers) < _EXACT) & (np.floor(numbers) == numbers)).all())


def parse_block(block: bytes, columns: int) -> Floats | None:
    """Return a block of plain lines as a table (n, columns).

    Returns None if a line has another number of cells, an empty cell, or a cell that is not a
    number. Arrays parse the plain lines, and float() parses the others.
    """
    if b" " in block:  # Looking for one byte costs much less than looking for two.
        block = block.replace(b", ", b",")
    text = np.full(len(block) + 2 * _PADDING, _NEWLINE, dtype=np.uint8)
    text[_PADDING:-_PADDING] = np.frombuffer(block, dtype=np.uint8)
    unusual = np.flatnonzero(_is_unusual(text))
    if not _OF_NUMBERS[text[unusual]].all():
        return None
    others = _blank_lines(text, unusual)
    plain = _parse_plain(text, columns)
    if plain is None:
        return _parse_lines(block.split(b"\n"), columns)
    table, starts = plain
    if not others:
        return table
    parsed = _parse_lines([line for _, line in others], columns)
    if parsed is None:
        return None
    places = np.concatenate([starts, [start for start, _ in others]])
    joined: Floats = np.concatenate([table, parsed])[np.argsort(places)]
    return joined


def _blank_lines(text: Bytes, within: Ints) -> list[tuple[int, bytes]]:
    """Blank out the lines that contain the bytes `within`; return start and content of each."""
    if not len(within):
        return []
    newlines = np.flatnonzero(text == _NEWLINE)
    lines = np.unique(np.searchsorted(newlines, within))
    taken = []
    for start, end in zip(newlines[lines - 1].tolist(), newlines[lines].tolist(), strict=True):
        taken.append((start, text[start:end].tobytes()))
        text[start:end] = _NEWLINE
    return taken


def _is_unusual(text: Bytes) -> NDArray[np.bool_]:
    """Tell which bytes are not digits, point, minus, comma, line end or blanks."""
    unusual: NDArray[np.bool_] = (text > _NINE) | (text == ord("/"))
    unusual |= (text > _BLANK) & (text < _COMMA)
    control = text < _BLANK
    if np.count_nonzero(control) > np.count_nonzero(text == _NEWLINE):
        unusual |= control & (text != _NEWLINE) & (text != ord("\t"))
    return unusual


def _parse_plain(text: Bytes, columns: int) -> tuple[Floats, Ints] | None:
    """Parse numbers `[-]digits[.digits]`; return the table and the place where each row starts.

    Returns None if a number has another form or too many digits, if a cell is empty, or if a line
    does not hold exactly one row.
    """
    digit = (text - np.uint8(_ZERO)) < 10
    edges = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    start, end = edges[0::2], edges[1::2]
    length = end - start
    if not len(start):
        if (text > _BLANK).any():
            return None
        return np.empty((0, columns)), np.empty(0, dtype=np.int64)
    if length.max() > _LONGEST_RUN:
        return None
    fraction = text[start - 1] == _POINT
    if not _fractions_follow(start, end, fraction):
        return None
    mantissa, scale, first = _join(_digits(text, end, length), length, fraction)
    place = start[first]
    negative = text[place - 1] == _MINUS
    place -= negative
    if not (
        mantissa.max() < _EXACT
        and _only_numbers(text, digit, place, np.count_nonzero(fraction) + negative.sum())
        and len(first) % columns == 0
    ):
        return None
    rows = place.reshape(-1, columns)
    if not _one_row_a_line(text, rows):
        return None
    value = mantissa / scale
    np.negative(value, out=value, where=negative)
    return value.reshape(-1, columns), rows[:, 0]


def _fractions_follow(start: Ints, end: Ints, fraction: NDArray[np.bool_]) -> bool:
    """Tell whether each fraction follows an integer, with one byte (the point) between them."""
    if fraction[0] or (fraction[1:] & fraction[:-1]).any():
        return False
    return bool(((start[1:] - end[:-1] == 1) | ~fraction[1:]).all())


def _only_numbers(text: Bytes, digit: NDArray[np.bool_], place: Ints, signs: int) -> bool:
    """Tell whether the text holds only numbers with single separators between them.

    Every number, at `place`, must begin after a separator. No comma may touch another separator.
    All other bytes must be the points and minus signs of the numbers, `signs` in number.
    """
    comma = text == _COMMA
    separator = (text <= _BLANK) | comma
    return bool(
        separator[place - 1].all()
        and not (comma[:-1] & separator[1:]).any()
        and not (separator[:-1] & comma[1:]).any()
        and len(text) - np.count_nonzero(separator) - np.count_nonzero(digit) == signs
    )


def _one_row_a_line(text: Bytes, rows: Ints) -> bool:
    """Tell whether each row of numbers, at the places `rows`, has a line of its own."""
    within = text[rows[0, 0] : rows[-1, -1]]
    if np.count_nonzero(within == _NEWLINE) == len(rows) - 1:
        # The usual case: if a line ends just before each row, no line ends elsewhere.
        if (text[rows[:, 0] - 1] == _NEWLINE).all():
            return True
    newlines = np.flatnonzero(text == _NEWLINE)
    line = np.searchsorted(newlines, rows[:, 0])
    same = line == np.searchsorted(newlines, rows[:, -1])
    return bool(same.all() and (line[1:] > line[:-1]).all())


def _digits(text: Bytes, end: Ints, length: Ints) -> Words:
    """Return the integers that end before the places `end` and have `length` digits."""
    words: Words = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text.data, strides=(1,))
    # The exclusive or takes "0" off each digit; the mask clears the bytes before the number.
    word = words[end - 8]
    word ^= np.uint64(0x3030303030303030)
    word &= _LAST_BYTES[length]
    # Join digits to pairs, pairs to quadruples, quadruples to eight. The lowest byte comes first.
    for factor, bits, kept in _PAIRINGS:
        word *= factor
        word >>= bits
        word &= kept
    return word


def _join(value: Words, length: Ints, fraction: NDArray[np.bool_]) -> tuple[Floats, Floats, Ints]:
    """Join each integer part with the fraction after it.

    Return each number's digits as one integer, the power of ten that divides it, and the index of
    its first run of digits.
    """
    first: Ints = np.flatnonzero(~fraction)
    following = np.minimum(first + 1, len(value) - 1)
    has_fraction = fraction[following]
    scale = _POWERS[np.where(has_fraction, length[following], 0)]
    tail = np.where(has_fraction, value[following], np.uint64(0))
    mantissa = value[first] * scale.astype(np.uint64) + tail
    return mantissa.astype(np.float64), scale, first


def _parse_lines(lines: list[bytes], columns: int) -> Floats | None:
    """Parse lines by float(); return None if a cell is not a number or a row has a wrong width."""
    cells: list[bytes] = []
    rows = 0
    for line in lines:
        row = _SEPARATOR.split(line.strip()) if b"," in line else line.split()
        if row:
            if len(row) != columns:
                return None
            cells += row
            rows += 1
    try:
        table = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return table.reshape(rows, columns)
