# SPDX-License-Identifier: Apache-2.0
"""A connection bounds the time of each part of a request."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import IterUnreader

from referee.web.server import connection as connection_module
from referee.web.server.connection import BoundedConnection, waits_of
from referee.web.server.turns import Party, Turns

Pair = tuple[BoundedConnection, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Return a connection and the client's end of it."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(180)
    with ours, theirs:
        yield BoundedConnection(ours, Turns(), Party()), theirs


def request(rest: bytes = b"", ahead: bytes = b"", length: int = 0) -> Any:
    """Return a request as gunicorn parses it, with its unread body and the bytes after it."""
    body = Body(LengthReader(IterUnreader([rest]), length or len(rest)))
    unreader = SimpleNamespace(buf=io.BytesIO(ahead))
    return SimpleNamespace(method="POST", headers=[], body=body, unreader=unreader)


def limit(monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
    """Set time limits of the module."""
    for name, value in seconds.items():
        monkeypatch.setattr(connection_module, name, value)


def test_a_connection_waits_for_a_request_and_then_ends(pair, monkeypatch):
    """A silent connection ends without an answer."""
    limit(monkeypatch, KEEPALIVE_S=0.01)
    link, client = pair
    assert b"" == link.recv(100)
    link.close()
    assert b"" == client.recv(100)


def test_a_head_that_does_not_end_is_told(pair, monkeypatch):
    """The time of a head counts from its first byte, however often another byte comes."""
    limit(monkeypatch, HEAD_S=0.0)
    link, client = pair
    client.sendall(b"GET")
    assert b"GET" == link.recv(100)
    client.sendall(b" /")
    assert b"" == link.recv(100)
    assert client.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_request_that_was_sent_ahead_has_begun(pair, monkeypatch):
    """A head that begins in the previous request's bytes starts its time at once."""
    limit(monkeypatch, HEAD_S=0.0)
    link, client = pair
    link.begin_request(request())
    link.finish_request(request(ahead=b"GET"))
    assert b"" == link.recv(100)
    assert client.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_does_not_come_is_too_slow(pair, monkeypatch):
    """The application hears that a body is too slow, and chooses the answer."""
    limit(monkeypatch, BODY_S=0.0)
    link, client = pair
    client.sendall(b"late")
    link.begin_request(request())
    with pytest.raises(TimeoutError):
        link.recv(100)


@pytest.mark.parametrize(
    ("length", "seconds"), [(0, 30.0), (100_000, 31.0), (10**7, 130.0), (10**15, 365.5)]
)
def test_a_longer_body_has_more_time(pair, monkeypatch, length, seconds):
    """A body has half a minute and a second for each 100 kB, up to the longest body's time."""
    monkeypatch.setattr(connection_module.time, "monotonic", lambda: 1000.0)
    link, _ = pair
    link.begin_request(request(length=length))
    assert 1000.0 + seconds == pytest.approx(link._until_s, abs=0.1)


def test_a_client_that_does_not_read_has_gone(pair, monkeypatch):
    """A client that does not read counts as a broken connection, without an error in the log."""
    limit(monkeypatch, UNREAD_S=0.01, SEND_RATE=10**12)
    with pytest.raises(BrokenPipeError):
        pair[0].sendall(bytes(10_000_000))


def test_a_head_and_its_body_leave_together(pair):
    """A short piece waits for the next one, and goes out when the request is over."""
    link, client = pair
    link.begin_request(request())
    link.sendall(b"head ")
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)
    link.sendall(b"body")
    link.finish_request(request())
    assert b"head body" == client.recv(100)


def test_what_a_client_must_see_at_once_is_sent_at_once(pair):
    """`100 Continue` is sent at once."""
    link, client = pair
    assert 8 == link.send(b"continue")
    assert b"continue" == client.recv(100)


@pytest.mark.parametrize("rest", [b"", b"x" * 65_536])
def test_a_short_rest_is_passed_over(pair, rest):
    """A short unread rest is skipped, and the connection waits for the next request."""
    link, _ = pair
    link.begin_request(request())
    assert not link.idle
    link.finish_request(request(rest))
    assert link.idle


def test_a_long_rest_ends_the_connection(pair):
    """A long unread rest ends the connection."""
    link, _ = pair
    link.begin_request(request())
    with pytest.raises(StopIteration):
        link.finish_request(request(b"x" * 65_537))


def test_a_body_that_is_left_unread_ends_the_connection(pair):
    """Nothing more is read of a stranger's body; the answer says that it is the last one."""
    link, client = pair
    asked, told = request(b"x" * 100), []
    asked.force_close = lambda: told.append("close")
    link.begin_request(asked)
    link.leave_unread()
    with pytest.raises(StopIteration):
        link.finish_request(asked)
    assert (["close"], 100) == (told, asked.body.reader.length)


def test_what_is_dropped_is_read_at_leisure(pair, monkeypatch):
    """A client that sends on into a finished connection gets a piece of the server now and then."""
    rests = []
    monkeypatch.setattr(connection_module.gevent, "sleep", rests.append)
    link, client = pair
    client.sendall(bytes(100_000))
    client.shutdown(socket.SHUT_WR)
    link.close()
    assert len(rests) >= 2 and set(rests) == {connection_module._LINGER_REST_S}


class Watched:
    """The socket of a connection, which notes at each `recvmsg` whether it is receiving."""

    def __init__(self, link: BoundedConnection, seen: list[bool]) -> None:
        self._plain = link._link
        self._link = link
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the socket."""
        return getattr(self._plain, name)

    def recvmsg(self, size: int, ancillary_bytes: int) -> Any:
        """Note it, and receive."""
        self._seen.append(self._link.receiving)
        return self._plain.recvmsg(size, ancillary_bytes)


@pytest.fixture
def seen(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return what is noted at each wait and each rest of the connection: is it receiving?"""
    link, noted = pair[0], list[bool]()
    link._link = Watched(link, noted)

    def rest(seconds: float) -> None:
        noted.append(link.receiving)

    monkeypatch.setattr(connection_module.gevent, "sleep", rest)
    return noted


def test_only_who_takes_a_body_is_receiving(pair, seen):
    """A connection makes room for others at a body's wait, at the rest before it, and not after.

    On a busy server all of a flood's connections may have that rest at the same time.
    """
    link, client = pair
    link.begin_request(request())
    link.hurry()
    client.sendall(b"body")
    assert (b"body", [True, True], False) == (link.recv(100), seen, link.receiving)


def test_who_sends_on_after_the_last_answer_is_receiving(pair, seen):
    """A connection makes room for others until what still comes has been dropped."""
    link, client = pair
    client.sendall(bytes(100_000))
    client.shutdown(socket.SHUT_WR)
    link.close()
    assert len(seen) >= 3 and all(seen)


def test_a_body_that_is_malformed_ends_the_connection(pair):
    """A malformed rest ends the connection, since nobody knows where the next request begins."""
    link, _ = pair
    broken = request()
    broken.body.failed = True
    with pytest.raises(StopIteration):
        link.finish_request(broken)


def test_who_is_sent_away_sees_the_end(pair):
    """A connection that is sent away ends its wait, and the client sees a close."""
    link, client = pair
    link.send_away()
    assert b"" == link.recv(100)
    link.close()
    assert b"" == client.recv(100)


def test_an_answer_is_read_to_its_end_though_the_client_still_sends(pair):
    """Our side closes first and lets the rest come; a reset would destroy the answer."""
    link, client = pair
    client.sendall(b"x" * 100_000)
    link.begin_request(request())
    link.sendall(b"refused")
    client.shutdown(socket.SHUT_WR)
    link.close()
    assert b"refused" == client.recv(100)
    assert b"" == client.recv(100)


def test_a_client_that_stays_is_not_waited_for(pair, monkeypatch):
    """A client that does not close has a moment for it, and no longer."""
    limit(monkeypatch, _LINGER_S=0.01)
    link, client = pair
    link.begin_request(request())
    link.sendall(b"bye")
    link.close()
    assert b"bye" == client.recv(100)


def test_a_client_that_closes_waits_no_more(pair):
    """A client that closes during its request is seen, and what it has sent stays unread."""
    link, client = pair
    waits = waits_of({"gunicorn.socket": link})
    assert waits()
    client.sendall(b"next")
    assert waits()
    assert b"next" == link.recv(100)
    client.close()
    assert not waits()


def test_a_client_that_has_sent_all_may_close_its_half(pair):
    """A client that closes its sending side with the request waits for the answer."""
    link, client = pair
    client.shutdown(socket.SHUT_WR)
    assert waits_of({"gunicorn.socket": link})()
    link.close()
    assert waits_of({})()
