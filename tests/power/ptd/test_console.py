# SPDX-License-Identifier: Apache-2.0
"""The console waits for nobody who does not read it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from power.ptd.console import _MOST_LINES, Console
from tests.support.fakes import eventually


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Return the two ends of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_line_is_out_when_say_returns(pipe: tuple[int, int]) -> None:
    """A client's next request finds the answer to its last one on the console."""
    reader, writer = pipe
    console = Console(writer)
    console.say("one")
    assert b"one\n" == os.read(reader, 100)
    console.close()


@pytest.mark.slow
def test_lines_that_nobody_reads_are_left_out_and_counted(pipe: tuple[int, int]) -> None:
    """A full pipe holds nobody up, and who reads it later learns what is missing."""
    reader, writer = pipe
    console = Console(writer)
    long = "x" * 1000
    for _ in range(_MOST_LINES + 500):
        console.say(long)
    found = bytearray()

    def last_words() -> bool:
        console.say("again")
        found.extend(os.read(reader, 1 << 20))
        return found.endswith(b"again\n")

    eventually(last_words)
    assert b" lines are left out here: nobody read them\n" in found
    console.close()


def test_a_reader_that_is_gone_ends_nothing() -> None:
    """Lines for a closed descriptor go nowhere, without a wait."""
    reader, writer = os.pipe()
    os.close(reader)
    console = Console(writer)
    for line in range(3):
        console.say(str(line))
    # The thread has lived through each line's failure: it has dropped it, and waits for more.
    eventually(lambda: not console._lines)
    assert console._thread.is_alive() and not console._stalled
    console.close()
    console._thread.join()
    os.close(writer)
