# SPDX-License-Identifier: Apache-2.0
"""The usual text fast, any other with every fault named: the one shape of the readers of files.

A fast reader takes only what is entirely usual, and gives what the slow reader gives, bit for bit.
For all else it returns None, and the slow reader reads the text again and names its faults.

A long text of detections is cut into pieces, which a second process reads from the first on. This
one does other work meanwhile, and then reads from the last on. Both write into memory that they
share. A thread would do no good: the libraries that read a piece let no other thread run.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # Loaded where it is used: short texts need no second process.
    from multiprocessing.connection import Connection

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Columns = tuple[Ints, Ints, Floats, Floats]
"""Image ids (n,), class ids (n,), confidences (n,) and boxes (n, 4) of n detections."""

_Value = TypeVar("_Value")

# A text of so many bytes takes longer to read than a second process takes to begin.
_LONG = 2**23
_BYTES_OF_A_ROW = 56
# Instead of a number of rows: the fast reader does not take this piece.
_UNUSUAL = -1
# What the second process has not done by then, this process does again.
_PATIENCE_S = 120.0

_UNTOUCHED, _BEGUN, _DONE = range(3)


def fast_or_slow(fast: Callable[[], _Value | None], slow: Callable[[], _Value]) -> _Value:
    """Return what the fast reader gives, or what the slow one does if the fast one gives None."""
    value = fast()
    return slow() if value is None else value


def is_long(content: bytes) -> bool:
    """Tell whether a second process would make the reading shorter."""
    return len(content) >= _LONG


class PieceReader(Protocol):
    """A fast reader of one piece of a text."""

    def __call__(self, piece: bytes, room: Callable[[int], Columns], /) -> int | None:
        """Write the piece's n rows into `room(n)`; return n, or None for what is not usual."""


@dataclass(frozen=True)
class Pieces:
    """A text of detections, the places of its pieces, and the fast reader of a piece.

    A piece has at most one row for each of its bytes that is `sign`. A text without pieces is not
    usual.
    """

    content: bytes
    spans: Sequence[slice]
    sign: bytes
    read: PieceReader


def read_rows(pieces: Pieces) -> Columns | None:
    """Read all pieces in this process; return None if one of them is not usual."""
    rows = _Rows(pieces, shared=False)
    for piece in range(len(pieces.spans)):
        rows.read(piece)
    return rows.all()


def begin_rows(pieces: Pieces) -> Callable[[], Columns | None]:
    """Begin to read in a second process, if the text is long; return a function that ends it.

    The function returns what `read_rows` does.
    """
    if not is_long(pieces.content):
        return partial(read_rows, pieces)
    rows = _Rows(pieces, shared=True)
    finish = share(len(pieces.spans), rows.read)

    def columns() -> Columns | None:
        finish()
        return rows.all()

    return columns


class _Rows:
    """The rows of a text's pieces, each piece at its own place, filled in any order.

    With `shared` they lie in memory that a second process shares: what it writes, this one sees.
    """

    def __init__(self, pieces: Pieces, *, shared: bool) -> None:
        self._pieces = pieces
        # numpy counts in a quarter of the time of bytes.count.
        text, sign = np.frombuffer(pieces.content, np.uint8), ord(pieces.sign)
        most = [int(np.count_nonzero(text[span] == sign)) for span in pieces.spans]
        self._starts = [0, *accumulate(most)]
        rows = self._starts[-1]
        size = _BYTES_OF_A_ROW * rows + 8 * len(most)
        memory = mmap.mmap(-1, max(size, 1)) if shared else bytearray(size)
        self._columns: Columns = (
            np.frombuffer(memory, np.int64, rows, 0),
            np.frombuffer(memory, np.int64, rows, 8 * rows),
            np.frombuffer(memory, np.float64, rows, 16 * rows),
            np.frombuffer(memory, np.float64, 4 * rows, 24 * rows).reshape(rows, 4),
        )
        # The number of rows of each piece, or _UNUSUAL; 0 before it is read.
        self._counts = np.frombuffer(memory, np.int64, len(most), _BYTES_OF_A_ROW * rows)

    def read(self, piece: int) -> None:
        """Read a piece, unless one was found not to be usual."""
        if (self._counts == _UNUSUAL).any():
            return
        content = self._pieces.content[self._pieces.spans[piece]]
        count = self._pieces.read(content, partial(self._from, self._starts[piece]))
        self._counts[piece] = _UNUSUAL if count is None else count

    def all(self) -> Columns | None:
        """Return all rows; the pieces move together where one has fewer rows than it may have."""
        if not len(self._counts) or (self._counts == _UNUSUAL).any():
            return None
        end = 0
        for start, count in zip(self._starts[:-1], self._counts.tolist(), strict=True):
            if start != end:
                for target, rows in zip(
                    self._from(end, count), self._from(start, count), strict=True
                ):
                    target[:] = rows
            end += count
        return self._from(0, end)

    def _from(self, start: int, count: int) -> Columns:
        image_id, class_id, confidence, box = self._columns
        rows = slice(start, start + count)
        return image_id[rows], class_id[rows], confidence[rows], box[rows]


def share(count: int, work: Callable[[int], object]) -> Callable[[], None]:
    """Begin `work(0)`, `work(1)` and so on in a second process, and return a function that helps.

    The function goes the other way, from the last piece on, and returns when every piece is done.
    `work` writes what it finds into memory that both processes share. Both may do the piece where
    they meet, so it must write the same again.

    The second process is a copy of this one, so it gets what it reads without a transfer. If there
    is no second processor, or this process has other threads, or the second process dies, then the
    function does the work itself.
    """
    state = mmap.mmap(-1, max(count, 1))

    def do(pieces: Iterable[int]) -> None:
        for piece in pieces:
            if state[piece] == _UNTOUCHED:
                state[piece] = _BEGUN
                work(piece)
                state[piece] = _DONE

    wait = _begin(lambda: do(range(count))) if _is_of_use() else None

    def finish() -> None:
        do(reversed(range(count)))
        if wait:
            wait()
        for piece in range(count):
            if state[piece] != _DONE:  # The second process died at it.
                work(piece)

    return finish


def _begin(work: Callable[[], None]) -> Callable[[], None]:
    """Begin `work` in a second process, and return a function that waits until it has ended."""
    import multiprocessing

    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(receiver, work), name="second-process", daemon=True)
    process.start()
    sender.close()

    def wait() -> None:
        receiver.poll(_PATIENCE_S)  # Nothing comes but the end of the pipe.
        receiver.close()
        process.kill()
        process.join()

    return wait


def _is_of_use() -> bool:
    """Tell whether a copy of this process is safe, and would run beside it.

    A copy has none of the other threads, but has the locks that they held. On macOS the system's
    own libraries do not survive a copy. A daemon of `multiprocessing`, as in its pools, may have no
    children.
    """
    import multiprocessing

    return (
        sys.platform == "linux"
        and threading.active_count() == 1
        and len(os.sched_getaffinity(0)) > 1
        and not multiprocessing.current_process().daemon
    )


def _work(receiver: Connection, work: Callable[[], None]) -> None:
    receiver.close()
    # Ctrl-C reaches both processes, and the first one then ends this one, without a word.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    work()
