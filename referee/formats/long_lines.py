# SPDX-License-Identifier: Apache-2.0
"""Long texts of detections as lines, read by this process and by a second one.

numpy reads a block of lines in some milliseconds, in which no second thread runs. So a second
process reads blocks from the beginning, while this one does other work, and then reads from the
end. A text with a block that is no table of numbers is left to `parse_lines`, which names its
faults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from referee.core.detections import Detections
from referee.formats.detection_lines import fields_of, from_numbers, parse_lines
from referee.formats.line_blocks import line_spans
from referee.formats.lines import short_lines
from referee.formats.number_table import BLOCK, parse_block
from referee.formats.second_process import LONG_TEXT, share
from referee.formats.shared_rows import UNUSUAL, SharedRows


def begin_lines(content: bytes) -> Callable[[], Detections]:
    """Begin to parse a long text in a second process; return a function that ends what it began.

    The function returns and raises what `parse_lines` does. Raises `FormatError` itself for a text
    in UTF-16, and for a line that is too long.
    """
    if len(content) < LONG_TEXT:
        return partial(parse_lines, content)
    tables = _Tables(short_lines(content))
    finish = share(len(tables.blocks), tables.read)

    def detections() -> Detections:
        finish()
        found = tables.all()
        return parse_lines(content) if found is None else found

    return detections


class _Tables:
    """A text, its blocks, and the rows that were read of them."""

    def __init__(self, content: bytes) -> None:
        self.blocks = list(line_spans(content, BLOCK))
        self._content = content
        self._columns = len(fields_of(content))
        # numpy counts in a quarter of the time of bytes.count. The last line may have no end.
        text = np.frombuffer(content, np.uint8)
        most = [1 + int(np.count_nonzero(text[span] == ord("\n"))) for span in self.blocks]
        most[:-1] = [lines - 1 for lines in most[:-1]]
        self._rows = SharedRows(most, shared=True)

    def read(self, block: int) -> None:
        """Read a block, unless one before was found to be no table of detections."""
        if (self._rows.counts == UNUSUAL).any():
            return
        table = parse_block(self._content[self.blocks[block]], self._columns)
        found = None if table is None else from_numbers(table)
        if found is None:
            self._rows.counts[block] = UNUSUAL
            return
        room = self._rows.place(block, len(found))
        values = (found.image_id, found.class_id, found.confidence, found.box)
        for column, numbers in zip(room, values, strict=True):
            column[:] = numbers
        self._rows.counts[block] = len(found)

    def all(self) -> Detections | None:
        """Return the detections of all blocks, or None if one is no table of them."""
        if (self._rows.counts == UNUSUAL).any():
            return None
        return Detections(*self._rows.all())
