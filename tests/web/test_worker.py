# SPDX-License-Identifier: Apache-2.0
"""The servers' worker, a real process: who waits keeps nobody else waiting."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

THREADS = 4
BOUND_S = 20.0


class Client:
    """Talk to the server on raw connections."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._port = port
        self._stack = stack

    def ask(self, path: str, link: socket.socket | None = None) -> socket.socket:
        """Send a request and return its connection, without waiting for the answer."""
        if link is None:
            address = ("127.0.0.1", self._port)
            link = self._stack.enter_context(socket.create_connection(address, BOUND_S))
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return link

    def get(self, path: str, link: socket.socket | None = None) -> bytes:
        """Return the body of the answer."""
        return answer(self.ask(path, link))


def answer(link: socket.socket) -> bytes:
    """Return the body of the next answer on a connection, and read no byte more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += received(link, 1)
    assert head.startswith(b"HTTP/1.1 200 ")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return received(link, int(length))


def received(link: socket.socket, count: int) -> bytes:
    """Return exactly so many bytes."""
    content = b""
    while len(content) < count:
        part = link.recv(count - len(content))
        assert part, f"the connection ended after {content!r}"
        content += part
    return content


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """Return the application of `odd_app` in a process of its own; `port` is where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "tests.web.odd_app"]
        process = subprocess.Popen(
            [*command, str(listener.fileno()), str(THREADS)],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
        )
        process.port = listener.getsockname()[1]  # type: ignore[attr-defined]
        yield process
        process.terminate()
        process.communicate(timeout=BOUND_S)


@pytest.fixture
def client(server) -> Iterator[Client]:
    """Return a client; its connections are closed before the server ends."""
    with ExitStack() as stack:
        yield Client(server.port, stack)


def test_requests_one_after_the_other_need_one_thread(client):
    """Nobody waits for anything, so nobody gives the lead away."""
    link = client.ask("/now")
    assert b"now" == answer(link)
    assert {client.get("/thread", link) for _ in range(200)} == {client.get("/thread")}


def test_who_waits_in_the_application_stops_nobody(client):
    """A stuck request keeps its thread, and another one serves the rest."""
    waiting = [client.ask("/wait/gate") for _ in range(THREADS // 2)]
    for _ in range(20):
        assert b"now" == client.get("/now")
    assert b"gone" == client.get("/go/gate")
    assert [b"waited"] * len(waiting) == [answer(link) for link in waiting]


def test_one_address_never_has_all_threads(client):
    """With three quarters of them stuck its next request waits, and is served in the end."""
    stuck = [client.ask("/wait/first") for _ in range(THREADS * 3 // 4 - 1)]
    # Now one more, with a request of its own behind it that is to let it go.
    last = client.ask("/wait/last")
    behind = client.ask("/go/last")
    behind.settimeout(0.3)
    with pytest.raises(TimeoutError):
        behind.recv(1)
    behind.settimeout(BOUND_S)
    neighbour = socket.create_connection(("127.0.0.1", client._port), BOUND_S, ("127.0.0.2", 0))
    with neighbour:
        assert b"gone" == client.get("/go/first", neighbour)
    assert b"gone" == answer(behind)
    assert [b"waited"] * 3 == [answer(link) for link in [*stuck, last]]


def test_an_awaited_response_needs_no_thread(client):
    """More responses than there are threads are awaited, and each comes on its connection."""
    awaited = [client.ask(f"/later/{number}") for number in range(3 * THREADS)]
    assert b"now" == client.get("/now")
    for number, link in reversed(list(enumerate(awaited))):
        assert b"gone" == client.get(f"/go/{number}")
        assert b"later" == answer(link)
        # The connection goes on.
        assert b"now" == client.get("/now", link)


def test_requests_sent_ahead_are_answered_in_order(client):
    """A client may send the next request before it has the answer to the last."""
    link = client.ask("/later/this")
    for path in ("/now", "/later/that", "/now"):
        client.ask(path, link)
    assert b"gone" == client.get("/go/this")
    assert [b"later", b"now"] == [answer(link), answer(link)]
    assert b"gone" == client.get("/go/that")
    assert [b"later", b"now"] == [answer(link), answer(link)]


def test_a_stream_comes_piece_by_piece(client):
    """What an application has yielded is sent before it is asked for more."""
    link = client.ask("/pieces/gate")
    came = b""
    while b"first" not in came:
        came += received(link, 1)
    assert b"gone" == client.get("/go/gate")
    while b"second" not in came:
        came += received(link, 1)


def test_a_body_that_nobody_read_is_not_the_next_request(client):
    """The rest of an unread body is discarded, long or short."""
    link = client.ask("/now")
    assert b"now" == answer(link)
    for length in (10, 30_000, 100_000):
        head = f"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
        link.sendall(head.encode() + b"x" * length)
        assert b"unread" == answer(link)
        if length > 64 * 1024:  # So much is not read on: the connection ends.
            assert b"" == link.recv(1)
        else:
            assert b"now" == client.get("/now", link)


def test_a_response_that_breaks_off_ends_its_connection(client):
    """No second response is put into the first, and the server lives on."""
    link = client.ask("/broken")
    came = b""
    while part := link.recv(4096):
        came += part
    assert b"first" in came and b" 500 " not in came
    assert b"now" == client.get("/now")


def test_a_client_that_goes_while_it_is_served_harms_nobody(client):
    """Its response goes nowhere."""
    for path in ("/wait/gate", "/later/gate", "/pieces/gate"):
        client.ask(path).close()
    assert b"now" == client.get("/now")
    assert b"gone" == client.get("/go/gate")
    assert b"now" == client.get("/now")


def test_what_has_begun_is_finished_before_the_end(client, server):
    """A server that is told to stop answers what it has, and closes idle connections at once."""
    idle, busy = client.ask("/now"), client.ask("/line")
    assert b"now" == answer(idle)
    server.send_signal(signal.SIGTERM)
    assert b"" == idle.recv(1)
    server.stdin.write(b"the end\n")
    server.stdin.flush()
    assert b"the end\n" == answer(busy)
    assert b"" == busy.recv(1)
    busy.close()
    assert 0 == server.wait(BOUND_S)
