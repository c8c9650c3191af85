# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that start later, or start again on the same port.

The system gives any port from 32768 on to connections (Linux; 49152 elsewhere, RFC 6335), so a port
that was free a moment ago may be one end of somebody's connection. These ports are lower, and each
worker of the tests has its own.
"""

from __future__ import annotations

import itertools
import os
import random
import socket

_FIRST, _EACH, _WORKERS = 10_000, 1_000, 10
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
# Two runs of the tests at once begin at different places.
_places = itertools.count(random.SystemRandom().randrange(_EACH))


def free_port() -> int:
    """Return a port of the loopback on which nobody listens, another one at each call."""
    for _ in range(_EACH):
        port = _FIRST + _EACH * _worker + next(_places) % _EACH
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise OSError("no port is free")


def free_address() -> str:
    """Return an address of the loopback with such a port."""
    return f"127.0.0.1:{free_port()}"
