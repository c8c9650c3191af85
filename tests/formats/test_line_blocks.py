# SPDX-License-Identifier: Apache-2.0
"""Long texts cut into blocks of whole lines."""

from __future__ import annotations

import pytest

from referee.formats.line_blocks import split_lines

LINES = b"".join(b"%d\n" % number for number in range(200))


@pytest.mark.parametrize("size", [1, 16, 10_000])
@pytest.mark.parametrize("content", [LINES, LINES + b"without a line end", b"\n" * 99, b"7", b""])
def test_blocks_hold_each_line_once_in_order(content, size):
    """Joined blocks are the content, and each but the last ends with a line."""
    blocks = list(split_lines(content, size))
    assert content == b"".join(blocks)
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(len(block) >= size for block in blocks[:-1])
