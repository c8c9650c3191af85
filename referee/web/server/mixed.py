# SPDX-License-Identifier: Apache-2.0
"""The control desk's worker: greenlets take what clients send, and threads run the application.

A client that sends slowly holds a greenlet and no thread. Nothing of Python is patched, so the
desk's own threads, locks and meters are what they are elsewhere.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from gunicorn.http.errors import ParseException

from referee.core.blocking import BlockingRunner
from referee.web.server.blocking import BlockingPool
from referee.web.server.bodies import SMALL_BODY_BYTES
from referee.web.server.greenlets import GreenletWorker
from referee.web.server.turns import Places

# So many requests compute at once, since threads of Python share one interpreter. Whoever takes
# longer waits for a meter, a disk or a person, and others go on meanwhile.
_AT_ONCE = 1
_COMPUTES_S = 0.02


class MixedWorker(GreenletWorker):
    """A worker whose connections are greenlets, with their limits, and whose requests are threads.

    A request gets a thread when its body is there, and a stream gets one for each of its pieces.
    gunicorn's `threads` says how many there are.
    """

    wsgi: Any

    def patch(self) -> None:
        """Listen with gevent's sockets, and leave everything else alone."""
        self.take_sockets()

    def load_wsgi(self) -> None:
        """Load the application, and put its calls into threads."""
        super().load_wsgi()
        places = Places(_AT_ONCE)
        self.wsgi = in_threads(self.wsgi, BlockingPool(self.cfg.threads), places)


def in_threads(
    application: Callable[..., Iterable[bytes]], run_blocking: BlockingRunner, places: Places
) -> Callable[..., Any]:
    """Return the application with each call of it, and of its response, through `run_blocking`.

    The caller's greenlet reads the body before, up to the longest that an operator's page sends.
    Then it waits for one of the `places`.
    """

    def call(environ: dict[str, Any], start_response: Callable[..., Any]) -> _Pieces:
        environ["wsgi.input"] = _Arrived(environ["wsgi.input"])
        with places.held(_COMPUTES_S):
            response = run_blocking(partial(application, environ, start_response))
        return _Pieces(response, run_blocking, environ["gunicorn.socket"].flush)

    return call


class _Arrived:
    """A body that has been read; whatever ended the reading is raised where the bytes end."""

    def __init__(self, stream: Any) -> None:
        self._error: Exception | None = None
        content = b""
        try:
            content = stream.read(SMALL_BODY_BYTES)
        except (OSError, ParseException) as error:
            self._error = error
        self._content = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raise what the reading of the connection raised."""
        if self._error is not None:
            raise self._error
        return self._content.read(size)


class _Pieces:
    """A response, each piece of which is made in a thread, and has left before the next one."""

    def __init__(
        self, response: Iterable[bytes], run_blocking: BlockingRunner, flush: Callable[[], object]
    ) -> None:
        self._response = response
        self._run_blocking = run_blocking
        self._flush = flush

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces."""
        pieces = self._run_blocking(partial(iter, self._response))
        while (piece := self._run_blocking(partial(next, pieces, None))) is not None:
            yield piece
            self._flush()  # A short piece of a stream would else wait for the next one.

    def close(self) -> None:
        """Close the response."""
        close = getattr(self._response, "close", None)
        if close is not None:
            self._run_blocking(close)
