# SPDX-License-Identifier: Apache-2.0
"""Long texts cut into blocks of whole lines, which several threads parse at once."""

from __future__ import annotations

import threading

import pytest

from referee.formats import line_blocks
from referee.formats.line_blocks import parse_blocks

LINES = b"".join(b"%d\n" % number for number in range(200))


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Make a block of few lines, so that short texts have many blocks."""
    monkeypatch.setattr(line_blocks, "_BLOCK", 16)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("content", [LINES, LINES + b"without a line end", b"\n" * 99, b"7", b""])
def test_blocks_hold_each_line_once_in_order(content, threads):
    """Blocks come in order with what was parsed of them, and no line is cut."""
    found = list(parse_blocks(content, bytes.split, threads=threads))
    assert content == b"".join(block for block, _ in found)
    assert all(block.endswith(b"\n") for block, _ in found[:-1])
    assert content.split() == [cell for _, cells in found for cell in cells]


def test_one_thread_is_the_callers_own():
    """A server parses in the thread that it chose, not in others."""
    used = {thread for _, thread in parse_blocks(LINES, lambda _: threading.current_thread())}
    assert used == {threading.current_thread()}


def test_several_threads_parse_at_once():
    """Two blocks can be under way at the same time."""
    both = threading.Barrier(2, timeout=60)
    found = list(parse_blocks(b"1234567890123456\n2\n", lambda _: both.wait(), threads=2))
    assert [0, 1] == sorted(place for _, place in found)


def test_a_fault_of_the_parser_reaches_the_caller():
    """An error in a thread is raised where the blocks are read."""
    with pytest.raises(ValueError, match="invalid literal"):
        list(parse_blocks(LINES + b"x\n", lambda block: [*map(int, block.split())], threads=3))
