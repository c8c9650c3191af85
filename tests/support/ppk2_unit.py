# SPDX-License-Identifier: Apache-2.0
"""An emulated PPK2 on a pseudo-terminal: its answer about itself, and its stream of samples."""

from __future__ import annotations

import os
import select
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

SHUNTS_OHM = (1031.64, 101.65, 10.15, 0.94, 0.043)
ABOUT = (
    "Calibrated: 0\n"
    + "".join(f"R{index}: {ohm}\n" for index, ohm in enumerate(SHUNTS_OHM))
    + "".join(f"{name}{index}: 1\n" for name in ("GS", "GI", "UG") for index in range(5))
    + "".join(f"{name}{index}: 0\n" for name in ("O", "S", "I") for index in range(5))
    + "HW: 9173\nmode: 2\nvdd: 3700\nIA: 56\nEND\n"
)
_PERIOD = 64  # of the counter


def sample(amperes: float, scale: int = 4, count: int = 0) -> bytes:
    """Return one sample of a unit whose gains are 1 and whose offsets are 0.

    The current i solves p (p + 1) = i, where p is a quarter of a converter's step for each value.
    """
    plain = (-1 + (1 + 4 * amperes) ** 0.5) / 2
    value = round(plain * SHUNTS_OHM[scale] / (1.8 / 163840) / 4)
    return (value | scale << 14 | count % _PERIOD << 18).to_bytes(4, "little")


class Ppk2Unit:
    """What an emulated unit does; a test changes it while it runs."""

    def __init__(self) -> None:
        self.amperes = 0.2
        self.about = ABOUT
        self.told = b""
        self.streaming = False
        self.mute = False
        # So many bytes of the stream get lost next.
        self.lose = 0

    def answer(self, content: bytes) -> bytes:
        """Take commands and return what they say."""
        self.told += content
        for code in content:
            if code in (0x06, 0x07):
                self.streaming = code == 0x06
        return self.about.encode() if 0x19 in content else b""


@contextmanager
def plugged_in(unit: Ppk2Unit) -> Iterator[str]:
    """Serve a unit in a thread, in real time, and yield the path of its port."""
    inner, outer = os.openpty()
    for end in (inner, outer):
        tty.setraw(end, termios.TCSANOW)
    os.set_blocking(inner, False)
    stopping = threading.Event()
    thread = threading.Thread(target=_serve, args=(unit, inner, stopping), name="ppk2-unit")
    thread.start()
    try:
        yield os.ttyname(outer)
    finally:
        stopping.set()
        thread.join()
        os.close(inner)
        os.close(outer)


def _serve(unit: Ppk2Unit, inner: int, stopping: threading.Event) -> None:
    begun_s, sent, pending = time.monotonic(), 0, b""
    while not stopping.is_set():
        if select.select([inner], [], [], 0.002)[0]:
            was = unit.streaming
            reply = unit.answer(os.read(inner, 64))
            os.write(inner, reply)
            if unit.streaming and not was:
                begun_s, sent, pending = time.monotonic(), 0, b""
        if not unit.streaming or unit.mute:
            continue
        if not pending:
            # Whole turns of the counter, so that each begins at the same count.
            due = int((time.monotonic() - begun_s) * 100_000) // _PERIOD - sent
            turn = b"".join(sample(unit.amperes, count=count) for count in range(_PERIOD))
            # What a serial port loses lies somewhere in the middle.
            lost = unit.lose if due else 0
            unit.lose -= lost
            pending = turn[:101] + turn[101 + lost :] if lost else turn * min(due, 64)
            sent += (len(pending) + lost) // len(turn)
        try:
            pending = pending[os.write(inner, pending) :]
        except BlockingIOError:
            continue  # the port is full until somebody reads
