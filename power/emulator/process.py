# SPDX-License-Identifier: Apache-2.0
"""The emulator as a process: announce the resource, run until told to stop, end with the parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TextIO

from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.vxi11 import Vxi11Server

_PARENT_CHECK_S = 0.5
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(
    load: Load,
    options: Options,
    *,
    port: int = 0,
    most_links: int = 1,
    exit_with_parent: bool = False,
    out: TextIO = sys.stdout,
) -> None:
    """Serve one emulated meter until SIGTERM or SIGINT, or the parent's death if asked for.

    Writes exactly one line when clients may connect: `ready` and the resource string. Must run in
    the main thread, because of the signals.
    """
    parent = os.getppid()
    stop = threading.Event()

    def ask_to_stop(signal_number: int, frame: FrameType | None) -> None:
        stop.set()

    previous = {number: signal.signal(number, ask_to_stop) for number in _SIGNALS}
    server = Vxi11Server(
        Interpreter(Instrument(load, time.monotonic, options)), port=port, most_links=most_links
    )
    try:
        print(f"ready {server.resource}", file=out, flush=True)
        while not stop.wait(_PARENT_CHECK_S):
            # Polled, because the kernel's parent-death signal exists on Linux only, and comes
            # already when the thread that started this process ends.
            if exit_with_parent and os.getppid() != parent:
                break
    finally:
        server.close()
        for number, handler in previous.items():
            signal.signal(number, handler)
