# SPDX-License-Identifier: Apache-2.0
"""A client's connection under TLS, with a time limit for each wait as a whole."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Callable
from typing import Any

import gevent
from gevent import socket

from referee.web.server.arrival import Ancillary

HANDSHAKE_S = 10.0
"""The seconds from the connection to the end of the handshake."""

# The first byte of a TLS record that begins a handshake (RFC 8446, section 5.1).
_HANDSHAKE = b"\x16"
# OpenSSL takes one record at a time, and the longest has this many bytes (section 5.2).
_RECORD_BYTES = 5 + 16_384 + 256
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

    def shake_hands(self, take_turn: Callable[[], object]) -> bool:
        """Begin with TLS; return False if the client does not, or not within its time.

        A client that speaks plain HTTP is told so. A step of a handshake takes a millisecond, so
        each step is a turn of its own.
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
                take_turn()
                while not self._take_step():
                    socket.wait_read(self._link.fileno())
                    take_turn()
                self._link.settimeout(None)
        except OSError:
            return False
        self._secure = True
        return True

    def _take_step(self) -> bool:
        """Take a step of the handshake; return whether it was the last one."""
        try:
            self._link.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def settimeout(self, seconds: float | None) -> None:
        """Limit each later call to this time."""
        self._seconds = seconds

    def recvmsg(self, size: int, ancillary_bytes: int) -> tuple[bytes, Ancillary, int, None]:
        """Receive data, with the stamp of what came last; it is empty at the end.

        An end without TLS's farewell is an end, too.
        """
        stamp: Ancillary = ()
        with gevent.Timeout(self._seconds, TimeoutError()):
            # Before TLS and after it data comes only to be dropped.
            if not self._secure:
                return socket.socket.recv(self._link, size), stamp, 0, None
            self._link.settimeout(0.0)
            try:
                while True:
                    stamp = self._stamp(ancillary_bytes) or stamp
                    try:
                        return self._link.recv(size), stamp, 0, None
                    except ssl.SSLWantReadError:
                        socket.wait_read(self._link.fileno())
            except ssl.SSLError as error:
                raise ConnectionResetError(errno.ECONNRESET, str(error)) from None
            finally:
                self._link.settimeout(None)

    def _stamp(self, ancillary_bytes: int) -> Ancillary:
        """Look at what the socket holds, and take nothing of it: OpenSSL reads without stamps."""
        flags = socket.MSG_PEEK | socket.MSG_TRUNC | socket.MSG_DONTWAIT
        try:
            ancillary: Ancillary = socket.socket.recvmsg(
                self._link, _RECORD_BYTES, ancillary_bytes, flags
            )[1]
        except OSError:
            return ()
        return ancillary

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
