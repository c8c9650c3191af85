# SPDX-License-Identifier: Apache-2.0
"""A client's connection under TLS, with a time limit for each wait as a whole."""

from __future__ import annotations

import errno
import ssl
from typing import Any

import gevent
from gevent import socket

HANDSHAKE_S = 10.0
"""The seconds from the connection to the end of the handshake."""

# An address rests so long between two steps of handshakes. gevent looks at other connections only
# before a wait of more than nothing.
_BETWEEN_S = 0.0005
# The first byte of a TLS record that begins a handshake (RFC 8446, section 5.1).
_HANDSHAKE = b"\x16"
_PLAIN = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 86\r\n"
    b"Connection: close\r\n\r\n"
    b"This port speaks TLS. Use https:// in place of http://, and the organiser's CA file.\r\n"
)


class TlsLink:
    """What a `BoundedConnection` needs of a socket, under TLS.

    A record that trickles in must not begin the time limit again with each of its bytes, so a
    limit holds for a call as a whole. Faults of TLS are those of a connection that breaks.
    """

    def __init__(self, client: Any, context: Any) -> None:
        self._link = client
        self._context = context
        self._secure = False
        self._seconds: float | None = None

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the socket, for gunicorn."""
        return getattr(self._link, name)

    def shake_hands(self, turn: Any) -> bool:
        """Begin with TLS; return False if the client does not, or not within its time.

        A client that speaks plain HTTP is told so. A step of a handshake takes a millisecond, so an
        address takes one step at a time: `turn` is its lock, and the others run in between.
        """
        try:
            with gevent.Timeout(HANDSHAKE_S, TimeoutError()):
                begin = self._link.recv(1, socket.MSG_PEEK)
                if begin.isalpha():
                    self._link.sendall(_PLAIN)
                if begin != _HANDSHAKE:
                    return False
                self._link = self._context.wrap_socket(
                    self._link, server_side=True, do_handshake_on_connect=False
                )
                self._link.settimeout(0.0)
                while not self._take_step(turn):
                    socket.wait_read(self._link.fileno())
                self._link.settimeout(None)
        except OSError:
            return False
        self._secure = True
        return True

    def _take_step(self, turn: Any) -> bool:
        """Take a step of the handshake; return whether it was the last one."""
        with turn:
            gevent.sleep(_BETWEEN_S)
            try:
                self._link.do_handshake()
            except ssl.SSLWantReadError:
                return False
        return True

    def settimeout(self, seconds: float | None) -> None:
        """Limit each later call to this time."""
        self._seconds = seconds

    def recv(self, size: int) -> bytes:
        """Receive data; it is empty at the end, also at an end without TLS's farewell."""
        with gevent.Timeout(self._seconds, TimeoutError()):
            try:
                received: bytes
                if self._secure:
                    received = self._link.recv(size)
                else:  # Before TLS and after it, only to be dropped.
                    received = socket.socket.recv(self._link, size)
            except ssl.SSLError as error:
                raise ConnectionResetError(errno.ECONNRESET, str(error)) from None
        return received

    def sendall(self, data: bytes) -> None:
        """Send all data."""
        with gevent.Timeout(self._seconds, TimeoutError()):
            try:
                self._link.sendall(data)
            except ssl.SSLError as error:
                raise BrokenPipeError(errno.EPIPE, str(error)) from None

    def shutdown(self, how: int) -> None:
        """End one direction; the end of sending is told to the client, as TLS wants it."""
        if how == socket.SHUT_WR and self._secure:
            self._say_farewell()
            self._secure = False
        # The socket's own method, because that of the TLS socket would go on in plain text.
        socket.socket.shutdown(self._link, how)

    def _say_farewell(self) -> None:
        self._link.settimeout(0.0)  # The client's farewell is not waited for.
        try:
            self._link.unwrap()
        except OSError:
            pass  # The client has gone, or the handshake has failed.
        self._link.settimeout(None)
