# SPDX-License-Identifier: Apache-2.0
"""Large tables of plain numbers, which libraries read by whole blocks instead of cell by cell.

The modules `lines` and `numbers` define the grammar. numpy reads a block, and float() reads the
lines of a block that numpy refuses, for example one that mixes commas and blanks. polars reads long
files several times faster; the extra `fast` installs it. Each of them gives the bits of float().
Beside numbers they also read what the grammar forbids, so they get only the characters of numbers.
For text that is not a table the functions return None; the caller then finds the reason.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from referee.formats.line_blocks import split_lines
from referee.formats.lines import plain_lines

Floats = NDArray[np.float64]

# A block takes numpy some milliseconds, in which no other thread runs.
_BLOCK = 2**18
# To load polars takes as long as numpy takes for this much.
_LARGE = 2**24
# polars shares a block among its threads. A copy of each block is in memory while it is read.
_LARGE_BLOCK = 2**26

_EXACT = 2.0**53
_SEPARATOR = re.compile(rb"[ \t]*,[ \t]*|[ \t]+")
_SIMPLE = b"0123456789+-.eE,\n"
_OF_TABLES = _SIMPLE + b" \tINFTYAinftya"


def parse_numbers(content: bytes, columns: int, *, large: bool = False) -> Floats | None:
    """Return lines of numbers as a table (n, columns), or None if they do not form one.

    `large` is as in `read_tables`.
    """
    tables = [table for _, table in read_tables(plain_lines(content), columns, large=large)]
    found = [table for table in tables if table is not None]
    if len(found) < len(tables):
        return None
    return np.concatenate(found) if found else np.empty((0, columns))


def are_whole(numbers: Floats) -> bool:
    """Tell whether all numbers (n, columns) are integers below 2^53, which doubles hold exactly."""
    return all(
        bool(((np.abs(column) < _EXACT) & (np.floor(column) == column)).all())
        for column in numbers.T
    )


def read_tables(
    content: bytes, columns: int, *, large: bool = False
) -> Iterator[tuple[bytes, Floats | None]]:
    """Yield blocks of plain lines in order, each with its table, see `parse_block`.

    With `large`, polars reads a long content. A process that forks must not ask for it: the
    threads of polars do not survive a fork.
    """
    if large and len(content) >= _LARGE and importlib.util.find_spec("polars"):
        for block in split_lines(content, _LARGE_BLOCK):
            table = _by_polars(block, columns)
            if table is None:
                yield from read_tables(block, columns)
            else:
                yield block, table
    else:
        for block in split_lines(content, _BLOCK):
            yield block, parse_block(block, columns)


def parse_block(block: bytes, columns: int) -> Floats | None:
    """Return a block of plain lines as a table (n, columns).

    Returns None if a line has another number of cells, an empty cell, or a cell that is not a
    number.
    """
    if block.translate(None, _OF_TABLES):
        return None
    if not block.strip():
        return np.empty((0, columns))
    separator = "," if b"," in block else None
    try:
        table = np.loadtxt(
            block.decode("ascii").split("\n"), delimiter=separator, comments=None, ndmin=2
        )
    except ValueError:
        return _by_float(block, columns)
    return table if table.shape[1] == columns else None


def _by_polars(block: bytes, columns: int) -> Floats | None:
    """Return what `parse_block` does, or None as well where polars cannot tell."""
    # Loaded here, because it takes as long as to read 16 MiB.
    import polars

    separator = "," if b"," in block else " "
    if separator == "," and b" " in block:
        block = block.replace(b", ", b",")
    if block.translate(None, _SIMPLE if separator == "," else _SIMPLE + b" "):
        return None
    try:
        table = polars.read_csv(
            block,
            has_header=False,
            schema={f"column {number}": polars.Float64 for number in range(columns)},
            separator=separator,
            quote_char=None,
        )
    except polars.exceptions.PolarsError:
        return None
    if any(table.null_count().row(0)):
        return None
    return table.to_numpy()


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
