# SPDX-License-Identifier: Apache-2.0
"""Work shared with a second process, where the reader of a long text lets no second thread run."""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Loaded where it is used: short texts need no second process.
    from multiprocessing.connection import Connection

LONG_TEXT = 2**23
"""Bytes of a text that takes longer to read than a second process takes to begin."""

# Work that takes longer is done again in this process.
_PATIENCE_S = 120.0

_UNTOUCHED, _BEGUN, _DONE = range(3)


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
