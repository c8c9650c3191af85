# SPDX-License-Identifier: Apache-2.0
"""What the server answers to requests that are not HTTP, and to its own failures."""

from __future__ import annotations

import io
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.http import errors

from referee.web.server.malformed import (
    LengthMissing,
    PlainErrors,
    body_comes_behind,
    require_length,
)


class Client:
    """A connected socket that keeps what it gets."""

    def __init__(self) -> None:
        self.sent = b""

    def sendall(self, data: bytes) -> None:
        """Keep the data."""
        self.sent += data


def answer_to(error: Exception) -> tuple[str, str]:
    """Return status and text of the answer to an error."""
    client = Client()
    PlainErrors().handle_error(None, client, ("192.0.2.1", 5), error)
    head, _, text = client.sent.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(text)}\r\n".encode() in head + b"\r\n"
    assert b"Connection: close\r\nContent-Type: text/plain" in head
    return head.split(b" ")[1].decode(), text.decode()


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (errors.InvalidRequestLine("GET /"), "400", "Invalid HTTP request line: 'GET /'"),
        (errors.InvalidHeader("A: \u0663\r\n<b>"), "400", "Invalid HTTP Header"),
        (errors.LimitRequestLine(9000, 8190), "414", "too large"),
        (errors.LimitRequestHeaders("limit request headers fields"), "431", "headers fields"),
        (errors.ExpectationFailed("x" * 5000), "417", "xxx"),
        (errors.UnsupportedTransferCoding("gzip"), "501", "'gzip'"),
        (errors.InvalidChunkSize(b"zz"), "400", "chunk size"),
    ],
)
def test_a_malformed_head_gets_one_sentence(error: Exception, status: str, words: str) -> None:
    """The status fits the fault, and the text is one printable line that ends with a full stop."""
    found, text = answer_to(error)
    assert (found, True) == (status, words in text)
    assert text.endswith(".\n") and text[:-1].isascii() and text[:-1].isprintable()
    assert len(text) < 300


@pytest.mark.parametrize("error", [ValueError("secret"), errors.InvalidResponseHeader("X: secret")])
def test_our_own_failure_says_where_to_look(error: Exception) -> None:
    """A failure of the server is 500 in one sentence, and its text stays in the log."""
    assert ("500", "The referee failed to do it; its log says why.\n") == answer_to(error)


def test_a_client_that_has_gone_gets_nothing() -> None:
    """A connection that is closed already, or that breaks, raises nothing."""

    class Gone:
        def sendall(self, data: bytes) -> None:
            raise BrokenPipeError

    PlainErrors().handle_error(None, Gone(), None, errors.InvalidRequestLine(""))
    client = Client()
    PlainErrors().handle_error(None, client, ("192.0.2.1", 5), ConnectionResetError())
    assert client.sent == b""


def post(behind: bytes, *headers: tuple[str, str], method: str = "POST") -> Any:
    """Return a request as gunicorn parses it, with the bytes that have come behind its head."""
    unreader = SimpleNamespace(buf=io.BytesIO(behind))
    return SimpleNamespace(method=method, headers=list(headers), unreader=unreader)


@pytest.mark.parametrize(
    "behind",
    [
        b"token=1.x&image_name=1",
        b"1 1 0.5 10 20 99 80\n",
        b'{"image": 1}',
        b"USERNAME=me&PASSWORD=x",
        b"\x1f\x8b\x08\x00",
        b"\r\n\r\ntoken=1.x",
        b"POST it\r\n",
        b"name=GET / HTTP/1.1\r\n",
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_bytes_behind_a_post_without_a_length_are_a_body(behind, method) -> None:
    """A body whose sender forgot to say its length is refused, whatever is in it."""
    with pytest.raises(LengthMissing, match="send Content-Length"):
        require_length(post(behind, method=method))


@pytest.mark.parametrize(
    "behind",
    [b"", b"\r\n", b"GET /image HTTP/1.1\r\nHost: x\r\n", b"GET /im", b"PO", b"POST / HTTP/1.0\n"],
)
def test_a_post_without_a_body_needs_no_length(behind) -> None:
    """Old clients post without a body, and others send their next request ahead."""
    require_length(post(behind))


@pytest.mark.parametrize("header", ["CONTENT-LENGTH", "TRANSFER-ENCODING"])
def test_a_length_or_chunks_say_where_a_body_ends(header) -> None:
    """What a request says of its body is believed; a GET has none."""
    require_length(post(b"token=1", (header, "7")))
    require_length(post(b"token=1", method="GET"))


def test_a_body_that_comes_after_its_answer_is_told_too() -> None:
    """Bytes that begin no request, after a POST without a length, get the same sentence."""
    client = Client()
    client.said_no_length = True  # type: ignore[attr-defined]
    error = errors.InvalidRequestLine("token=1&image_name=1")
    PlainErrors().handle_error(None, client, ("192.0.2.1", 5), error)
    assert client.sent.startswith(b"HTTP/1.1 411 ")
    assert b"send Content-Length with every body" in client.sent


@pytest.mark.parametrize(
    ("sent", "comes"),
    [(b"token=1", True), (b"GET / HTTP/1.1\r\n\r\n", False), (b"\r\n", False), (b"", False)],
)
def test_a_body_right_behind_its_head_is_seen_and_left_there(sent, comes) -> None:
    """What comes in a packet of its own is looked at before a post counts as one without a body."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        assert comes is body_comes_behind({"gunicorn.socket": ours}, within_s=0.0)
        ours.setblocking(False)
        if sent:
            assert sent == ours.recv(100)
        theirs.close()
        assert not body_comes_behind({"gunicorn.socket": ours}, within_s=0.0)
    assert not body_comes_behind({})
