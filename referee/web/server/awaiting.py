# SPDX-License-Identifier: Apache-2.0
"""Responses that are known only when something else is done, such as the commit of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from flask import Response


class AwaitingResponse(Response):
    """Stand for a response that `finish` makes once a future is done.

    A server that knows of it (see `referee.web.server.worker`) serves others meanwhile; any other WSGI
    server waits in the first step of the body, since `finish` asks the future for its result.
    """

    def __init__(self, future: Future[Any], finish: Callable[[], Response]) -> None:
        super().__init__()
        self._future = future
        self._finish = finish

    def then(self, see: Callable[[Response], Response]) -> None:
        """Have a function look at the response when it is made, and return it."""
        finish = self._finish
        self._finish = lambda: see(finish())

    def __call__(self, environ: Any, start_response: Any) -> Any:
        """Answer as a WSGI application does: nothing is started before the body is asked for."""
        return AwaitedBody(self._future, self._finish, environ, start_response)


class AwaitedBody:
    """Iterate over the body of a response that is made at the first step."""

    def __init__(
        self,
        future: Future[Any],
        finish: Callable[[], Response],
        environ: Any,
        start_response: Any,
    ) -> None:
        self.future = future
        self._finish = finish
        self._environ = environ
        self._start_response = start_response

    def __iter__(self) -> Iterator[bytes]:
        response = self._finish()
        body = response(self._environ, self._start_response)
        try:
            yield from body
        finally:
            response.close()
