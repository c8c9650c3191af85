# SPDX-License-Identifier: Apache-2.0
"""A look at a station ends in time and within its size, whatever the station does."""

from __future__ import annotations

import ssl
import threading
from datetime import UTC, datetime

import pytest

from referee.errors import InputError
from referee.extras.stations import link as link_module
from referee.extras.stations.link import http_look
from referee.extras.stations.notification import StationFault
from referee.service.setup.contest_tls import server_context
from tests.support.certificates import self_signed
from tests.support.running import PATIENCE_S
from tests.support.stations import answering

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"


def saying(*pieces):
    """Return a reply that reads the question's head and sends these bytes."""

    def reply(link):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += link.recv(1)
        reply.heads.append(head)
        for piece in pieces:
            link.sendall(piece)

    reply.heads = []
    return reply


def dripping(first):
    """Return a reply that sends a byte now and then until the other end is gone."""

    def reply(link):
        link.recv(100)
        link.sendall(first)
        pause = threading.Event()
        for _ in range(int(PATIENCE_S / 0.02)):
            pause.wait(0.02)
            link.sendall(b"x")

    return reply


def test_a_look_asks_by_get_and_goes_on_behind_the_token():
    """The question is one GET without a login, and the answer comes whole."""
    reply = saying(HEAD + b"Content-Length: 3\r\n\r\n{}\n")
    with answering(reply) as url:
        assert b"{}\n" == http_look(None)(f"{url}/hall", "7.0.ab").content
    head = reply.heads[0].decode()
    assert head.startswith("GET /hall/feed?stream=false&since_token=7.0.ab HTTP/1.1\r\n")
    assert not {"Cookie", "Authorization"} & {it.partition(":")[0] for it in head.splitlines()}


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([b"HTTP/1.1 302 Found\r\nLocation: http://evil/\r\n\r\n"], "redirects to http://evil/"),
        ([b"HTTP/1.1 503 Wait\r\nContent-Length: 5\r\n\r\n\x1b[2J!"], r"503: \?\[2J!"),
        ([HEAD + b"Content-Length: 9\r\n\r\n{}\n"], "broke off"),
        ([HEAD + b"\r\n{}\n"], "no length"),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{}\n"], "no answer by HTTP"),
        ([HEAD + b"Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"], "no feed"),
        ([b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"], "no feed"),
        ([b"SSH-2.0-OpenSSH_9.2\r\n"], "no answer by HTTP"),
        ([HEAD + b"X: y\r\n" * 200 + b"\r\n"], "no answer by HTTP"),
        ([], "no answer by HTTP"),
    ],
)
def test_an_answer_that_is_no_feed_is_told(pieces, told):
    """Each kind of wrong answer has words of its own, and no redirect is followed."""
    with answering(saying(*pieces)) as url, pytest.raises(StationFault, match=told):
        http_look(None)(url, None)


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"Content-Length: 9999\r\n\r\n"]
)
def test_a_byte_now_and_then_does_not_hold_a_look(first, monkeypatch):
    """The time is that of the whole look, in the head and in the body."""
    with answering(dripping(first)) as url, monkeypatch.context() as patched:
        patched.setattr(link_module, "LOOK_S", 0.2)
        with pytest.raises(StationFault, match="takes longer"):
            http_look(None)(url, None)


def test_an_endless_answer_ends_at_the_limit(monkeypatch):
    """A feed longer than any event's is refused before it fills the memory."""
    monkeypatch.setattr(link_module, "BYTES_MOST", 2**20)
    content = b"x" * 2**21
    with answering(saying(HEAD + b"Content-Length: 2097152\r\n\r\n", content)) as url:
        with pytest.raises(StationFault, match="longer than 1 MiB"):
            http_look(None)(url, None)


def test_nothing_at_the_address_is_told():
    """A station that is switched off has words of its own."""
    with answering(saying()) as url:
        pass
    with pytest.raises(StationFault, match="nothing listens"):
        http_look(None)(url, None)


def test_a_station_under_tls_needs_the_ca(tmp_path):
    """With its CA the feed comes; without it the fault names the option."""
    files = self_signed(tmp_path, datetime.now(UTC))
    context = server_context(files, ssl.SSLContext)
    reply = saying(HEAD + b"Content-Length: 3\r\n\r\n{}\n")
    with answering(reply, context) as url:
        assert 200 == http_look(files.certificate)(url, None).status
        with pytest.raises(StationFault, match="not trusted .* --ca-file"):
            http_look(None)(url, None)


def test_a_file_that_is_no_ca_is_refused(tmp_path):
    """The file is named before any station is asked."""
    path = tmp_path / "ca.pem"
    with pytest.raises(InputError, match="ca.pem"):
        http_look(path)
    path.write_text("nothing")
    with pytest.raises(InputError, match="ca.pem"):
        http_look(path)
