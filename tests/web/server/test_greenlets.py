# SPDX-License-Identifier: Apache-2.0
"""The contest server's worker as a real process: a waiting client keeps nobody else waiting."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import metadata
from types import SimpleNamespace

import pytest
from gevent import events

from power.clock import real_elapsed_s
from referee.web.server import greenlets
from referee.web.server import server as server_module
from referee.web.server.server import HANGS_S
from tests.support.running import eventually

pytestmark = pytest.mark.slow

MANY = 40
BOUND_S = 180.0


class Client:
    """A client that talks to the server on raw connections."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._port = port
        self._stack = stack

    def connect(self) -> socket.socket:
        """Return a new connection."""
        link = socket.create_connection(("127.0.0.1", self._port), BOUND_S)
        return self._stack.enter_context(link)

    def ask(self, path: str, link: socket.socket | None = None) -> socket.socket:
        """Send a request and return its connection, without waiting for the answer."""
        link = link or self.connect()
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return link

    def get(self, path: str, link: socket.socket | None = None) -> bytes:
        """Return the body of the answer."""
        return answer(self.ask(path, link))


def answer(link: socket.socket) -> bytes:
    """Return the body of the next answer on a connection, and read no byte beyond it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += received(link, 1)
    assert head.startswith(b"HTTP/1.1 200 "), head
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return received(link, int(length))


def received(link: socket.socket, count: int) -> bytes:
    """Return exactly this many bytes."""
    content = b""
    while len(content) < count:
        part = link.recv(count - len(content))
        assert part, f"the connection ended after {content!r}"
        content += part
    return content


def to_the_end(link: socket.socket) -> bytes:
    """Return every byte until the server closes."""
    content = b""
    while part := link.recv(65536):
        content += part
    return content


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """Return the application of `odd_app` in a process of its own; `port` is where it listens."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listener:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.odd_app", str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        process.port = listener.getsockname()[1]  # type: ignore[attr-defined]
        yield process
        process.terminate()
        process.communicate(timeout=BOUND_S)


@pytest.fixture
def client(server) -> Iterator[Client]:
    """Return a client; its connections are closed before the server ends."""
    with ExitStack() as stack:
        client = Client(server.port, stack)
        assert b"now" == client.get("/now")  # The worker has started.
        yield client


def test_a_request_that_waits_stops_nobody(client):
    """Requests that wait in the application do not hold up the next one."""
    waiting = [client.ask("/wait/gate") for _ in range(MANY)]
    link = client.ask("/now")
    assert b"now" == answer(link)
    assert b"gone" == client.get("/go/gate", link)
    assert [b"waited"] * MANY == [answer(one) for one in waiting]


def test_what_blocks_a_thread_stops_nobody(client, server):
    """Work that is done aside holds up its own request alone."""
    blocked = client.ask("/line")
    for _ in range(5):
        assert b"now" == client.get("/now")
    server.stdin.write(b"a line\n")
    server.stdin.flush()
    assert b"a line\n" == answer(blocked)


def test_requests_sent_ahead_are_answered_in_order(client):
    """Requests that a client sends ahead are answered in order."""
    link = client.ask("/wait/this")
    for path in ("/now", "/wait/that", "/now"):
        client.ask(path, link)
    assert b"gone" == client.get("/go/this")
    assert [b"waited", b"now"] == [answer(link), answer(link)]
    assert b"gone" == client.get("/go/that")
    assert [b"waited", b"now"] == [answer(link), answer(link)]


def test_a_stream_comes_piece_by_piece(client):
    """Each piece of a stream is sent before the application is asked for the next one."""
    link = client.ask("/pieces/gate")
    first = received(link, 10_000)
    assert first.startswith(b"HTTP/1.1 200 ")
    assert b"gone" == client.get("/go/gate")
    received(link, 10_000)


def test_a_body_that_nobody_read_is_not_the_next_request(client):
    """A short unread body is skipped; a long one ends the connection."""
    link = client.ask("/now")
    assert b"now" == answer(link)
    for length in (10, 30_000, 100_000):
        head = f"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
        link.sendall(head.encode() + b"x" * length)
        assert b"unread" == answer(link)
        if length > 64 * 1024:
            assert b"" == link.recv(1)
        else:
            assert b"now" == client.get("/now", link)


@pytest.mark.parametrize("rest", [b"zz\r\n", b"1\r\nxy\r\n", b"0\r\nbad trailer\r\n\r\n"])
def test_nothing_follows_an_answer_but_the_next(client, rest):
    """A malformed unread body adds nothing after the answer."""
    link = client.ask("/now")
    assert b"now" == answer(link)
    head = b"POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    link.sendall(head + rest)
    assert b"unread" == answer(link)
    assert b"" == link.recv(1)


def test_a_response_that_breaks_off_ends_its_connection(client):
    """A response that breaks off ends its connection, and the server goes on."""
    came = to_the_end(client.ask("/broken"))
    assert came.startswith(b"HTTP/1.1 200 ") and b" 500 " not in came
    assert b"now" == client.get("/now")


@pytest.mark.parametrize("path", ["/missing", "/exit"])
def test_a_mistake_of_the_application_ends_one_connection(client, path):
    """Each mistake of the application ends one connection, and the server goes on."""
    for _ in range(5):
        assert not client.ask(path).recv(12).startswith(b"HTTP/1.1 200")
    assert b"now" == client.get("/now")


def test_clients_that_go_while_they_are_served_harm_nobody(client):
    """Clients that leave while they are served harm no other client."""
    for number in range(2 * MANY):
        for path in ("wait", "pieces"):
            client.ask(f"/{path}/{number}").close()
        assert b"gone" == client.get(f"/go/{number}")
    assert b"now" == client.get("/now")


def test_a_response_is_closed_though_its_client_has_gone(client):
    """A response is closed even if its client has gone."""
    link = client.ask("/closing/gate")
    assert b"HTTP/1.1 200" == link.recv(12)
    link.close()
    assert b"waited" == client.get("/wait/gate")


def test_a_connection_that_is_over_is_closed_though_its_client_stays(client):
    """The server closes a finished connection after a moment, even if its client stays."""
    link = client.ask("/broken")
    to_the_end(link)

    def is_reset() -> bool:
        try:
            link.send(b"x")
        except ConnectionError:
            return True
        return False

    eventually(is_reset, "the connection to be closed")


def test_what_has_begun_is_finished_before_the_end(client, server):
    """A server that is told to stop answers its requests, and closes idle connections at once."""
    idle, busy = client.ask("/now"), client.ask("/line")
    assert b"now" == answer(idle)
    assert b"waited" == client.get("/wait/line")  # The request has begun.
    server.send_signal(signal.SIGTERM)
    assert b"" == idle.recv(1)
    server.stdin.write(b"the end\n")
    server.stdin.flush()
    assert to_the_end(busy).endswith(b"the end\n")
    assert 0 == server.wait(BOUND_S)


def test_what_has_begun_is_finished_when_the_arbiter_is_killed(client, server):
    """A worker without its arbiter ends as one that is told to: requests first, then the rest."""
    idle, busy = client.ask("/now"), client.ask("/line")
    assert b"now" == answer(idle)
    assert b"waited" == client.get("/wait/line")  # The request has begun.
    server.kill()
    assert b"" == idle.recv(1)
    server.stdin.write(b"the end\n")
    server.stdin.flush()
    assert to_the_end(busy).endswith(b"the end\n")
    assert b"closed\n" == server.stdout.read()


def test_a_stuck_request_does_not_keep_the_server_from_ending(client, server):
    """A stuck request delays the end by a moment, and the server still ends in good order."""
    client.ask("/wait/never")
    assert b"now" == client.get("/now")
    server.send_signal(signal.SIGTERM)
    assert 0 == server.wait(BOUND_S)
    assert b"closed\n" == server.stdout.read()


@pytest.mark.parametrize("how", ["stopped", "busy"])
def test_a_worker_that_hangs_is_replaced(client, how):
    """Clients of a worker whose loop stands still wait for some seconds, and not for a minute."""
    hung = int(client.get("/worker"))
    if how == "stopped":
        os.kill(hung, signal.SIGSTOP)
    else:
        client.ask("/busy")
    eventually(lambda: asked(client) not in (None, str(hung).encode()), "the next worker")
    # The arbiter looks each second, kills a second later, and starts the next one in another.
    assert HANGS_S + 3 <= 10


def asked(client: Client) -> bytes | None:
    """Return which worker answers, or None if the one that has taken the connection is killed."""
    try:
        return client.get("/worker")
    except (OSError, AssertionError):
        return None


def test_a_worker_that_begins_slowly_does_not_hang():
    """The arbiter waits a minute for a worker's first sign of life, and then the usual time."""
    with tempfile.TemporaryFile() as file:
        worker = SimpleNamespace(tmp=file, cfg=SimpleNamespace(set=lambda *setting: None))
        before_s = time.monotonic()
        server_module._give_times(None, worker)
        assert os.fstat(file.fileno()).st_mtime >= before_s + server_module._BEGINS_S


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux's")
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "fresh"])
def test_what_is_read_late_has_come_before(client, server, kept):
    """The instant of a request is when it came, although its worker stood still until later."""
    link = client.connect()
    if kept:
        assert b"now" == client.get("/now", link)
    stalled = client.ask("/stall")
    link.sendall(b"POST /arrived HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
    sent_s = real_elapsed_s()
    # What the test does meanwhile takes some time, too.
    server.stdin.write(b"go on\n")
    server.stdin.flush()
    went_on_s = real_elapsed_s()
    came_s = float(answer(link))
    answer(stalled)
    assert came_s < went_on_s and came_s <= sent_s + 0.001


def test_no_installed_package_is_asked_for_an_event_of_the_worker(monkeypatch):
    """What gevent tells while it patches Python reaches those who subscribe to it alone."""
    asked, told = [], []
    monkeypatch.setattr(metadata, "entry_points", lambda **group: asked.append(group) or [])
    monkeypatch.setattr("zope.event.subscribers", [told.append])
    event = events.GeventWillPatchAllEvent({}, {})
    with greenlets.told_to_subscribers():
        events.notify_and_call_entry_points(event)
    assert ([], [event]) == (asked, told)
    events.notify_and_call_entry_points(event)
    assert 1 == len(asked)
