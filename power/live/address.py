# SPDX-License-Identifier: Apache-2.0
"""Where the page of a recording is served."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

DEFAULT_ADDRESS = "127.0.0.1:8010"
"""Where the page is served if nobody says otherwise: this computer alone can see it."""

_BACKLOG = 32


def listening_socket(address: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT; port 0 takes any free one.

    Raises ValueError for another text, and OSError with a sentence if the address cannot be used.
    """
    host, port = _parts(address)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        try:
            # Otherwise the next recording would have to wait for the connections of this one.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise OSError(
            f"the page cannot be served at {address} ({error.strerror or error}); choose another "
            "address with --live-address HOST:PORT, where port 0 takes any free one"
        ) from None
    return listening


def page_url(listening: socket.socket) -> str:
    """Return the address of the page for a browser on this computer."""
    host, port = listening.getsockname()[:2]
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
    return f"http://{everywhere.get(host, f'[{host}]' if ':' in host else host)}:{port}/"


def _parts(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{address}")
        if parts.hostname and parts.port is not None and parts.netloc == address:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise ValueError(f"{address!r} is no address; write HOST:PORT, as in {DEFAULT_ADDRESS}")
