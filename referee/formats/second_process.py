# SPDX-License-Identifier: Apache-2.0
"""Work done in a second process, where the decoder of a long text lets no second thread run."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # Loaded where it is used: short texts need no second process.
    from multiprocessing.connection import Connection

_Result = TypeVar("_Result")

# Work that takes longer is done again in this process.
_PATIENCE_S = 120.0


def begin(work: Callable[[], _Result]) -> Callable[[], _Result]:
    """Begin `work` in a second process, and return a function that waits for its result.

    `work` must change nothing. If there is no second processor, or this process has other threads,
    or the second process dies, then the function does the work itself. The second process is a
    copy of this one, so it gets what it reads without a transfer.
    """
    if not _is_of_use():
        return work
    import multiprocessing

    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(
        target=_send, args=(receiver, sender, work), name="second-process", daemon=True
    )
    process.start()
    sender.close()

    def result() -> _Result:
        try:
            if receiver.poll(_PATIENCE_S):
                found: _Result = receiver.recv()
                return found
        except (EOFError, OSError):  # It died, for example for lack of memory.
            pass
        finally:
            process.kill()
            process.join()
            receiver.close()
        return work()

    return result


def _is_of_use() -> bool:
    """Tell whether a copy of this process is safe, and would run beside it.

    A copy has none of the other threads, but has the locks that they held. On macOS the system's
    own libraries do not survive a copy.
    """
    return (
        sys.platform == "linux"
        and threading.active_count() == 1
        and len(os.sched_getaffinity(0)) > 1
    )


def _send(receiver: Connection, sender: Connection, work: Callable[[], _Result]) -> None:
    # With its own copy of the other end it would wait for ever once the first process is killed.
    receiver.close()
    # Ctrl-C reaches both processes, and the first one then ends this one, without a word.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(BrokenPipeError):
        sender.send(work())
