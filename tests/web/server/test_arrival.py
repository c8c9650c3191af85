# SPDX-License-Identifier: Apache-2.0
"""The instant of a request's last byte: the kernel's, within what the server has seen itself."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from power.clock import real_elapsed_s
from referee.core.instant import Instant
from referee.web.server import arrival as module
from referee.web.server.arrival import STAMP_BYTES, arrival_s, arrived, stamp_arrivals
from referee.web.server.connection import BoundedConnection
from referee.web.server.turns import Party, Turns
from tests.support.running import eventually

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the stamps are Linux's")


def stamped(wall_s: float) -> list[tuple[int, int, bytes]]:
    """Return a stamp as the kernel gives it."""
    whole = int(wall_s)
    content = struct.pack("@ll", whole, int(1e9 * (wall_s - whole)))
    return [(socket.SOL_SOCKET, 35, content)]


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be 1000 s after the boot, and 5000 s on the wall."""
    monkeypatch.setattr(module, "elapsed_s", lambda: 1000.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 5000.0))


@pytest.mark.parametrize(
    ("stamp_s", "missing_s", "came_s"),
    [
        (4999.5, -9e9, 999.5),  # The server read it half a second later.
        (4999.5, 999.8, 999.8),  # An earlier segment was missing still.
        (5000.2, 999.8, 1000.0),  # The wall clock was set back.
        (4990.0, 999.8, 999.8),  # It was set forward a little.
        (1400.0, -9e9, 1000.0),  # It was set forward by an hour, under a new connection.
    ],
)
def test_the_kernels_stamp_counts_within_what_the_server_saw(clocks, stamp_s, missing_s, came_s):
    """The stamp is believed after the last look at which bytes were missing, and before now."""
    assert came_s == pytest.approx(arrival_s(stamped(stamp_s), missing_s))


@pytest.mark.parametrize("ancillary", [[], [(1, 2, b"x")], [(socket.SOL_SOCKET, 35, b"short")]])
def test_without_a_stamp_it_is_now(clocks, ancillary) -> None:
    """Where the kernel tells nothing, bytes came when they were read."""
    assert 1000.0 == arrival_s(ancillary, -9e9)


def test_a_request_came_when_its_connection_says() -> None:
    """The instant has the time of the last byte, and is never later than now."""
    now = Instant(100.0, datetime(2026, 11, 28, 12, 0, 1, tzinfo=UTC), "boot")
    link = SimpleNamespace(arrived_s=99.5)
    came = arrived({"gunicorn.socket": link}, now)
    assert (99.5, 500_000) == (came.monotonic_s, came.utc.microsecond)
    link.arrived_s = 100.1
    assert now == arrived({"gunicorn.socket": link}, now) == arrived({}, now)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Return a client's and the server's end of a connection whose bytes are stamped."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        stamp_arrivals(listener)
        with closing(socket.create_connection(listener.getsockname())) as client:
            with closing(listener.accept()[0]) as server:
                # The kernel begins with stamps a moment after the first socket wants them.
                eventually(lambda: sys.platform != "linux" or has_stamps(client, server), "stamps")
                yield client, server


def has_stamps(client: socket.socket, server: socket.socket) -> bool:
    """Tell whether a byte that is sent now has one."""
    client.sendall(b"?")
    return bool(server.recvmsg(10, STAMP_BYTES)[1])


@on_linux
def test_an_accepted_connection_has_stamps(ends) -> None:
    """The kernel's moment lies between the sending and the reading."""
    client, server = ends
    before_s = time.time()
    client.sendall(b"x")
    _, ancillary, _, _ = server.recvmsg(10, STAMP_BYTES)
    # As if it had been read when it was not even sent: its age is less than nothing.
    ages = module.age_of(ancillary, before_s), module.age_of(ancillary, time.time())
    assert ages[0] <= 0.0 <= ages[1]


@on_linux
def test_a_connection_tells_when_the_last_byte_came_and_not_when_it_was_read(ends) -> None:
    """What the server read late has come before something else that happened meanwhile."""
    client, server = ends
    client.sendall(b"x")
    # It is there, and somebody else has the server's time.
    server.recv(1, socket.MSG_PEEK)
    later_s = real_elapsed_s()
    link = BoundedConnection(server, Turns(), Party())
    assert b"x" == link.recv(10)
    assert link.arrived_s <= later_s


def test_what_was_missing_came_after_that(ends) -> None:
    """A look that found fewer bytes than there was room for bounds the moment of the next ones."""
    client, server = ends
    link = BoundedConnection(server, Turns(), Party())
    client.sendall(b"x")
    assert b"x" == link.recv(10)
    link._missing_s = missing_s = real_elapsed_s() + 0.001
    client.sendall(b"y")
    assert b"y" == link.recv(10)
    assert missing_s == link._stamp_missing_s
