# SPDX-License-Identifier: Apache-2.0
"""Serve the emulated meter on a pseudo-terminal, as RS-232 does: lines in, lines out.

A pseudo-terminal carries bytes, and tells its server how the client has set it: speed, stop bits
and handshake. It has no 7 bits and no parity, so only the format 8N1 can be emulated.
"""

from __future__ import annotations

import os
import pty
import select
import termios
import threading
import tty

from power.emulator.interpreter import Interpreter
from power.resource import TERMINATORS, SerialLine, with_line

RECEIVE_BUFFER_BYTES = 256
"""Unread bytes beyond these are lost, and reported as error 390 (pages 3-6 and App-3)."""

FRAMING_ERROR = 1 << 1
"""The bit of `:COMMunicate:STATus?` for characters that do not end where they should (page 6-7)."""

_XON, _XOFF = b"\x11", b"\x13"
_STEP_S = 0.02
_MOST_REPLY_BYTES = 24576
_IFLAG, _CFLAG, _OSPEED = 0, 2, 5


class SerialServer:
    """A pseudo-terminal and the thread `serial-line` that answers on it.

    `line` is how the meter's menu is set; raises ValueError for another format than 8N1. A client
    with another speed or two stop bits gets no answer, and the meter notes the error of the line.
    """

    def __init__(
        self, interpreter: Interpreter, guard: threading.Condition, line: SerialLine | None = None
    ) -> None:
        self._interpreter = interpreter
        self._guard = guard
        self._line = line or SerialLine()
        if self._line.data_format != SerialLine().data_format:
            raise ValueError(
                "a pseudo-terminal has no 7 bits and no parity: emulate a line with 8N1 (the format"
                f" {self._line.data_format} needs a real port)"
            )
        self._paused = False
        self._closing = threading.Event()
        # Keep the slave end open. Otherwise the master would read an error after each client.
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        _set(self._slave, self._line)
        self.device = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._run, name="serial-line", daemon=True)
        self._thread.start()

    @property
    def resource(self) -> str:
        """Return the resource string under which a client finds this line with its settings."""
        return with_line(f"ASRL{self.device}::INSTR", self._line)

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
                    pending = self._take(pending + self._heard(os.read(self._master, 4096)))
                    pending = b"" if dead else pending
                reply = None if self._paused else self._interpreter.fetch(_MOST_REPLY_BYTES)
            if reply is not None and not dead:
                end = TERMINATORS[self._line.terminator]
                os.write(self._master, reply[0].removesuffix(b"\n") + end)

    def _heard(self, received: bytes) -> bytes:
        """Return the bytes that arrive as characters, and obey X-OFF and X-ON (page 3-6)."""
        if not _framed(self._master, self._line):
            self._interpreter.instrument.line_errors |= FRAMING_ERROR
            return b""
        if self._line.handshake != "XON-XOFF":
            return received
        last = max(received.rfind(_XON), received.rfind(_XOFF))
        if last >= 0:
            self._paused = received[last : last + 1] == _XOFF
        return received.replace(_XON, b"").replace(_XOFF, b"")

    def _take(self, received: bytes) -> bytes:
        """Execute the complete lines; return the incomplete rest, without bytes that do not fit.

        With a handshake at both ends the client waits, so nothing is lost.
        """
        most = _MOST_REPLY_BYTES if self._shakes_hands() else RECEIVE_BUFFER_BYTES
        *lines, rest = received.split(b"\n")
        for line in lines:
            if len(line) > most:
                self._interpreter.instrument.report(390)
            else:
                self._interpreter.receive(line + b"\n")
        if len(rest) > most:
            self._interpreter.instrument.report(390)
            rest = rest[:most]
        return rest

    def _shakes_hands(self) -> bool:
        """Tell whether the meter and the client have the same handshake, and not none."""
        client = termios.tcgetattr(self._master)
        if self._line.handshake == "XON-XOFF":
            return bool(client[_IFLAG] & termios.IXON)
        return self._line.handshake == "RTS-CTS" and bool(client[_CFLAG] & termios.CRTSCTS)


def _set(slave: int, line: SerialLine) -> None:
    """Set the client's speed like the meter's, for a client that sets nothing."""
    settings = termios.tcgetattr(slave)
    settings[_OSPEED - 1] = settings[_OSPEED] = _speed(line)
    termios.tcsetattr(slave, termios.TCSANOW, settings)


def _framed(master: int, line: SerialLine) -> bool:
    """Tell whether the characters of the client are as long as the meter expects them."""
    client = termios.tcgetattr(master)
    return client[_OSPEED] == _speed(line) and not client[_CFLAG] & termios.CSTOPB


def _speed(line: SerialLine) -> int:
    """Return the system's constant of a speed."""
    return int(getattr(termios, f"B{line.baud}"))
