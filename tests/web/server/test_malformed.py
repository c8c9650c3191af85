# SPDX-License-Identifier: Apache-2.0
"""What the server answers to requests that are not HTTP, and to its own failures."""

from __future__ import annotations

import pytest
from gunicorn.http import errors

from referee.web.server.malformed import PlainErrors


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
