# SPDX-License-Identifier: Apache-2.0
"""One request by HTTP to one host, which ends in time whatever the other side does.

Python's time-outs begin again with each byte, so a server that sends one byte now and then would
hold its client for hours. Here each wait also ends at one moment, that of the whole request.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, cast
from urllib.parse import urlsplit

NO_ANSWER = (OSError, HTTPException, ValueError)
"""What a request raises that gets no answer by HTTP: of `OSError` too for its time and for TLS."""


@contextmanager
def answered(
    url: str,
    *,
    timeout_s: float,
    within_s: float | None = None,
    tls: ssl.SSLContext | None = None,
    method: str = "GET",
    body: bytes | IO[bytes] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[HTTPResponse]:
    """Yield the answer to one request, whatever its status; the caller says how much it reads.

    It asks the host of the address alone: it follows no redirect and knows no proxy. No silence is
    longer than `timeout_s`, and all is over after `within_s`, by default as long. `tls` tells whom
    https trusts, by default whom this system does. Raises one of `NO_ANSWER`.
    """
    parts = urlsplit(url)
    link: HTTPConnection
    end_s = time.monotonic() + (timeout_s if within_s is None else within_s)

    def wait_s() -> float:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        return min(timeout_s, left_s)

    if parts.scheme == "https":
        tls = tls or ssl.create_default_context()
        link = HTTPSConnection(parts.hostname or "", parts.port or 443, context=tls)
    else:
        tls, link = None, HTTPConnection(parts.hostname or "", parts.port or 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with closing(_connected(link.host, link.port, tls, wait_s)) as wire:
        link.sock = cast(socket.socket, _Wire(wire, wait_s))
        link.request(method, target, body, {"Connection": "close", **(headers or {})})
        with link.getresponse() as response:
            yield response


def _connected(
    host: str, port: int, tls: ssl.SSLContext | None, wait_s: Callable[[], float]
) -> socket.socket:
    wire = socket.create_connection((host, port), wait_s())
    if tls is None:
        return wire
    try:
        wire.settimeout(wait_s())  # OpenSSL's wrapper bounds a handshake as a whole.
        return tls.wrap_socket(wire, server_hostname=host)
    except BaseException:
        wire.close()
        raise


class _Wire(io.RawIOBase):
    """The part of a socket that http.client uses; each call gets the time that is left.

    `close` leaves the wire open: http.client closes before it has read a last answer.
    """

    def __init__(self, wire: socket.socket, wait_s: Callable[[], float]) -> None:
        self._wire = wire
        self._wait_s = wait_s

    def sendall(self, content: bytes) -> None:
        """Send all of it."""
        self._wire.settimeout(self._wait_s())
        self._wire.sendall(content)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what comes as a file."""
        return io.BufferedReader(_Wire(self._wire, self._wait_s))

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read what has come."""
        self._wire.settimeout(self._wait_s())
        return self._wire.recv_into(buffer)
