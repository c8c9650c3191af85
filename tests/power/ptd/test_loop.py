# SPDX-License-Identifier: Apache-2.0
"""The session's thread and the server: several clients, broken clients, and the end."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from power.emulator.interpreter import Interpreter
from power.meter import MeterSettings, Reading
from power.ptd.device import device_type
from power.ptd.events import Events
from power.ptd.loop import SessionThread
from power.ptd.protocol import MOST_LINE
from power.ptd.server import MOST_CLIENTS, LineServer
from power.ptd.session import PtdSession, Workplace
from power.wt310.driver import WT310
from tests.support.direct_wire import DirectTransport
from tests.support.fakes import eventually

SETTINGS = MeterSettings(
    timer_s=0, update_interval_s=0.1, voltage_range_v=150.0, current_range_a=0.1
)


class Client:
    """A client of the protocol, as power-dev's server is one: a line out, a line in."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=180)
        self.lines = self.socket.makefile("rb")

    def ask(self, request: str) -> str:
        """Return the answer's first line without its end."""
        self.socket.sendall(f"{request}\r\n".encode())
        return self.line()

    def line(self) -> str:
        """Return the next line, empty when the server has cut the connection."""
        line = self.lines.readline()
        assert not line or line.endswith(b"\r\n")
        return line.decode().rstrip()

    def close(self) -> None:
        """Leave."""
        self.lines.close()
        self.socket.close()


class Served:
    """A session on an emulated meter in this process, served on loopback."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.said: list[str] = []
        self.meter = WT310(lambda: DirectTransport(interpreter, time.sleep))
        found = self.meter.prepare(SETTINGS)
        place = Workplace(device_type(49), (150.0,), (0.1,), self.set_up, "Linux")
        events = Events(self.said.append, lambda: datetime.now(UTC), None)
        self.session = PtdSession(
            self.meter,
            self.meter.identify(),
            found,
            place,
            events,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
        )
        self.thread = SessionThread(self.session, time.monotonic)
        self.server = LineServer("127.0.0.1", 0, self.thread.ask, events)
        self.thread.start()
        self.server.start()
        self.clients: list[Client] = []

    def set_up(self, wanted: MeterSettings) -> MeterSettings:
        """Write settings without waiting for values."""
        self.meter.restore(wanted)
        return self.meter.settings()

    def client(self) -> Client:
        """Return a new client."""
        self.clients.append(Client(self.server.port))
        return self.clients[-1]

    def close(self) -> None:
        """End in the command's order."""
        self.server.close()
        assert self.thread.stop(180)
        for client in self.clients:
            client.close()
        self.meter.close()


@pytest.fixture
def served(interpreter: Interpreter) -> Iterator[Served]:
    """Return a served session."""
    one = Served(interpreter)
    yield one
    one.close()


def test_two_clients_share_a_measurement(served: Served) -> None:
    """One starts and the other reads and stops; each gets its own answers."""
    first, second = served.client(), served.client()
    assert first.ask("Go,100,0,shared").startswith("Starting untimed measurement")
    assert "Error: a measurement runs already; send Stop first" == second.ask("Go,100,0,mine")
    eventually(lambda: second.ask("RL,3") == "Last 3 samples")
    for _ in range(3):
        assert second.line().startswith("Time,")
    assert "Stopping untimed measurement" == second.ask("Stop")
    assert "Error: no measurement to stop" == first.ask("Stop")
    assert served.said[-1].endswith("Response to client sent: Error: no measurement to stop")
    assert any(line.endswith(",Mark,shared") for line in served.said), "there is no log"


def test_a_client_that_goes_leaves_the_measurement(served: Served) -> None:
    """The next client finds it, with the samples taken meanwhile."""
    first = served.client()
    first.ask("Go,100,0,left")
    first.close()
    second = served.client()
    eventually(lambda: second.ask("RL,1") == "Last 1 samples")
    second.line()
    assert "Stopping untimed measurement" == second.ask("Stop")


def test_broken_clients_hurt_nobody(served: Served) -> None:
    """Half a line is no request, bytes of any kind are unknown, and a long line is cut off."""
    half = served.client()
    half.socket.sendall(b"Go,100,0,ha")
    half.close()
    odd = served.client()
    odd.socket.sendall(b"\xff\xfe\x00\r\n")
    assert odd.line().startswith("Unknown command")
    odd.socket.sendall(b"x" * (MOST_LINE + 1))
    assert odd.line() == f"Error: a request may have {MOST_LINE} bytes at most"
    assert "" == odd.line()
    reset = served.client()
    reset.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.socket.sendall(b"Identify\r\n")
    reset.close()
    good = served.client()
    assert "Error: no measurement to stop" == good.ask("Stop"), "half a Go started nothing"


def test_one_client_too_many_is_told_so(served: Served) -> None:
    """When another has left, there is room."""
    for _ in range(MOST_CLIENTS):
        assert "Hello, PTDaemon here!" == served.client().ask("Hello")
    crowded = served.client()
    assert f"Error: {MOST_CLIENTS} clients are connected already" == crowded.line()
    assert "" == crowded.line()
    served.clients[0].close()

    def welcome() -> bool:
        try:
            return served.client().ask("Hello") == "Hello, PTDaemon here!"
        except OSError:
            return False

    eventually(welcome)


def test_the_end_cuts_clients_off_and_ends_the_measurement(interpreter: Interpreter) -> None:
    """Whoever waits for a sample gets a line or the end, and no thread stays."""
    served = Served(interpreter)
    client = served.client()
    client.ask("Go,100,0,m")
    served.server.close()
    assert "" == client.line()
    served.close()
    assert not served.thread.alive()
    assert any(line.endswith(": Completed test") for line in served.said)
    assert ["Error: this program is ending"] == served.thread.ask("Hello")


def test_a_defect_ends_the_thread_and_is_kept(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that nobody expects is no answer: the program learns of it, clients of its end."""

    def broken(*arguments: Any) -> Reading:
        raise ZeroDivisionError("a defect")

    client = served.client()
    client.ask("Go,100,0,m")
    monkeypatch.setattr(served.meter, "read", broken)
    eventually(lambda: not served.thread.alive())
    assert isinstance(served.thread.broken, ZeroDivisionError)
    assert "Error: this program is ending" == client.ask("Stop")


def test_a_log_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    """A folder, or a folder that is not there, is no log."""
    said: Callable[[str], None] = print
    for path in (tmp_path, tmp_path / "no" / "ptd.log"):
        with pytest.raises(OSError):
            Events(said, lambda: datetime.now(UTC), path)
