# SPDX-License-Identifier: Apache-2.0
"""The desk's server ends in good order while pages are open."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.streaming_desk import VIEWERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
# Only a hang takes this long, and fails the test.
BOUND_S = 180.0


@pytest.fixture
def desk() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Return a server of the stream, in a process of its own, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.support.streaming_desk", str(listener.fileno())],
            cwd=ROOT,
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        port = listener.getsockname()[1]
        try:
            yield child, port
        finally:
            child.kill()
            child.communicate()


def read_until(connection: socket.socket, wanted: bytes) -> bytes:
    """Return all bytes until these have come or the connection ends."""
    text = b""
    while wanted not in text and (piece := connection.recv(65536)):
        text += piece
    return text


def test_open_streams_end_with_the_desk(desk: tuple[subprocess.Popen[str], int]) -> None:
    """At SIGTERM each open stream ends, and the worker closes what it owns before it is killed."""
    child, port = desk
    with ExitStack() as stack:
        pages = []
        for _ in range(VIEWERS):
            page = stack.enter_context(socket.create_connection(("127.0.0.1", port), BOUND_S))
            page.sendall(b"GET /events HTTP/1.1\r\nHost: desk\r\n\r\n")
            assert b"event: board" in read_until(page, b"event: board")
            pages.append(page)
        child.terminate()
        # The arbiter kills a worker that outlasts its patience; then nothing would be closed.
        said, _ = child.communicate(timeout=BOUND_S)
        assert (0, "closed\n") == (child.returncode, said)
        for page in pages:
            # The empty chunk shows that the stream came to its end and was not cut off.
            assert read_until(page, b"0\r\n\r\n").endswith(b"0\r\n\r\n")
