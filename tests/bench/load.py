# SPDX-License-Identifier: Apache-2.0
"""Load on a server from raw sockets, which cost the machine less than a client library."""

from __future__ import annotations

import socket
import ssl
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """The requests a second and the latencies in milliseconds of one run."""

    rate: float
    median_ms: float
    p99_ms: float


def measure(
    port: int,
    make_request: Callable[[int], bytes],
    *,
    connections: int,
    requests: int,
    status: bytes = b"200",
    tls: ssl.SSLContext | None = None,
    fresh: bool = False,
) -> Figures:
    """Send requests on kept-alive connections at once; every answer must have the status.

    `make_request` gets the number of the request, from 0. `tls` is the context of a client. With
    `fresh` each request has a new connection, whose opening counts.
    """
    latencies: list[float] = []
    failures: list[str] = []
    share = requests // connections

    def work(index: int) -> None:
        mine = []
        link: socket.socket | None = None
        for number in range(index * share, (index + 1) * share):
            message = make_request(number)
            begun = time.perf_counter()
            link = link or _opened(port, tls)
            link.sendall(message)
            head = _answer(link)
            if fresh:
                link.close()
                link = None
            mine.append(time.perf_counter() - begun)
            if not head.startswith(b"HTTP/1.1 " + status):
                failures.append(head[:80].decode("ascii", "replace"))
                break
        if link is not None:
            link.close()
        latencies.extend(mine)

    threads = [
        threading.Thread(target=work, args=(index,), name=f"load-{index}")
        for index in range(connections)
    ]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    if failures:
        raise RuntimeError(f"{len(failures)} requests failed, the first with {failures[0]!r}")
    ordered = sorted(latencies)
    return Figures(
        rate=len(ordered) / took,
        median_ms=1e3 * statistics.median(ordered),
        p99_ms=1e3 * ordered[int(0.99 * (len(ordered) - 1))],
    )


def _opened(port: int, tls: ssl.SSLContext | None) -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), 30)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link if tls is None else tls.wrap_socket(link, server_hostname="127.0.0.1")


def _answer(link: socket.socket) -> bytes:
    """Read one whole answer and return its head."""
    received = link.recv(1 << 18)
    while b"\r\n\r\n" not in received:
        part = link.recv(1 << 18)
        if not part:
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(x.split(b":")[1]) for x in lines if x.startswith(b"content-length:"))
    missing = length - len(body)
    while missing > 0:
        part = link.recv(min(missing, 1 << 18))
        if not part:
            break
        missing -= len(part)
    return head
