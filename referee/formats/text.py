# SPDX-License-Identifier: Apache-2.0
"""Readers of files of text that tell every failure in one clear sentence."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from referee.core.bounds import most_unpacked
from referee.errors import InputError
from referee.formats.faults import FormatError, quoted
from referee.formats.lines import short_lines, split_cells, width_fault
from referee.formats.numbers import TooLarge

_Value = TypeVar("_Value")


STANDARD_INPUT = Path("standard input")
"""Stands for the standard input among paths; it is known by identity, not by its name."""

Read = Callable[[Path], bytes]
"""A way to read a file: `read_bytes`, or one that remembers what it has read."""

_GZIP = b"\x1f\x8b"


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
    """Return a file's content as it is stored; raise InputError if it cannot be read."""
    try:
        if path is STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError("the standard input is closed: name a file, or send one to it")
            return sys.stdin.buffer.read()
        return path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


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
        found = split_cells(line)
        if found:
            yield place, found


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
