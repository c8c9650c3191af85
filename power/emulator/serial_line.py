# SPDX-License-Identifier: Apache-2.0
"""Serve the emulated meter on a pseudo-terminal, as RS-232 does: lines in, lines out.

Bytes beyond 256 unread ones are lost, and reported as error 390 (pages 3-6 and App-3).
Replies end with CR LF, the setting as delivered.
"""

from __future__ import annotations

import os
import pty
import select
import threading
import tty

from power.emulator.interpreter import Interpreter

RECEIVE_BUFFER_BYTES = 256
_STEP_S = 0.02
_MOST_REPLY_BYTES = 24576


class SerialServer:
    """A pseudo-terminal and the thread `serial-line` that answers on it."""

    def __init__(self, interpreter: Interpreter, guard: threading.Condition) -> None:
        self._interpreter = interpreter
        self._guard = guard
        self._closing = threading.Event()
        # Keep the slave end open. Otherwise the master would read an error after each client.
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.device = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._run, name="serial-line", daemon=True)
        self._thread.start()

    @property
    def resource(self) -> str:
        """Return the resource string under which PyVISA finds this line."""
        return f"ASRL{self.device}::INSTR"

    def close(self) -> None:
        """End the thread and close both ends."""
        self._closing.set()
        self._thread.join(timeout=5)
        os.close(self._master)
        os.close(self._slave)

    def _run(self) -> None:
        pending = b""
        while not self._closing.is_set():
            ready, _, _ = select.select([self._master], [], [], _STEP_S)
            with self._guard:
                faults = self._interpreter.instrument.faults
                self._interpreter.pump()
                dead = faults.unplugged or faults.hanging
                if ready:
                    pending = self._take(pending + os.read(self._master, 4096))
                    pending = b"" if dead else pending
                reply = self._interpreter.fetch(_MOST_REPLY_BYTES)
            if reply is not None and not dead:
                os.write(self._master, reply[0].removesuffix(b"\n") + b"\r\n")

    def _take(self, received: bytes) -> bytes:
        """Execute the complete lines; return the incomplete rest, without bytes that do not fit."""
        *lines, rest = received.split(b"\n")
        for line in lines:
            if len(line) > RECEIVE_BUFFER_BYTES:
                self._interpreter.instrument.report(390)
            else:
                self._interpreter.receive(line + b"\n")
        if len(rest) > RECEIVE_BUFFER_BYTES:
            self._interpreter.instrument.report(390)
            rest = rest[:RECEIVE_BUFFER_BYTES]
        return rest
