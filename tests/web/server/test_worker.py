# SPDX-License-Identifier: Apache-2.0
"""The servers' worker, a real process: who waits keeps nobody else waiting."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.running import eventually

THREADS = 4
SHARE = 3  # Of them for one address.
BOUND_S = 20.0


needs_second_address = pytest.mark.skipif(
    sys.platform != "linux", reason="needs a second address of the loopback"
)


class Client:
    """Talk to the server on raw connections from one address."""

    def __init__(self, port: int, stack: ExitStack, source: str = "127.0.0.1") -> None:
        self._port = port
        self._stack = stack
        self._source = (source, 0)

    def neighbour(self) -> Client:
        """Return a client at another address."""
        return Client(self._port, self._stack, "127.0.0.2")

    def ask(self, path: str, link: socket.socket | None = None) -> socket.socket:
        """Send a request and return its connection, without waiting for the answer."""
        if link is None:
            address = ("127.0.0.1", self._port)
            link = socket.create_connection(address, BOUND_S, self._source)
            self._stack.enter_context(link)
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


def cpu_s(server: subprocess.Popen[bytes]) -> float:
    """Return the seconds of a processor that the server's processes have taken."""
    children = f"/proc/{server.pid}/task/{server.pid}/children"
    pids = [server.pid, *Path(children).read_text().split()]
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def patience() -> str:
    """Return how patient the worker is (see `odd_app`)."""
    return "usual"


@pytest.fixture
def server(patience: str) -> Iterator[subprocess.Popen[bytes]]:
    """Return the application of `odd_app` in a process of its own; `port` is where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "tests.support.odd_app"]
        process = subprocess.Popen(
            [*command, str(listener.fileno()), str(THREADS), patience],
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
        assert b"now" == client.get("/now")  # It has started.
        yield client


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


@needs_second_address
def test_one_address_never_has_all_threads(client, server):
    """With three quarters of them stuck its next request waits, and is served in the end."""
    stuck = [client.ask("/wait/first") for _ in range(SHARE - 1)]
    # Now one more, with a request behind it that would let it go.
    last, behind = client.ask("/wait/last"), client.ask("/go/last")
    used_s = cpu_s(server)
    behind.settimeout(0.5)
    with pytest.raises(TimeoutError):
        behind.recv(1)
    # Meanwhile the server rests: half of the time would be the whole of it in a busy loop.
    assert cpu_s(server) - used_s < 0.25
    behind.settimeout(BOUND_S)
    assert b"gone" == client.neighbour().get("/go/first")
    assert b"gone" == answer(behind)
    assert [b"waited"] * SHARE == [answer(link) for link in [*stuck, last]]


@needs_second_address
def test_a_request_is_whole_when_its_last_byte_is_here(client):
    """However long it then waits for its turn: that is what a deadline is about."""
    stuck = [client.ask("/wait/first") for _ in range(SHARE)]
    waiting = client.ask("/whole")
    waiting.settimeout(0.3)
    with pytest.raises(TimeoutError):
        waiting.recv(1)
    waiting.settimeout(BOUND_S)
    served_s = time.monotonic()
    assert b"gone" == client.neighbour().get("/go/first")
    assert float(answer(waiting)) < served_s
    assert [b"waited"] * SHARE == [answer(link) for link in stuck]


@needs_second_address
def test_awaited_responses_that_nobody_reads_count_for_their_address(client):
    """Sending them occupies no more than its share of the threads."""
    unread = [client.ask("/large/this") for _ in range(THREADS + 2)]
    assert b"gone" == client.neighbour().get("/go/this")
    # All that may be sent is being sent, and stops when the buffers are full.
    begun = [link.recv(12) for link in unread[-SHARE:]]
    assert [b"HTTP/1.1 200"] * SHARE == begun
    for _ in range(5):
        assert b"now" == client.neighbour().get("/now")


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


@pytest.mark.parametrize("path", ["/missing", "/exit"])
def test_what_goes_wrong_in_an_application_is_one_request_s_matter(client, path):
    """It is answered with 500, as often as it comes, and the server lives on."""
    for _ in range(THREADS + 2):
        assert client.ask(path).recv(12) == b"HTTP/1.1 500"
    assert b"now" == client.get("/now")


@pytest.mark.parametrize("rest", [b"zz\r\n", b"1\r\nxy\r\n", b"0\r\nbad trailer\r\n\r\n"])
def test_nothing_follows_a_response_but_the_next(client, rest):
    """What is wrong with the unread rest of a body is not told after the answer."""
    link = client.ask("/now")
    assert b"now" == answer(link)
    head = b"POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    link.sendall(head + rest)
    assert b"unread" == answer(link)
    assert b"" == link.recv(1)


def test_clients_that_go_while_they_are_served_harm_nobody(client):
    """Their responses go nowhere, and nothing of theirs is left that counts."""
    for number in range(2 * SHARE):
        for path in ("wait", "later", "pieces", "large"):
            client.ask(f"/{path}/{number}").close()
        assert b"gone" == client.get(f"/go/{number}")
    assert b"now" == client.get("/now")


def test_a_response_is_closed_though_its_client_has_gone(client):
    """What an application wants to do after a response is done in any case."""
    link = client.ask("/closing/gate")
    assert b"HTTP/1.1 200" == link.recv(12)
    link.close()
    assert b"waited" == client.get("/wait/gate")


def test_a_connection_that_is_over_is_closed_though_its_client_stays(client):
    """The server waits a moment for the client to close, and not for ever."""
    link = client.ask("/broken")
    while link.recv(4096):
        pass

    def is_reset() -> bool:
        try:
            link.send(b"x")
        except ConnectionError:
            return True
        return False

    eventually(is_reset, "the connection to be closed")


def test_what_is_completed_by_the_leader_takes_its_time(client):
    """However often the leader is replaced meanwhile, a thread is left for the next."""
    for _ in range(3 * THREADS):
        assert b"completed" == client.get("/completed")
    together = [client.ask("/completed") for _ in range(3 * THREADS)]
    assert {b"completed"} == {answer(link) for link in together}
    assert b"now" == client.get("/now")


@needs_second_address
def test_with_all_threads_stuck_the_next_request_waits(client, server):
    """It is served when one of them is free again."""
    stuck = [client.ask("/line"), *(client.ask("/wait/gate") for _ in range(SHARE - 1))]
    stuck += [client.neighbour().ask("/wait/gate") for _ in range(THREADS - SHARE)]
    waiting = client.neighbour().ask("/go/gate")
    waiting.settimeout(0.3)
    with pytest.raises(TimeoutError):
        waiting.recv(1)
    waiting.settimeout(BOUND_S)
    server.stdin.write(b"a line\n")
    server.stdin.flush()
    assert b"gone" == answer(waiting)
    assert [b"a line\n", *[b"waited"] * (THREADS - 1)] == [answer(link) for link in stuck]


@pytest.mark.parametrize("patience", ["saint"])
def test_whoever_knows_an_outcome_calls_the_leader(client):
    """The response comes although nothing else happens on any connection."""
    assert b"timer" == client.get("/timer")


@pytest.mark.parametrize("patience", ["saint"])
def test_whoever_waits_for_a_reader_gives_the_lead_away(client):
    """Others are served while the buffers of a connection are full."""
    assert b"gone" == client.get("/go/this")
    assert b"HTTP/1.1 200" == client.ask("/large/this").recv(12)
    assert b"now" == client.get("/now")


@pytest.mark.parametrize("patience", ["saint"])
def test_whoever_has_waited_for_a_body_calls_the_leader(client):
    """Its address has room again, and what waits for that is served."""
    # Whoever expects `100 Continue` is served by another thread than the leader.
    head = b"POST /slowly HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n"
    links = [client.ask("/now") for _ in range(SHARE)]
    assert [b"now"] * SHARE == [answer(link) for link in links]
    for link in links:
        link.sendall(head)
    assert b"now" == client.get("/now")


@pytest.mark.parametrize("patience", ["none"])
@pytest.mark.parametrize(("how", "text"), [("waiting", b"called off"), ("begun", b"given up")])
def test_a_response_that_does_not_come_is_asked_for_in_the_end(client, how, text):
    """What can be called off is; what cannot is told as it stands. Neither keeps a thread."""
    links = [client.ask(f"/never/{how}") for _ in range(2 * THREADS)]
    assert b"now" == client.get("/now")
    assert {text} == {answer(link) for link in links}


def test_what_has_begun_is_finished_before_the_end(client, server):
    """A server that is told to stop answers what it has, and closes idle connections at once."""
    idle, busy = client.ask("/now"), client.ask("/line")
    assert b"now" == answer(idle)
    server.send_signal(signal.SIGTERM)
    assert b"" == idle.recv(1)
    server.stdin.write(b"the end\n")
    server.stdin.flush()
    came = b""
    while part := busy.recv(4096):
        came += part
    assert b"\r\nConnection: close\r\n" in came and came.endswith(b"the end\n")
    assert 0 == server.wait(BOUND_S)


def test_a_stuck_request_does_not_keep_the_server_from_ending(client, server):
    """It is told to stop, waits a moment, closes what it owns, and ends in good order."""
    client.ask("/wait/never")
    assert b"now" == client.get("/now")
    server.send_signal(signal.SIGTERM)
    assert 0 == server.wait(BOUND_S)
    assert b"closed\n" == server.stdout.read()
