# SPDX-License-Identifier: Apache-2.0
"""One look at a station's feed, bounded in time and size, whatever the station does."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from power.bounded_file import require_file
from power.http_request import NO_ANSWER, answered
from referee.errors import InputError
from referee.extras.stations.notification import StationFault
from referee.formats.faults import harmless

LOOK_S = 10.0
"""How long a whole look may take, from the connection to the last byte."""

BYTES_MOST = 8 * 2**20
"""How long an answer may be; that of an event with 1,000 sessions has a third of a megabyte."""

_TOLD_MOST = 200


@dataclass(frozen=True)
class FeedAnswer:
    """A station's answer: status 200 with the feed's lines, or 400 for an unknown token."""

    status: int
    content: bytes


class FeedRequest(Protocol):
    """A way to ask the feed at an address for what is new after a token; None asks for all."""

    def __call__(self, url: str, token: str | None, /) -> FeedAnswer: ...


def http_look(ca_file: Path | None) -> FeedRequest:
    """Return the look by HTTP, or by HTTPS with this CA, else with those of the system.

    A look raises `StationFault` for any answer but 200 and 400. It asks the given host alone, by
    GET, follows no redirect, knows no proxy, and takes no compressed answer. Raises `InputError`
    for a file that is no CA.
    """
    try:
        if ca_file is not None:
            require_file(ca_file)
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"{ca_file} cannot be read as a CA in PEM: {error}.") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return lambda url, token: _look(url, token, context)


def _look(url: str, token: str | None, context: ssl.SSLContext) -> FeedAnswer:
    feed = f"{url}/feed?stream=false" + ("" if token is None else f"&since_token={quote(token)}")
    try:
        with answered(feed, timeout_s=LOOK_S, tls=context) as answer:
            return _answer(answer)
    except TimeoutError:
        raise StationFault(f"its answer takes longer than {LOOK_S:g} s") from None
    except NO_ANSWER as error:
        raise StationFault(_words(error)) from None


def _answer(response: HTTPResponse) -> FeedAnswer:
    if response.status == 400:
        return FeedAnswer(400, response.read(_TOLD_MOST))
    if 300 <= response.status < 400:
        target = _printable(response.headers.get("Location", "nowhere"))
        raise StationFault(f"it redirects to {target}: give the address itself")
    if response.status != 200:
        body = _printable(response.read(_TOLD_MOST).decode("utf-8", "replace"))
        raise StationFault(f"it answers with {response.status}: {body}")
    kind = response.headers.get_content_type()
    if kind != "application/x-ndjson" or response.headers.get("Content-Encoding"):
        raise StationFault(f"it answers with {_printable(kind)}, no feed: is it a scoreboard?")
    if response.length is None and not response.chunked:
        raise StationFault("its answer has no length, so nobody knows whether it is whole")
    content = response.read(BYTES_MOST + 1)
    if len(content) > BYTES_MOST:
        raise StationFault(f"its feed is longer than {BYTES_MOST // 2**20} MiB")
    if response.length:  # A read with a size does not raise for this.
        raise StationFault("its answer broke off")
    return FeedAnswer(200, content)


def _printable(text: str) -> str:
    """Return a stranger's text for a message: short, and harmless to a terminal."""
    return harmless(text.strip()[:_TOLD_MOST])


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}): see --ca-file"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens at its address"
    if isinstance(error, socket.gaierror):
        return "its name is not known in this network"
    if isinstance(error, OSError) and error.strerror:
        return f"it cannot be reached ({_printable(error.strerror)})"
    return f"it gives no answer by HTTP ({_printable(str(error) or type(error).__name__)})"
