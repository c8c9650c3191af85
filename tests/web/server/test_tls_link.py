# SPDX-License-Identifier: Apache-2.0
"""A connection under TLS: each wait ends in time, however its bytes trickle in."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import gevent
import pytest
from gevent import socket
from gevent.event import Event
from gevent.ssl import SSLContext

from referee.service.setup.contest_tls import server_context
from referee.web.server import tls_link
from referee.web.server.arrival import STAMP_BYTES
from referee.web.server.tls_link import TlsLink
from referee.web.server.turns import FirstAddresses, Party, Turns
from tests.support.certificates import self_signed, trusting

BOUND_S = 180.0


class Pair:
    """Both ends of a connection; the client's end is driven by bytes in memory."""

    def __init__(self, files: Any) -> None:
        ours, self.wire = socket.socketpair()
        self.wire.settimeout(BOUND_S)
        self.turn = partial(Turns().take, Party())
        self.link = TlsLink(ours, server_context(files, SSLContext))
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = trusting(files.certificate).wrap_bio(
            self._incoming, self._outgoing, server_hostname="127.0.0.1"
        )

    def secured(self) -> None:
        """Shake hands from both sides."""
        server = gevent.spawn(self.link.shake_hands, self.turn)
        while True:
            try:
                self.client.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.wire.sendall(self._outgoing.read())
                self._incoming.write(self.wire.recv(65536))
        self.wire.sendall(self._outgoing.read())
        assert server.get(timeout=BOUND_S)

    def encrypted(self, data: bytes) -> bytes:
        """Return the record that carries data."""
        self.client.write(data)
        return self._outgoing.read()

    def decrypted(self) -> bytes:
        """Return what the server has sent until it closes; raise if it does not say farewell."""
        while received := self.wire.recv(65536):
            self._incoming.write(received)
        self._incoming.write_eof()
        found = b""
        while part := self.client.read(65536):
            found += part
        return found


@pytest.fixture
def pair(tmp_path) -> Iterator[Pair]:
    """Return a server's and a client's end."""
    made = Pair(self_signed(tmp_path, datetime.now(UTC)))
    yield made
    made.link.close()
    made.wire.close()


def trickle(pair: Pair, data: bytes) -> Any:
    """Send bytes one by one, without an end."""

    never, pause_s = Event(), 0.001

    def send() -> None:
        for number in range(len(data)):
            pair.wire.sendall(data[number : number + 1])
            never.wait(pause_s)

    return gevent.spawn(send)


def test_data_goes_both_ways_and_the_end_is_told(pair):
    """The client knows that nothing was cut off."""
    pair.secured()
    pair.wire.sendall(pair.encrypted(b"question"))
    pair.link.settimeout(BOUND_S)
    assert b"question" == pair.link.recvmsg(100, STAMP_BYTES)[0]
    pair.link.sendall(b"answer")
    pair.link.shutdown(socket.SHUT_WR)
    assert b"answer" == pair.decrypted()


def test_a_record_that_trickles_in_has_one_limit(pair):
    """Each byte of a record wakes the server, and none begins the time again."""
    pair.secured()
    sender = trickle(pair, pair.encrypted(bytes(16_000)))
    pair.link.settimeout(0.05)
    with pytest.raises(TimeoutError):
        pair.link.recvmsg(100, STAMP_BYTES)[0]
    assert not sender.dead
    sender.kill()


def test_an_answer_that_nobody_reads_has_one_limit(pair):
    """A client that takes some bytes now and then does not begin the time again."""
    pair.secured()
    reader = gevent.spawn(lambda: [pair.wire.recv(100) for _ in range(10**6)])
    pair.link.settimeout(0.05)
    with pytest.raises(TimeoutError):
        pair.link.sendall(bytes(100_000_000))
    reader.kill()


def test_a_handshake_that_trickles_in_has_one_limit(pair, monkeypatch):
    """A hello of many bytes does not hold a connection longer than a hello of none."""
    with pytest.raises(ssl.SSLWantReadError):
        pair.client.do_handshake()
    hello = pair._outgoing.read()
    sender = trickle(pair, hello[:5] + bytes(10_000))
    with monkeypatch.context() as patched:
        patched.setattr(tls_link, "HANDSHAKE_S", 0.05)
        assert not pair.link.shake_hands(pair.turn)
    sender.kill()


def test_nobody_who_says_nothing_is_waited_for_long(pair, monkeypatch):
    """A connection without a byte ends as well."""
    with monkeypatch.context() as patched:
        patched.setattr(tls_link, "HANDSHAKE_S", 0.01)
        assert not pair.link.shake_hands(pair.turn)


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\n\r\n", b"post /login HTTP/1.0\r\n\r\n"])
def test_plain_http_is_told(pair, head):
    """A client with the wrong scheme reads a status and a sentence."""
    pair.wire.sendall(head)
    assert not pair.link.shake_hands(pair.turn)
    answer = pair.wire.recv(4096)
    told, _, body = answer.partition(b"\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 400 ")
    assert f"Content-Length: {len(body)}".encode() in told
    assert b"https://" in body


@pytest.mark.parametrize("begin", [b"\x80\x2e\x01\x00\x02", b"\x00", b"\x16\x03\x01\x00\x02no"])
def test_what_is_neither_is_not_served(pair, begin):
    """An old hello, a zero byte and a broken hello end the connection."""
    pair.wire.sendall(begin)
    pair.wire.shutdown(socket.SHUT_WR)
    assert not pair.link.shake_hands(pair.turn)


def test_a_waiting_handshake_can_be_sent_away(pair):
    """Half a handshake makes room for a newcomer, as an idle connection does."""
    pair.wire.sendall(b"\x16\x03\x01")
    waiting = gevent.spawn(pair.link.shake_hands, pair.turn)
    gevent.idle()
    pair.link.shutdown(socket.SHUT_RD)
    assert waiting.get(timeout=BOUND_S) is False


def test_a_handshake_waits_for_its_turn_and_not_for_ever(pair, monkeypatch):
    """A step is taken in a turn alone; without one the time of the handshake ends it."""
    with pytest.raises(ssl.SSLWantReadError):
        pair.client.do_handshake()
    pair.wire.sendall(pair._outgoing.read())
    with monkeypatch.context() as patched:
        patched.setattr(tls_link, "HANDSHAKE_S", 0.05)
        assert not pair.link.shake_hands(Event().wait)
    pair.wire.setblocking(False)
    with pytest.raises(BlockingIOError):
        pair.wire.recv(1)


def test_a_neighbour_is_served_between_the_steps_of_a_flood(tmp_path):
    """Hellos of one address that are all there at once do not run one after the other."""
    files, order = self_signed(tmp_path, datetime.now(UTC)), list[str]()
    turns, flood = Turns(), [Pair(files) for _ in range(8)]

    def take_turn() -> None:
        turns.take(Party("flood", FirstAddresses()))
        order.append("step")

    for one in flood:
        with pytest.raises(ssl.SSLWantReadError):
            one.client.do_handshake()
        one.wire.sendall(one._outgoing.read())
    asking, serving = socket.socketpair()

    def ask() -> None:
        while order.count("step") < len(flood):
            asking.sendall(b"?")
            asking.recv(1)

    def serve() -> None:
        while serving.recv(1):
            order.append("neighbour")
            serving.sendall(b"!")

    serving.settimeout(BOUND_S)
    others = [gevent.spawn(serve)]
    others += [gevent.spawn(one.link.shake_hands, take_turn) for one in flood]
    gevent.spawn(ask).join(timeout=BOUND_S)
    gevent.killall(others)
    for end in (asking, serving, *(end for one in flood for end in (one.link, one.wire))):
        end.close()
    steps = [place for place, what in enumerate(order) if what == "step"]
    assert len(flood) == len(steps)
    # The worker looks at all connections once for each step, and the neighbour needs two looks: to
    # ask, and to be served.
    assert all(after - before > 2 for before, after in zip(steps, steps[2:], strict=False)), order


def test_garbage_in_a_session_is_a_broken_connection(pair):
    """A record that was changed on its way is no data, and no error of the server."""
    pair.secured()
    record = bytearray(pair.encrypted(b"question"))
    record[-1] ^= 1
    pair.wire.sendall(bytes(record))
    pair.link.settimeout(BOUND_S)
    with pytest.raises(ConnectionResetError):
        pair.link.recvmsg(100, STAMP_BYTES)[0]
