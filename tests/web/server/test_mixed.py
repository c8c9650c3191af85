# SPDX-License-Identifier: Apache-2.0
"""The application in threads behind the connections of greenlets."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from referee.web.server.bodies import SMALL_BODY_BYTES
from referee.web.server.mixed import in_threads
from referee.web.server.turns import Places

T = TypeVar("T")


class Socket:
    """A connection that counts what was flushed."""

    def __init__(self) -> None:
        self.flushed = 0

    def flush(self) -> None:
        """Count."""
        self.flushed += 1


class BlockingRunner:
    """An `BlockingRunner` of one thread, which each call goes through."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def __call__(self, work: Callable[[], T], /) -> T:
        return self._pool.submit(work).result(180)


def environ_of(body: Any) -> dict[str, Any]:
    """Return the environment of a request with this body."""
    return {"wsgi.input": body, "gunicorn.socket": Socket()}


def test_application_and_response_run_in_threads_and_the_body_is_read_before() -> None:
    """Bytes of the client are read by the connection's own greenlet, all else runs in a thread."""
    ran: dict[str, int] = {}

    class Body(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            ran["read"] = threading.get_ident()
            return super().read(size)

    class Response:
        def __iter__(self):
            ran["piece"] = threading.get_ident()
            yield b"piece"

        def close(self):
            ran["close"] = threading.get_ident()

    def application(environ, start_response):
        ran["application"] = threading.get_ident()
        assert (b"bo", b"dy", b"") == tuple(environ["wsgi.input"].read(2) for _ in range(3))
        return Response()

    with ThreadPoolExecutor(1) as pool:
        response = in_threads(application, BlockingRunner(pool), Places(1))(
            environ_of(Body(b"body")), None
        )
        assert [b"piece"] == list(response)
        response.close()
    here = threading.get_ident()
    assert here == ran.pop("read")
    assert {"application", "piece", "close"} == set(ran)
    assert here not in ran.values()


def test_a_piece_leaves_before_the_next_one_is_made() -> None:
    """A short event of a stream is sent at once, however long the next one takes."""
    environ = environ_of(io.BytesIO())
    flushed = []

    def application(environ, start_response):
        for number in range(3):
            flushed.append(environ["gunicorn.socket"].flushed)
            yield b"%d" % number

    with ThreadPoolExecutor(1) as pool:
        assert [b"0", b"1", b"2"] == list(
            in_threads(application, BlockingRunner(pool), Places(1))(environ, None)
        )
    assert [0, 1, 2] == flushed


@pytest.mark.parametrize("error", [TimeoutError, ConnectionResetError])
def test_the_application_hears_why_a_body_did_not_come(error: type[OSError]) -> None:
    """What ends the reading of a body is raised where the application reads it."""

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise error

    def application(environ, start_response):
        with pytest.raises(error):
            environ["wsgi.input"].read(1)
        return [b"told"]

    with ThreadPoolExecutor(1) as pool:
        assert [b"told"] == list(
            in_threads(application, BlockingRunner(pool), Places(1))(environ_of(Broken()), None)
        )


def test_of_a_long_body_64_kib_are_read() -> None:
    """No page of the console sends more, and a stranger's body takes no more memory."""
    body = io.BytesIO(bytes(2 * SMALL_BODY_BYTES))
    with ThreadPoolExecutor(1) as pool:
        list(
            in_threads(lambda environ, start: [], BlockingRunner(pool), Places(1))(
                environ_of(body), None
            )
        )
    assert SMALL_BODY_BYTES == body.tell()
