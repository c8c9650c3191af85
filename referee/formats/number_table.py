# SPDX-License-Identifier: Apache-2.0
"""Large tables of plain numbers, which libraries read by whole blocks instead of cell by cell.

The modules `lines` and `numbers` define the grammar. msgspec reads a block of JSON's numbers, in a
quarter of numpy's time. numpy reads other blocks, and float() the lines of a block that numpy
refuses, for example one that mixes commas and blanks. Each of them gives the bits of float().
Beside numbers they also read what the grammar forbids, so they get only the characters of numbers.
For text that is not a table the functions return None; the caller then finds the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.formats.lines import plain_lines

Floats = NDArray[np.float64]

# Bytes of a block: it takes numpy some milliseconds, in which no other thread runs.
_BLOCK = 2**18
_EXACT = 2.0**53
_SEPARATOR = re.compile(rb"[ \t]*,[ \t]*|[ \t]+")
_OF_TABLES = b"0123456789+-.eE,\n \tINFTYAinftya"
_COMMAS = bytes.maketrans(b"\n \t", b",,,")
_MINUS_ZERO = re.compile(rb"-0(?:[,\s]|\Z)")
_LIST = msgspec.json.Decoder(list[float])


def parse_numbers(content: bytes, columns: int) -> Floats | None:
    """Return lines of numbers as a table (n, columns), or None if they do not form one."""
    content = plain_lines(content)
    tables = [parse_block(content[span], columns) for span in line_spans(content)]
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return None
    return np.concatenate(known) if known else np.empty((0, columns))


def are_whole(numbers: Floats) -> bool:
    """Tell whether all numbers (n, columns) are integers below 2^53, which doubles hold exactly."""
    return all(
        bool(((np.abs(column) < _EXACT) & (np.floor(column) == column)).all())
        for column in numbers.T
    )


def line_spans(content: bytes) -> Iterator[slice]:
    """Yield where blocks of whole lines lie, in order."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        yield slice(start, end)
        start = end


def parse_block(block: bytes, columns: int) -> Floats | None:
    """Return a block of plain lines as a table (n, columns).

    Returns None if a line has another number of cells, an empty cell, or a cell that is not a
    number.
    """
    if block.translate(None, _OF_TABLES):
        return None
    if not block.strip():
        return np.empty((0, columns))
    usual = _by_json(block, columns)
    if usual is not None:
        return usual
    separator = "," if b"," in block else None
    try:
        table = np.loadtxt(
            block.decode("ascii").split("\n"), delimiter=separator, comments=None, ndmin=2
        )
    except ValueError:
        return _by_float(block, columns)
    return table if table.shape[1] == columns else None


def _by_json(block: bytes, columns: int) -> Floats | None:
    """Parse lines whose cells one comma or blank separates as one list of JSON.

    Returns None for any other block, and for one with a whole -0, which would lose its sign.
    """
    content = block.removesuffix(b"\n").translate(_COMMAS)
    ends = np.frombuffer(block.removesuffix(b"\n") + b"\n", np.uint8)
    separators = ends[np.flatnonzero(np.frombuffer(content + b",", np.uint8) == ord(","))]
    rows, rest = divmod(len(separators), columns)
    lines = int(np.count_nonzero(separators == ord("\n")))
    if rest or lines != rows or not (separators[columns - 1 :: columns] == ord("\n")).all():
        return None
    try:
        cells = _LIST.decode(b"[" + content + b"]")
    except msgspec.MsgspecError:
        return None
    table = np.fromiter(cells, dtype=np.float64, count=len(cells))
    if not table.all() and _MINUS_ZERO.search(block):
        return None
    return table.reshape(rows, columns)


def _by_float(block: bytes, columns: int) -> Floats | None:
    """Parse lines by float(); return None if a cell is not a number or a row has a wrong width."""
    cells: list[bytes] = []
    rows = 0
    for line in block.split(b"\n"):
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
