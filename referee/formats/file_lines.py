# SPDX-License-Identifier: Apache-2.0
"""What lines in a file may have beside the lines of a post: comments, and a header.

A comment begins with `#` at the beginning of a line or after a blank, and ends with the line. A
header is the first line that is not blank, if it names the columns in their order. Capitals do not
matter, and `category_id` and `score` are other names for `class_id` and `confidence`.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from referee.errors import InputError
from referee.formats.faults import FormatError
from referee.formats.lines import plain_lines, short_lines, split_cells

_COMMENT = re.compile(rb"(?:^|[ \t])#[^\n]*", re.MULTILINE)
_FIRST_LINE = re.compile(rb"[ \t]*[^ \t\n][^\n]*")
_OTHER_NAMES = {"category_id": "class_id", "score": "confidence"}
_NAMES = set("image_id class_id confidence xmin ymin xmax ymax width height".split())


def plain_file(path: Path, content: bytes, *columns: tuple[str, ...]) -> bytes:
    """Return the lines of a file, see `plain_lines`, without comments and header.

    `columns` are the headers that a file may have. Every line keeps its number: what is left out
    becomes a blank line. Raises InputError for a header that names other columns, and for a
    line that is longer than any of a list.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content  # The reader of the lines says what is wrong.
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
