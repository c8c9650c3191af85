# SPDX-License-Identifier: Apache-2.0
"""The emulator as a process: it announces its resource and runs until it is told to stop.

On its control port faults are switched on while it runs: one line in, one line out, over TCP on
loopback. A line is a fault (`silent count=2`), `status`, or nothing. The answer is `ok`, one JSON
object, or `error: …`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType
from typing import Any

from power.clock import real_elapsed_s
from power.emulator.fault_actions import act, apply
from power.emulator.faults import Fault, ScheduledFault, parse_fault
from power.emulator.instrument import Instrument, Options, serial_at
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.portmapper import Portmapper
from power.emulator.serial_line import SerialServer
from power.emulator.vxi11 import PROGRAM, VERSION, Vxi11Server
from power.resource import SerialLine
from power.signal_flag import SignalFlag

# Without a client a scheduled fault is at most this late.
_PUMP_S = 0.1
# Who finds a meter on the wire finds one that has been on for a while, and has values.
_ON_FOR_S = 20.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

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


@dataclass(frozen=True)
class Vxi11Port:
    """Where clients reach the emulator over VXI-11.

    The port 0 chooses one. The portmapper tells clients that port; None is no portmapper.
    """

    port: int = 0
    portmapper: int | None = None


@dataclass(frozen=True)
class Troubles:
    """The faults that the emulator begins with, those that come later, and where more come in.

    The control port (0 chooses one) takes faults while the emulator runs.
    """

    faults: Sequence[Fault] = ()
    schedule: Sequence[ScheduledFault] = ()
    control_port: int | None = None


def serve(
    load: Load,
    options: Options,
    wire: Vxi11Port | SerialLine,
    troubles: Troubles,
    *,
    exit_with_parent: bool = False,
) -> None:
    """Serve one emulated meter until SIGTERM or SIGINT, or until the parent dies if asked for.

    When clients may connect, exactly one line goes to standard output: `ready` and the resource
    string. The addresses of portmapper and control port go to standard error before that. This must
    run in the main thread, because it handles signals.
    """
    parent = os.getppid() if exit_with_parent else None
    stop = SignalFlag()

    def ask_to_stop(signal_number: int, frame: FrameType | None) -> None:
        stop.set()

    previous = {number: signal.signal(number, ask_to_stop) for number in _SIGNALS}
    instrument = _switched_on(load, options, troubles)
    interpreter = Interpreter(instrument)
    with ExitStack() as owned:
        owned.callback(_restore, previous)
        guard = threading.Condition()
        resource = _serve_on(owned, wire, interpreter, guard)
        with guard:
            instrument.serial = options.serial or serial_at(resource)
        if troubles.control_port is not None:
            control = ControlServer(interpreter, guard, port=troubles.control_port)
            owned.callback(control.close)
            print(f"control 127.0.0.1:{control.port}", file=sys.stderr, flush=True)
        print(f"ready {resource}", flush=True)
        _pump_until(stop, interpreter, guard, parent)


def _switched_on(load: Load, options: Options, troubles: Troubles) -> Instrument:
    """Return a meter that has been on for a while, with the faults of the beginning."""
    instrument = Instrument(
        load, real_elapsed_s, options, on_for_s=_ON_FOR_S, schedule=troubles.schedule, act=act
    )
    instrument.advance()  # Faults of the beginning come after that.
    for fault in troubles.faults:
        apply(instrument, fault, real_elapsed_s())
    return instrument


def _serve_on(
    owned: ExitStack,
    wire: Vxi11Port | SerialLine,
    interpreter: Interpreter,
    guard: threading.Condition,
) -> str:
    """Serve on a wire until the stack is closed; return the resource string of the meter there."""
    server: Vxi11Server | SerialServer
    if isinstance(wire, SerialLine):
        server = SerialServer(interpreter, guard, wire)
    else:
        server = Vxi11Server(interpreter, guard, port=wire.port)
        if wire.portmapper is not None:
            mapper = Portmapper(PROGRAM, VERSION, server.port, wire.portmapper)
            owned.callback(mapper.close)
            print(f"portmapper 127.0.0.1:{mapper.port}", file=sys.stderr, flush=True)
    owned.callback(server.close)
    return server.resource


def _pump_until(
    stop: SignalFlag, interpreter: Interpreter, guard: threading.Condition, parent: int | None
) -> None:
    """Let the emulator's time pass until a signal comes, or the parent of this number is gone."""
    while not stop.wait(_PUMP_S):
        with guard:
            interpreter.pump()
        # Poll the parent. The kernel's parent-death signal exists only on Linux, and it comes too
        # early: when the parent's thread ends that started this process.
        if parent is not None and os.getppid() != parent:
            break


def _restore(handlers: Mapping[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
