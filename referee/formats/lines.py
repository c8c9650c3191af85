# SPDX-License-Identifier: Apache-2.0
"""Lines of cells, as every list is written that is no JSON: boxes, detections, sizes, blacklists.

A line ends with LF, CR LF or CR. Its cells are separated by a comma, with blanks around it or
not, or by blanks alone; blanks are spaces and tabs. Between two commas, and beside one at the
line's end, stands an empty cell. Lines of nothing but blanks do not count. A byte order mark of
UTF-8 before the first line is skipped.
"""

from __future__ import annotations

import codecs
import re

from referee.formats.faults import FormatError

BLANKS = " \t"
"""What separates cells beside the comma."""

_SEPARATOR = re.compile(r"[ \t]*,[ \t]*|[ \t]+")


def plain_lines(content: bytes) -> bytes:
    """Return the same lines without a byte order mark, each ended by LF alone."""
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def refuse_utf16(content: bytes) -> None:
    """Raise `FormatError` for text in UTF-16, which some shells write when they redirect."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FormatError(("the text is in UTF-16: save it as UTF-8",))


def split_cells(line: str) -> list[str]:
    """Return the cells of a line; none for a line of blanks."""
    if " " in line or "\t" in line:
        line = line.strip(BLANKS)
        return _SEPARATOR.split(line) if line else []
    return line.split(",") if line else []
