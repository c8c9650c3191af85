# SPDX-License-Identifier: Apache-2.0
"""Readers of files of text that tell every failure in one clear sentence.

A file of lines may have what no post has: comments and a header. A comment begins with `#` at the
beginning of a line or after a blank, and ends with the line. A header is the first line that is not
blank, if it names the columns in their order. Capitals do not matter, and `category_id` and `score`
are other names for `class_id` and `confidence`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from power.bounded_file import file_bytes, stream_bytes
from referee.core.bounds import MOST_BYTES, most_unpacked
from referee.errors import InputError
from referee.formats.faults import FormatError, quoted
from referee.formats.lines import (
    plain_lines,
    refuse_other_text,
    short_lines,
    split_cells,
    width_fault,
)
from referee.formats.numbers import TooLarge

_Value = TypeVar("_Value")

STANDARD_INPUT = Path("standard input")
"""Stands for the standard input among paths; it is known by identity, not by its name."""

Read = Callable[[Path], bytes]
"""A way to read a file: `read_bytes`, or one that remembers what it has read."""

_GZIP = b"\x1f\x8b"
_COMMENT = re.compile(rb"(?:^|[ \t])#[^\n]*", re.MULTILINE)
_FIRST_LINE = re.compile(rb"[ \t]*[^ \t\n][^\n]*")
_OTHER_NAMES = {"category_id": "class_id", "score": "confidence"}
_NAMES = set("image_id class_id confidence xmin ymin xmax ymax width height".split())


def path_or_standard_input(text: str) -> Path:
    """Return the path that a command was given; `-` is the standard input."""
    return STANDARD_INPUT if text == "-" else Path(text)


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked where gzip packed it.

    Raises InputError if it cannot be read, or if the gzip data are damaged.
    """
    return unpacked(path, stored_bytes(path))


def unpacked(path: Path, content: bytes) -> bytes:
    """Return a file's stored content without gzip.

    Raises InputError if its data are damaged, or become far more than such a file holds.
    """
    if not content.startswith(_GZIP):
        return content
    most = most_unpacked(len(content))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path} is not complete gzip data: pack it again") from None
    if len(plain) > most:
        raise InputError(f"{path}: its {len(content)} bytes unpack to more than {most}: unpack it")
    return plain


def stored_bytes(path: Path) -> bytes:
    """Return a file's content as it is stored; raise InputError if it cannot be read.

    A pipe is read to a bound, and not waited for without an end; a device is refused.
    """
    try:
        if path is STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError("the standard input is closed: name a file, or send one to it")
            return stream_bytes(sys.stdin.buffer, str(path))
        return file_bytes(path, MOST_BYTES)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def plain_file(path: Path, content: bytes, *columns: tuple[str, ...]) -> bytes:
    """Return the lines of a file, see `plain_lines`, without comments and header.

    `columns` are the headers that a file may have. Every line keeps its number: what is left out
    becomes a blank line. Raises InputError for a header that names other columns, and for a
    line that is longer than any of a list.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content  # The reader of the lines says what is wrong.
    try:
        refuse_other_text(content)  # Before anything of it is taken for a comment.
    except FormatError as error:
        raise InputError(f"{path}: {error}") from None
    content = plain_lines(content)
    if content.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8 + content  # A second mark is a fault, and no mark to skip.
    if b"#" in content:
        content = _COMMENT.sub(b"", content)
    try:
        content = short_lines(content)
    except FormatError as error:
        raise InputError(f"{path}: {error}") from None
    first = _FIRST_LINE.search(content)
    if first is None:
        return content
    names = _column_names(first.group())
    if names in columns:
        return content[: first.start()] + content[first.end() :]
    if _NAMES & set(names):
        line = content.count(b"\n", 0, first.start()) + 1
        raise InputError(
            f"{path}, line {line} names the columns {','.join(names)}:"
            f" give {' or '.join(map(','.join, columns))}, in this order"
        )
    return content


def _column_names(line: bytes) -> tuple[str, ...]:
    cells = split_cells(line.decode("ascii", "backslashreplace").lower())
    return tuple(_OTHER_NAMES.get(cell.strip("\"'"), cell.strip("\"'")) for cell in cells)


def cells(path: Path, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield line number, from 1, and cells of each line that is not blank, see `lines`."""
    try:
        plain = short_lines(content)
    except FormatError as error:
        raise InputError(f"{path}: {error}") from None
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = plain.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {bad} is not text: give plain numbers") from None
    for place, line in enumerate(text.split("\n"), start=1):
        row = split_cells(line)
        if row:
            yield place, row


def parse_cell(
    path: Path, line: int, field: str, text: str, convert: Callable[[str], _Value], kind: str
) -> _Value:
    """Convert one cell; raise InputError naming file, line and field if it is not a `kind`."""
    try:
        return convert(text)
    except TooLarge as error:
        raise InputError(f"{path}, line {line}, {field}: {quoted(text)} {error}") from None
    except ValueError:
        raise InputError(f"{path}, line {line}, {field}: {quoted(text)} is not {kind}") from None


def require_width(path: Path, line: int, row: list[str], fields: tuple[str, ...]) -> None:
    """Raise InputError unless a line has one cell for each field."""
    if len(row) != len(fields):
        raise InputError(f"{path}, {width_fault(line, row, fields)}")
