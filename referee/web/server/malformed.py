# SPDX-License-Identifier: Apache-2.0
"""The answers to requests that are not HTTP: one sentence each, then the connection ends.

A request that says neither a length nor chunks ends with its head (RFC 9112, section 6.3). Clients
of 2015-2019 post so, with the token in the address. Bytes that stand behind such a POST and begin
no request are a body whose length its sender forgot. They are never read as one, and what they were
meant for would be done without them. So such a POST is refused with 411.
"""

from __future__ import annotations

import _socket
import logging
import os
import re
import select
from collections.abc import Mapping
from typing import Any

from gunicorn.http import errors

_log = logging.getLogger(__name__)

_SHOWN = 200
# A body that is sent right behind its head is there after this time.
_BEHIND_S = 0.1
_PEEKED = 8192
_WITH_BODY = ("POST", "PUT", "PATCH")
_LENGTHS = ("CONTENT-LENGTH", "TRANSFER-ENCODING")
# A whole request line, and the beginning of one.
_REQUEST_LINE = re.compile(rb"[A-Z]{3,20} \S+ HTTP/\d\.\d\r?\n")
_ITS_BEGINNING = re.compile(rb"[A-Z]{1,20}( [^\r\n]*)?")


class LengthMissing(errors.ParseException):  # type: ignore[misc]
    """A body comes behind a head that announces none."""

    def __str__(self) -> str:
        return (
            "bytes follow its head, which has neither Content-Length nor Transfer-Encoding: "
            "send Content-Length with every body"
        )


_STATUS: dict[type[Exception], str] = {
    LengthMissing: "411 Length Required",
    errors.LimitRequestLine: "414 URI Too Long",
    errors.LimitRequestHeaders: "431 Request Header Fields Too Large",
    errors.ExpectationFailed: "417 Expectation Failed",
    errors.UnsupportedTransferCoding: "501 Not Implemented",
}
_BAD_REQUEST = "400 Bad Request"
_FAILED = "500 Internal Server Error"
# What gunicorn raises as such an error though no client caused it.
_OURS = (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)
# What gunicorn says of bytes that begin no request.
_NO_REQUEST = (
    errors.InvalidRequestLine,
    errors.InvalidRequestMethod,
    errors.InvalidHTTPVersion,
    errors.LimitRequestLine,
)


def says_no_length(request: Any) -> bool:
    """Tell whether a POST, PUT or PATCH has neither a length for its body nor chunks."""
    if request.method not in _WITH_BODY:
        return False
    return not any(name in _LENGTHS for name, _ in request.headers)


def require_length(request: Any) -> None:
    """Raise `LengthMissing` if bytes behind a head without a length are there and no request."""
    if not says_no_length(request):
        return
    if not _may_begin_a_request(request.unreader.buf.getvalue()):
        raise LengthMissing


def body_comes_behind(environ: Mapping[str, Any], within_s: float = _BEHIND_S) -> bool:
    """Tell whether bytes come behind a head without a length, and begin no request.

    Many clients send head and body one after the other. So a route that must not take a post
    without its body for one without a body waits a moment. Nothing is taken of what comes.
    """
    link = environ.get("gunicorn.socket")
    if link is None or not _can_be_read(link.fileno(), within_s):
        return False
    try:
        seen = _socket.socket(fileno=os.dup(link.fileno()))
    except OSError:
        return False  # The connection is gone on our side, too.
    try:
        behind = seen.recv(_PEEKED, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
    except OSError:
        return False
    finally:
        seen.close()
    return not _may_begin_a_request(behind)


def _can_be_read(descriptor: int, within_s: float) -> bool:
    looking = select.poll()
    looking.register(descriptor, select.POLLIN)
    return bool(looking.poll(1000 * within_s))


def _may_begin_a_request(behind: bytes) -> bool:
    # An empty line before a request is none of a body (RFC 9112, section 2.2).
    behind = behind.lstrip(b"\r\n")
    if not behind:
        return True
    return bool(_REQUEST_LINE.match(behind) or _ITS_BEGINNING.fullmatch(behind))


class PlainErrors:
    """A part of a gunicorn worker: it takes the place of gunicorn's error pages in HTML."""

    def handle_error(self, request: Any, client: Any, address: Any, error: BaseException) -> None:
        """Answer a head that is none with the reason, and log what failed in the server itself."""
        if isinstance(error, OSError):
            # Nobody is left who could read an answer; broken TLS ends here, too.
            _log.warning("a connection from %s broke: %s", (address or ("",))[0], error)
            return
        if getattr(client, "said_no_length", False) and isinstance(error, _NO_REQUEST):
            error = LengthMissing()
        if isinstance(error, errors.ParseException) and not isinstance(error, _OURS):
            status = _STATUS.get(type(error), _BAD_REQUEST)
            text = f"The request is not HTTP as the referee takes it: {_printable(str(error))}."
            _log.warning("malformed request from %s: %s", (address or ("",))[0], text)
        else:
            status, text = _FAILED, "The referee failed to do it; its log says why."
            _log.error("a request failed", exc_info=error)
        try:
            client.sendall(plain_answer(status, text))
        except OSError:
            pass  # The client has gone.


def _printable(text: str) -> str:
    """Return the beginning of an error's text without its full stop: printable ASCII."""
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:_SHOWN])
    return shown.strip().removesuffix(".") or "it is malformed"


def plain_answer(status: str, text: str, retry_s: str = "") -> bytes:
    """Return a whole answer of one sentence, which ends its connection."""
    retry = f"Retry-After: {retry_s}\r\n" if retry_s else ""
    return (
        f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"{retry}Content-Length: {len(text) + 1}\r\n\r\n{text}\n"
    ).encode("ascii")
