# SPDX-License-Identifier: Apache-2.0
"""The answers to requests that are not HTTP: one sentence each, then the connection ends."""

from __future__ import annotations

import logging
from typing import Any

from gunicorn.http import errors

_log = logging.getLogger(__name__)

_SHOWN = 200
_STATUS: dict[type[Exception], str] = {
    errors.LimitRequestLine: "414 URI Too Long",
    errors.LimitRequestHeaders: "431 Request Header Fields Too Large",
    errors.ExpectationFailed: "417 Expectation Failed",
    errors.UnsupportedTransferCoding: "501 Not Implemented",
}
_BAD_REQUEST = "400 Bad Request"
_FAILED = "500 Internal Server Error"
# What gunicorn raises as such an error though no client caused it.
_OURS = (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)


class PlainErrors:
    """A part of a gunicorn worker: it takes the place of gunicorn's error pages in HTML."""

    def handle_error(self, request: Any, client: Any, address: Any, error: BaseException) -> None:
        """Answer a head that is none with the reason, and log what failed in the server itself."""
        if isinstance(error, OSError):
            # Nobody is left who could read an answer; broken TLS ends here, too.
            _log.warning("a connection from %s broke: %s", (address or ("",))[0], error)
            return
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
