# SPDX-License-Identifier: Apache-2.0
"""Switch faults on in a running emulator: one line in, one line out, over TCP on loopback.

A line is a fault (`silent count=2`), `status`, or nothing. The answer is `ok`, one JSON object, or
`error: …`.
"""

from __future__ import annotations

import json
import socket
import threading

from power.emulator.fault_actions import apply
from power.emulator.faults import parse_fault
from power.emulator.interpreter import Interpreter

_IDLE_S = 0.2
_MOST_LINE_BYTES = 4096


class ControlServer:
    """The control port; its thread `emulator-control` serves one client at a time."""

    def __init__(self, interpreter: Interpreter, guard: threading.Condition, *, port: int) -> None:
        self._interpreter = interpreter
        self._guard = guard
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._listener.settimeout(_IDLE_S)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="emulator-control", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and wait for the thread."""
        self._closing.set()
        self._thread.join(timeout=5)
        self._listener.close()

    def answer(self, line: str) -> str:
        """Execute one line and return its answer."""
        words = line.split()
        if not words:
            return "ok"
        with self._guard:
            self._interpreter.pump()
            if words == ["status"]:
                return json.dumps(self._status())
            try:
                fault = parse_fault(line)
                apply(self._interpreter.instrument, fault, self._interpreter.instrument.clock())
            except ValueError as error:
                return f"error: {error}"
            self._guard.notify_all()
        return "ok"

    def _status(self) -> dict[str, object]:
        meter = self._interpreter.instrument
        measurement, now = meter.measurement, meter.clock()
        return {
            "monotonic_s": now,
            "state": measurement.integrator.state,
            "elapsed_s": measurement.integrator.elapsed_s(now),
            "energy_wh": measurement.integrator.energy_wh,
            "true_energy_wh": measurement.true_energy_wh(now),
            "updates": measurement.updates,
        }

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            with sock:
                sock.settimeout(_IDLE_S)
                self._converse(sock)

    def _converse(self, sock: socket.socket) -> None:
        pending = b""
        while not self._closing.is_set():
            try:
                part = sock.recv(_MOST_LINE_BYTES)
            except TimeoutError:
                continue
            except OSError:
                return
            if not part or len(pending) > _MOST_LINE_BYTES:
                return
            *lines, pending = (pending + part).split(b"\n")
            try:
                for line in lines:
                    sock.sendall(self.answer(line.decode("utf-8", "replace")).encode() + b"\n")
            except OSError:
                return
