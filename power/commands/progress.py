# SPDX-License-Identifier: Apache-2.0
"""One progress line on a terminal, rewritten in place, with the time that is left."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Protocol

from tqdm import tqdm

from power.clock import real_elapsed_s


class Draw(Protocol):
    """A function that draws the line."""

    def __call__(self, elapsed_s: float, text: str, total_s: float | None = None, /) -> None:
        """Draw the seconds so far, a short text such as the newest reading, a new total."""
        ...


_TICK_S = 0.25


class Bar(tqdm):  # type: ignore[type-arg]  # it counts; nothing is iterated
    """A progress bar without tqdm's thread, which would wake up while a meter is read."""

    monitor_interval = 0
    # What `set_lock` sets. No other process draws a line. tqdm's own lock is a semaphore of all
    # processes, and a program that leaves at once leaves it behind, of which Python warns.
    _lock = threading.RLock()


@contextmanager
def progress_line(total_s: float | None, *, quiet: bool = False) -> Iterator[Draw]:
    """Yield a function that draws the line; nothing goes to a pipe, or with `quiet`.

    Without a total the line counts up.

    Messages appear above the line. A terminal that is gone, or a full disk, ends nothing.
    """
    bar = Bar(
        total=total_s,
        bar_format=(
            "{n:.1f} s{postfix}"
            if total_s is None
            else "{l_bar}{bar}| {n:.1f} of {total:g} s{postfix}"
        ),
        disable=True if quiet else None,
        file=sys.stderr,
        dynamic_ncols=True,
        leave=True,
    )

    def draw(elapsed_s: float, text: str, total: float | None = None, /) -> None:
        with suppress(OSError, ValueError):
            if total is not None:
                bar.total = total
            whole_s = elapsed_s if bar.total is None else bar.total
            shown = [] if bar.total is None else [f"{max(0.0, whole_s - elapsed_s):.0f} s left"]
            bar.set_postfix_str(", ".join([*shown, *([text] if text else [])]), refresh=False)
            bar.n = min(max(0.0, elapsed_s), whole_s)
            bar.refresh()

    with nullcontext() if bar.disable else _messages_above():
        try:
            yield draw
        finally:
            with suppress(OSError, ValueError):
                bar.close()


def _messages_above() -> AbstractContextManager[None]:
    """Return a context in which messages of the log appear above the line."""
    # This imports asyncio, which takes longer than all else. Without a line nobody needs it.
    from tqdm.contrib.logging import logging_redirect_tqdm

    return logging_redirect_tqdm(tqdm_class=Bar)


def tell(text: str) -> None:
    """Print a line on stdout, above a progress line that may be there."""
    Bar.write(text, file=sys.stdout)
    sys.stdout.flush()


def ticking(sleep: Callable[[float], None], draw: Draw) -> Callable[[float], None]:
    """Return a sleep that draws the line while it lasts; the time counts from now."""
    begun_s = real_elapsed_s()

    def tick(seconds: float) -> None:
        end_s = real_elapsed_s() + seconds
        while (left_s := end_s - real_elapsed_s()) > _TICK_S:
            sleep(_TICK_S)
            draw(real_elapsed_s() - begun_s, "")
        sleep(max(0.0, left_s))

    return tick
