# SPDX-License-Identifier: Apache-2.0
"""A program that outlives its terminal goes on when nobody reads it."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

import pytest

from referee.programs.terminal import say, tell_on_terminal


@pytest.fixture
def unread() -> Iterator[TextIO]:
    """Return a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:
        yield stream


@pytest.mark.parametrize(("tell", "name"), [(say, "stdout"), (tell_on_terminal, "stderr")])
def test_a_pipe_that_nobody_reads_ends_nothing(monkeypatch, unread, tell, name) -> None:
    """The line is dropped, and so is every later one, by whatever way it is written."""
    monkeypatch.setattr(sys, name, unread)
    tell("ready")
    tell("a result")
    print("another line", file=unread, flush=True)


def test_a_file_on_a_full_disk_is_kept(monkeypatch) -> None:
    """The line fails in silence, and later lines go to the same file."""
    full = FullFile()
    monkeypatch.setattr(sys, "stdout", full)
    say("ready")
    full.room = True
    say("a result")
    assert "a result\n" == full.getvalue()


class FullFile(io.StringIO):
    """A file on a disk that has no room at first; nobody may put another in its place."""

    room = False

    def write(self, text: str) -> int:
        """Write a text if there is room."""
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)
