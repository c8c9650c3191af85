# SPDX-License-Identifier: Apache-2.0
"""Fake time, scripted conversations, and emulated meters in this process or another."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import usb.backend
import usb.backend.libusb1

from power.emulator.fault_actions import act, apply
from power.emulator.faults import parse_fault, parse_schedule
from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import LoadProfile, constant
from power.emulator.serial_line import SerialServer
from power.emulator.vxi11 import Vxi11Server
from power.errors import MeterSilent
from power.logs.journal import JOURNAL_VARIABLE
from power.meter import IntegrationState, MeterSettings, Reading
from power.wt310.driver import WT310
from tests.support.direct_wire import DirectTransport
from tests.support.emulators import Emulator
from tests.support.finished import finished
from tests.support.full_disk import FullDisk
from tests.support.usbtmc import UsbBackend


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the contract tests run on a real meter: `pytest tests/power --meter RESOURCE`."""
    parser.addoption("--meter", metavar="RESOURCE", help="a real meter for the contract tests")


ROOT = Path(__file__).parents[2]
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTime:
    """A clock that only sleeps move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def clock(self) -> float:
        """Return the fake monotonic time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let this much time pass at once."""
        assert seconds >= 0
        self.now += seconds

    def utc(self) -> datetime:
        """Return a wall clock in step with the fake time."""
        return EPOCH + timedelta(seconds=self.now)


class Script:
    """A transport that expects exactly these messages and gives these replies.

    Each line is (sent, reply). A reply of None means that nobody reads after the message.
    """

    name = "script"

    def __init__(self, lines: list[tuple[str, str | bytes | None]]) -> None:
        self.lines = list(lines)
        self.pending: list[bytes] = []
        self.clears = 0
        self.closed = False

    def write(self, message: str) -> None:
        """Check the next message and queue its reply."""
        assert self.lines, f"nothing more was expected, but {message!r} was sent"
        expected, reply = self.lines.pop(0)
        assert expected == message
        if reply is not None:
            self.pending.append(reply if isinstance(reply, bytes) else reply.encode() + b"\n")

    def read(self, timeout_s: float) -> bytes:
        """Return the queued reply, or raise MeterSilent."""
        if not self.pending:
            raise MeterSilent("script is silent")
        return self.pending.pop(0)

    def clear(self) -> None:
        """Count device clears; queued replies stay, like bytes on a serial line."""
        self.clears += 1

    def close(self) -> None:
        """Remember that the link was closed."""
        self.closed = True


class Bench:
    """An emulated meter and a driver on it, both in fake time."""

    def __init__(
        self, profile: LoadProfile, options: Options, schedule: str, **load: float
    ) -> None:
        self.time = FakeTime()
        self.instrument = Instrument(
            Load(profile, **load),
            self.time.clock,
            options,
            schedule=parse_schedule(schedule),
            act=act,
        )
        self.interpreter = Interpreter(self.instrument)
        self.wires: list[DirectTransport] = []
        self.meter = self.driver()

    def driver(self) -> WT310:
        """Return another driver on the same meter, as a restarted program has."""
        return WT310(self.connect, clock=self.time.clock, sleep=self.time.sleep, utc=self.time.utc)

    def fault(self, line: str) -> None:
        """Switch a fault on now."""
        apply(self.instrument, parse_fault(line), self.time.now)

    def connect(self) -> DirectTransport:
        """Return a new wire to the meter, unless the link is cut."""
        self.wires.append(DirectTransport(self.interpreter, self.time.sleep))
        return self.wires[-1]

    def ask(self, message: str) -> str:
        """Ask the emulated meter without the driver."""
        wire = DirectTransport(self.interpreter, self.time.sleep)
        wire.write(message)
        return wire.read(60.0).decode().rstrip("\n")

    def tell(self, message: str) -> None:
        """Command the emulated meter without the driver."""
        self.interpreter.receive(message.encode() + b"\n")


@pytest.fixture(autouse=True)
def own_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    """Give each test, and the programs that it starts, a journal of runs of its own.

    Tests of a real meter use this computer's journal, which knows what somebody has fetched.
    """
    path = tmp_path / "runs.jsonl"
    if request.config.getoption("--meter", None) is None:
        monkeypatch.setenv(JOURNAL_VARIABLE, str(path))
    return path


@pytest.fixture
def fake_time() -> FakeTime:
    """Return a clock that only sleeps move."""
    return FakeTime()


@pytest.fixture
def script() -> type[Script]:
    """Return the class of scripted transports."""
    return Script


@pytest.fixture
def make_bench() -> Callable[..., Bench]:
    """Return a function that sets up an emulated meter with a driver in fake time."""

    def make(
        profile: LoadProfile | None = None,
        options: Options | None = None,
        schedule: str = "",
        **load: float,
    ) -> Bench:
        return Bench(profile or constant(5.0), options or Options(), schedule, **load)

    return make


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Iterator[None]:
    """Free the disk with the test's last line: pytest itself may write its report into a file."""
    try:
        yield
    finally:
        disk = item.funcargs.get("full_disk")
        if disk is not None:
            disk.free()


@pytest.fixture
def full_disk() -> Iterator[FullDisk]:
    """Return a disk that the test can fill and free."""
    disk = FullDisk()
    yield disk
    disk.free()


@pytest.fixture
def make_reading() -> Callable[..., Reading]:
    """Return a function that makes a plausible running reading at a time."""

    def make(at_s: float, **changes: object) -> Reading:
        values: dict[str, object] = {
            "monotonic_s": at_s,
            "utc": EPOCH + timedelta(seconds=at_s),
            "voltage_v": 120.0,
            "current_a": 0.05,
            "power_w": 6.0,
            "energy_wh": 6.0 * at_s / 3600,
            "integration_s": float(int(at_s)),
            "state": IntegrationState.START,
            "voltage_range_v": 150.0,
            "current_range_a": 0.1,
        }
        return Reading(**{**values, **changes})  # type: ignore[arg-type]

    return make


@pytest.fixture
def fixed_settings() -> MeterSettings:
    """Return settings on fixed ranges, for a run of 10 s."""
    return MeterSettings(timer_s=10, voltage_range_v=150.0, current_range_a=0.1)


@pytest.fixture
def run_power() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `python -m power` and returns its output."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return finished("power", *arguments, cwd=ROOT)

    return run


@pytest.fixture
def start_emulator() -> Iterator[Callable[..., Emulator]]:
    """Return a function that starts emulator processes; they end with the test."""
    running: list[Emulator] = []

    def start(*options: str) -> Emulator:
        emulator = Emulator(*options)
        running.append(emulator)
        return emulator

    yield start
    for emulator in running:
        if emulator.process.poll() is None:
            emulator.end()


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    """Return one emulator process with a constant load of 5 W, shared by a module."""
    process = Emulator("--watts", "5")
    yield process
    process.end()


@pytest.fixture
def interpreter() -> Interpreter:
    """Return an emulated meter in real time, for servers within the test's process."""
    return Interpreter(Instrument(Load(constant(5.0)), time.monotonic, Options()))


class EmptyBus(usb.backend.IBackend):  # type: ignore[misc]
    """A USB without devices."""

    def enumerate_devices(self) -> list[str]:
        """Return nothing."""
        return []


class Bus:
    """The imaginary USB, with the devices that it has at the moment."""

    backend: usb.backend.IBackend = EmptyBus()


# pyvisa-py looks for a USB only when it is imported, so a USB must exist before any test imports
# it.
usb.backend.libusb1.get_backend = lambda *arguments, **options: Bus.backend


@pytest.fixture
def usb_meter(interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch) -> UsbBackend:
    """Return an emulated meter on an imaginary USB that PyUSB finds."""
    backend = UsbBackend(interpreter, threading.Condition())
    monkeypatch.setattr(Bus, "backend", backend)
    return backend


@pytest.fixture
def serial_meter(interpreter: Interpreter) -> Iterator[SerialServer]:
    """Return an emulated meter on a pseudo-terminal."""
    server = SerialServer(interpreter, threading.Condition())
    yield server
    server.close()


@pytest.fixture
def vxi11_meter(interpreter: Interpreter) -> Iterator[Vxi11Server]:
    """Return an emulated meter on loopback, served by threads of the test's process."""
    server = Vxi11Server(interpreter, threading.Condition())
    yield server
    server.close()
