# SPDX-License-Identifier: Apache-2.0
"""A small NTP server on loopback that tells this machine's own time."""

from __future__ import annotations

import socket
import struct
import threading
import time
from types import TracebackType

# Seconds from the epoch of NTP, 1900, to that of Unix (RFC 5905, figure 4).
_UNIX_EPOCH = 2_208_988_800
PORT = 123
_LENGTH = 48


def answer(request: bytes, now: float) -> bytes | None:
    """Return the answer to a client's request (RFC 5905, figure 8), None to anything else.

    `now` is Unix time in seconds. The answer says: no leap second, the client's version, mode 4,
    stratum 1.
    """
    if len(request) < _LENGTH or request[0] & 7 != 3:
        return None
    version = request[0] >> 3 & 7
    whole, part = divmod(now + _UNIX_EPOCH, 1)
    stamp = struct.pack("!II", int(whole), int(part * 2**32))
    header = struct.pack("!BBbb", version << 3 | 4, 1, 6, -20) + bytes(8) + b"LOCL"
    # Reference, origin, receive and transmit time; the client's transmit time is the origin.
    return header + stamp + request[40:48] + stamp + stamp


class NtpResponder:
    """The server, in a thread of its own while the block runs.

    Raises OSError on entering where nobody may bind port 123: most systems want the superuser.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._thread = threading.Thread(target=self._serve, name="ntp", daemon=True)

    def __enter__(self) -> NtpResponder:
        try:
            self._socket.bind((self.host, PORT))
        except OSError:
            self._socket.close()
            raise
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An empty datagram to itself wakes the thread, which then sees that it is over.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", (self.host, PORT))
        self._thread.join(180)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            request, client = self._socket.recvfrom(512)
            if not request:
                return
            reply = answer(request, time.time())
            if reply is not None:
                self._socket.sendto(reply, client)
