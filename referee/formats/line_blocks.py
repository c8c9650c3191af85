# SPDX-License-Identifier: Apache-2.0
"""Long texts cut into blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator


def split_lines(content: bytes, size: int) -> Iterator[bytes]:
    """Yield the content in order, in blocks of whole lines, each of `size` bytes or a line more."""
    return (content[span] for span in line_spans(content, size))


def line_spans(content: bytes, size: int) -> Iterator[slice]:
    """Yield where the blocks of `split_lines` lie."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + size) + 1 or len(content)
        yield slice(start, end)
        start = end
