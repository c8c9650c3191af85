# SPDX-License-Identifier: Apache-2.0
"""Whole files that somebody names: read to a bound, and never waited for without an end.

A name may stand for a device that never ends, for a pipe that nobody writes into, or for a file
with a terabyte of nothing. Each is an OSError whose `strerror` says what it is and what to do, so
it is told as a file that cannot be read.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 2 * 2**30
"""No file is longer, whatever is in it."""

MOST_PIPED_BYTES = 2**29
"""A pipe says no length, so less of it is read."""

SMALL_BYTES = 2**24
"""A configuration, a key or a table of people is never longer."""

TEXT_ENCODING = "utf-8-sig"
"""How the texts of people are read: UTF-8, also with the mark that spreadsheets put before it."""

# How long a pipe may have nobody who writes, and how long its writer may say nothing.
_NO_WRITER_S, _SILENT_S = 5.0, 60.0
_PIECE = 2**20
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def file_bytes(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file or a pipe; raise OSError for anything else, and beyond `most`.

    The null device is an empty file.
    """
    with open(os.open(path, _OPEN), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode):
            if status.st_size > most:
                raise _too_long(path, most)
            return _pieces(path, most, file.read, status.st_size)
        if stat.S_ISFIFO(status.st_mode):
            return _piped(path, file.fileno(), min(most, MOST_PIPED_BYTES))
        if os.path.exists(os.devnull) and status.st_rdev == os.stat(os.devnull).st_rdev:
            return b""
        raise _no_file(path, status)


def file_text(path: Path | str, most: int = SMALL_BYTES) -> str:
    """Return a file's text with its lines ended by `\\n`; raise as `file_bytes`, and ValueError.

    A byte order mark is no part of the text.
    """
    text = file_bytes(path, most).decode(TEXT_ENCODING)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def stream_bytes(stream: BinaryIO, name: str, most: int = MOST_PIPED_BYTES) -> bytes:
    """Return what a stream such as the standard input has; raise OSError beyond `most`."""
    return _pieces(name, most, stream.read)


def require_file(path: Path | str, most: int | None = None) -> None:
    """Raise OSError unless a path is a file, of `most` bytes at most: for readers that jump in it.

    Nothing is opened, so nothing waits.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise _no_file(path, status)
    if most is not None and status.st_size > most:
        raise _too_long(path, most)


def _no_file(path: Path | str, status: os.stat_result) -> OSError:
    if stat.S_ISDIR(status.st_mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device or a socket"
    return OSError(errno.EINVAL, f"it is {kind} and no file; name a file", str(path))


def _too_long(path: Path | str, most: int) -> OSError:
    said = f"it has more than {most} bytes, and no such file has; name another"
    return OSError(errno.EFBIG, said, str(path))


def _pieces(
    path: Path | str, most: int, read: Callable[[int], bytes | None], expected: int = 0
) -> bytes:
    """Read to the end; a file that grows, or says no length as those of /proc, has more pieces."""
    pieces: list[bytes] = []
    came = 0
    while piece := read(max(_PIECE, min(expected, most) + 1 - came)):
        pieces.append(piece)
        came += len(piece)
        if came > most:
            raise _too_long(path, most)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _piped(path: Path | str, descriptor: int, most: int) -> bytes:
    """Read a pipe to its end; its writer may come a little later."""
    pieces: list[bytes] = []
    came = 0
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            _await(path, descriptor, _SILENT_S, "nothing has come out of it")
            continue
        if piece:
            pieces.append(piece)
            came += len(piece)
            if came > most:
                raise _too_long(path, most)
        elif pieces or _has_ended(descriptor):
            return b"".join(pieces)
        else:
            _await(path, descriptor, _NO_WRITER_S, "nobody has written into it")


def _has_ended(descriptor: int) -> bool:
    """Tell whether a pipe had a writer, who closed it without a word."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _await(path: Path | str, descriptor: int, seconds: float, what: str) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(1000 * seconds):
        said = f"it is a pipe, and {what} for {seconds:g} s; name a file"
        raise OSError(errno.ETIMEDOUT, said, str(path))
