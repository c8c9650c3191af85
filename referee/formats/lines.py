# SPDX-License-Identifier: Apache-2.0
"""Lines of cells, the grammar of every list that is not JSON: boxes, detections, sizes, blacklists.

A line ends with LF, CR LF or CR. A comma, with or without blanks around it, separates two cells;
so do blanks alone. Blanks are spaces and tabs. There is an empty cell between two commas, before a
comma that begins a line and after a comma that ends it. Blank lines do not count. A UTF-8 byte
order mark before the first line is skipped.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from referee.core.counts import counted
from referee.formats.faults import FormatError
from referee.formats.foreign_files import foreign_kind

BLANKS = " \t"
"""The characters that separate cells, beside the comma."""

LONGEST_LINE = 10_000
"""Most bytes of a line: a hundred times an honest one. Cells cost many times their length."""

_SEPARATOR = re.compile(r"[ \t]*,[ \t]*|[ \t]+")


def plain_lines(content: bytes) -> bytes:
    """Return the same lines without a byte order mark; LF alone ends each."""
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def refuse_other_text(content: bytes) -> None:
    """Raise `FormatError` for what is no text, for pages and pointers, and for UTF-16."""
    kind = foreign_kind(content)
    if kind is not None:
        raise FormatError((kind,))


def short_lines(content: bytes) -> bytes:
    """Return the same lines, see `plain_lines`.

    Raises `FormatError` for what is no such text, and for a line that is longer than any of a list:
    its cells take many times its bytes in memory.
    """
    refuse_other_text(content)
    content = plain_lines(content)
    start = 0
    while len(content) - start > LONGEST_LINE:
        end = content.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            line = content.count(b"\n", 0, start) + 1
            raise FormatError((f"line {line} has more than {LONGEST_LINE} bytes",))
        start = end + 1
    return content


def split_cells(line: str) -> list[str]:
    """Return the cells of a line; a blank line has none."""
    if " " in line or "\t" in line:
        line = line.strip(BLANKS)
        return _SEPARATOR.split(line) if line else []
    return line.split(",") if line else []


def width_fault(line: int, row: Sequence[str], fields: Sequence[str]) -> str:
    """Return the fault of a line that has another number of cells than there are fields."""
    signs = [sign for sign in ";|" if "".join(row).count(sign) == len(fields) - 1]
    hint = f"; separate them by commas or blanks, not by '{signs[0]}'" if signs else ""
    cells = counted(len(row), "field")
    return f"line {line} has {cells}, not {len(fields)}: give {','.join(fields)}{hint}"
