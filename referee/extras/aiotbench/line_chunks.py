# SPDX-License-Identifier: Apache-2.0
"""Large files of lines, read piece by piece, so that no file stands in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from power.bounded_file import require_file
from referee.errors import InputError
from referee.formats.faults import FormatError
from referee.formats.lines import plain_lines, refuse_other_text

# A piece of this size and its cells stay in a processor's cache.
_CHUNK, _LONGEST_LINE = 2**18, 2**24


def read_chunks(path: Path, size: int = _CHUNK) -> Iterator[tuple[int, str]]:
    """Yield pieces of whole lines, each with the number of its first line, from 1.

    LF ends each line of a piece, see `lines`. A piece has about `size` bytes. Raises InputError if
    the file cannot be read, or is not text in UTF-8.
    """
    line = 1
    try:
        require_file(path)
        with path.open("rb") as file:
            for content in _whole_lines(file, size):
                text = _decoded(path, line, content)
                yield line, text
                line += text.count("\n")
    except FormatError as error:
        raise InputError(f"{path}: {error}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _whole_lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the content in pieces that end with LF; the last line gets one if it has none."""
    rest = b""
    while block := file.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
            if len(rest) > _LONGEST_LINE:  # A file of zeros would be read to its end, and kept.
                raise FormatError((f"it has a line of more than {_LONGEST_LINE} bytes",))
    if rest:
        yield rest + b"\n"


def _decoded(path: Path, line: int, content: bytes) -> str:
    """Return a piece as text with plain line ends."""
    try:
        if line == 1:
            refuse_other_text(content)
        plain = plain_lines(content)
        return plain.decode("utf-8")
    except FormatError as error:
        raise InputError(f"{path}, {error}") from None
    except UnicodeDecodeError as error:
        bad = line + plain.count(b"\n", 0, error.start)
        raise InputError(f"{path}, line {bad} is not text: save the file as UTF-8") from None
