# SPDX-License-Identifier: Apache-2.0
"""When a request has come in far enough for a thread, and sockets whose waits end."""

from __future__ import annotations

import socket

import pytest

from referee.web.server.connections import BoundedSocket, ClientGone, framing_of

HEAD = b"POST /result HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("received", "needed"),
    [
        (b"", None),
        (b"GET /help HTTP/1.1\r\nHost: x\r\n", None),
        (b"GET /help HTTP/1.1\r\nHost: x\r\n\r\n", 31),
        (HEAD + b"Content-Length: 100\r\n\r\nabc", len(HEAD) + 23 + 100),
        (HEAD + b"CONTENT-LENGTH:100\r\n\r\n", len(HEAD) + 22 + 100),
        # Long bodies, chunks, and those who wait to be told to go on get a thread at once.
        (HEAD + b"Content-Length: 70000\r\n\r\n", len(HEAD) + 25),
        (HEAD + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n", len(HEAD) + 45),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", len(HEAD) + 30),
        # What the parser will refuse is not waited for.
        (HEAD + b"Content-Length: -1\r\n\r\n", len(HEAD) + 22),
        (b"GET /help HTTP/1.0\n\n", 0),
    ],
)
def test_how_much_of_a_request_is_awaited(received: bytes, needed: int | None) -> None:
    """The head, and a short body with it."""
    framing = framing_of(received)
    assert needed == (None if framing is None else framing.needed)


@pytest.mark.parametrize(
    ("headers", "whole"),
    [
        (b"", True),
        (b"Content-Length: 100\r\n", True),
        (b"Content-Length: 000000000000000000000100\r\n", True),
        (b"Content-Length: 70000\r\n", False),
        (b"Content-Length: 1000000000000000000\r\n", False),
        (b"Content-Length: +1\r\n", False),
        (b"Content-Length: 100\r\nExpect: 100-continue\r\n", False),
        (b"Transfer-Encoding: chunked\r\n", False),
    ],
)
def test_whether_a_request_is_whole_then(headers: bytes, whole: bool) -> None:
    """Only if its length says so beyond doubt: its time counts for a deadline."""
    framing = framing_of(HEAD + headers + b"\r\n")
    assert framing is not None
    assert framing.whole == whole
    assert framing.needed == len(HEAD + headers) + 2 + (100 if whole and headers else 0)


def test_what_is_received_later_was_not_there() -> None:
    """A socket from which more is received has no whole request any more."""
    ours, theirs = socket.socketpair()
    with BoundedSocket(ours, nothing) as link, theirs:
        link.whole_s = 5.0
        link.sendall(b"an answer")
        link.flush()
        assert link.whole_s == 5.0
        theirs.sendall(b"a")
        link.allow(60)
        assert (link.recv(1), link.whole_s) == (b"a", None)


def test_a_longer_body_has_more_time() -> None:
    """Half a minute, and a second for each 100 kB, up to the longest body there is."""
    lengths = (b"0", b"100000", b"10000000", b"9" * 15)
    times = [framing_of(HEAD + b"Content-Length: " + n + b"\r\n\r\n") for n in lengths]
    assert [30.0, 31.0, 130.0, 30 + 335.5] == [round(t.body_s, 1) for t in times if t]


def nothing() -> None:
    """Do nothing before a wait."""


def test_nothing_is_received_after_the_time() -> None:
    """Bytes that come too late are not taken, and a bound of the server's only shortens it."""
    ours, theirs = socket.socketpair()
    with BoundedSocket(ours, nothing) as link, theirs:
        theirs.sendall(b"abc")
        link.allow(60)
        assert link.recv(1) == b"a"
        link.settimeout(None)
        assert link.recv(1) == b"b"
        link.allow(0)
        with pytest.raises(TimeoutError):
            link.recv(1)
        assert (link.receive_now(9), link.receive_now(9)) == (b"c", None)
        theirs.close()
        assert link.receive_now(9) == b""


def test_who_reads_too_slowly_is_a_broken_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is told as if the client had gone, which it takes calmly."""
    monkeypatch.setattr("referee.web.server.connections._UNREAD_S", 0.01)
    monkeypatch.setattr("referee.web.server.connections._SEND_RATE", 10**9)
    ours, theirs = socket.socketpair()
    with BoundedSocket(ours, nothing) as link, theirs, pytest.raises(ClientGone):
        link.sendall(b"x" * 300_000)
        link.sendall(b"x" * 300_000)
