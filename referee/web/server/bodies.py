# SPDX-License-Identifier: Apache-2.0
"""Request bodies: what is read of them, and when, so that a stranger's body costs little."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from flask import Flask, Request
from gunicorn.http.errors import ParseException

from referee.errors import Refusal, Unavailable

MAX_BODY_BYTES = 32 * 1024 * 1024
"""The longest answer that is read: about 300,000 boxes as a form, six times an honest maximum."""

SMALL_BODY_BYTES = 64 * 1024
"""The longest body of any other request; such requests have a few short fields."""

BEGINNING_BYTES = 1024 * 1024
"""The part of an answer that is read to find its token; a valid session lets the rest be read."""

COMING_BYTES = 512 * 1024 * 1024
"""The bytes of long answers that one process receives at once; an address gets a quarter."""

View = TypeVar("View", bound=Callable[..., object])

_PIECE = 64 * 1024
_LONG_PIECE = 256 * 1024


def has_body(request: Request) -> bool:
    """Tell whether a request announces a body, with a length or in chunks."""
    environ = request.environ
    return "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ


class Body:
    """The body of one request, which can be read in two steps: its beginning, then all of it.

    Raises `Refusal`. The code is `body_too_large` for more than `limit` bytes; a body with a larger
    announced length is dropped. The code is `body_truncated` or `body_too_slow` if the announced
    bytes do not come.
    """

    def __init__(self, request: Request, limit: int) -> None:
        self._environ = request.environ
        self._stream = self._environ["wsgi.input"]
        self._limit = limit
        self._content = b""
        self._take_room: Callable[[int], None] | None = None
        chunked = "HTTP_TRANSFER_ENCODING" in self._environ
        # A chunked body announces no length.
        self.length = None if chunked else request.content_length or 0
        if self.length is not None and self.length > limit:
            self.discard()
            raise _too_large(limit)

    def beginning(self, most: int) -> bytes:
        """Return the first bytes, or all of a shorter body."""
        return self._read_to(most)[:most]

    def whole(self) -> bytes:
        """Return the whole body."""
        return self._read_to(self._limit + 1)

    def pieces(self) -> Iterator[bytes]:
        """Yield the body piece by piece, for bodies that are too large for the memory."""
        came = 0
        while self.length is None or came < self.length:
            size = _LONG_PIECE if self.length is None else min(_LONG_PIECE, self.length - came)
            piece = self._read(size, came)
            came += len(piece)
            if not piece and self.length is not None:
                raise _truncated(came, self.length)
            if not piece:
                return
            yield piece

    def take_room_as_it_comes(self, take: Callable[[int], None]) -> None:
        """Call `take` with what is here already, and with the size of each piece that comes."""
        take(len(self._content))
        self._take_room = take

    def give_time(self, most_bytes: int) -> None:
        """Let the client take its time for a body of this size, because it may send one."""
        self._call_connection("give_time", most_bytes)

    def discard(self, *, known: bool = False) -> None:
        """Read the rest of the body and drop it, because a client that still sends reads no answer.

        Of a stranger's body 64 KiB are read in all. Of a longer one nothing more is read, and the
        connection ends with the answer. The rest of a `known` sender's may take five seconds and
        32 MiB. After that the connection is cut.
        """
        most = MAX_BODY_BYTES if known else SMALL_BODY_BYTES
        if self.length is not None and self.length > most:
            self._call_connection("leave_unread")
            return
        self._call_connection("hurry")
        left = (most if self.length is None else self.length) - len(self._content)
        try:
            while left > 0 and (piece := self._stream.read(min(_PIECE, left))):
                left -= len(piece)
        except (OSError, ParseException):
            pass  # The client is gone, too slow or wrong. The answer is still tried.
        if self.length is None and left <= 0:
            self._call_connection("leave_unread")

    def _call_connection(self, name: str, *arguments: int) -> None:
        """Call a method of the connection, which only a server of greenlets has."""
        method = getattr(self._environ.get("gunicorn.socket"), name, None)
        if method is not None:
            method(*arguments)

    def _read_to(self, count: int) -> bytes:
        if self.length is not None:
            count = min(count, self.length)
        missing = count - len(self._content)
        if missing <= 0:
            return self._content
        part = self._read_pieces(missing)
        self._content = self._content + part if self._content else part
        if len(part) < missing:
            if self.length is not None:
                raise _truncated(len(self._content), self.length)
            self.length = len(self._content)
        if len(self._content) > self._limit:
            raise _too_large(self._limit)
        return self._content

    def _read_pieces(self, count: int) -> bytes:
        """Return `count` bytes, or fewer at the end; each piece takes room, if it needs some."""
        if self._take_room is None:
            return self._read(count, len(self._content))
        pieces: list[bytes] = []
        came = 0
        while came < count:
            pieces.append(self._read(min(_LONG_PIECE, count - came), len(self._content) + came))
            came += len(pieces[-1])
            if not pieces[-1]:
                break
        return b"".join(pieces)

    def _read(self, count: int, came: int) -> bytes:
        """Return `count` bytes, or fewer at the body's end; `came` tells a refusal what came."""
        try:
            part: bytes = self._stream.read(count)
        except (BlockingIOError, TimeoutError):
            raise Refusal(
                "body_too_slow", "Nothing was stored: the rest of the body did not come in time."
            ) from None
        except (OSError, ParseException):  # gunicorn's errors for broken or malformed chunks.
            raise _truncated(came, self.length) from None
        if self._take_room is not None:
            self._take_room(len(part))
        return part


def _too_large(limit: int) -> Refusal:
    return Refusal(
        "body_too_large",
        f"Nothing was stored: at most {limit} bytes are taken; send it in several posts.",
    )


def _truncated(came: int, length: int | None) -> Refusal:
    if length is None:
        return Refusal(
            "body_truncated",
            "Nothing was stored: the chunks of the body break off or are malformed.",
        )
    return Refusal(
        "body_truncated",
        f"Nothing was stored: {came} of {length} bytes came; send as many as Content-Length says.",
    )


class BodyRoom:
    """The room for incoming bodies; safe to use from many threads.

    A body that says its length has room for all of it before it comes. A body in chunks takes room
    as its bytes come, so a short one takes little. One sender gets at most a quarter of the room. A
    client decides how long its body takes, so a request never waits for room: without room it is
    refused at once.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held_bytes: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def held_for(self, body: Body, sender: str) -> Iterator[None]:
        """Give a body room during the block; raise `Unavailable` where there is not enough.

        It is raised by the reading of the body, too, if the body says no length.
        """
        reserved: list[int] = []

        def take(size: int) -> None:
            if not self._take(sender, size):
                body.discard(known=True)
                raise Unavailable("too many long bodies are coming in; send this one again.")
            reserved.append(size)

        try:
            if body.length is None:
                body.take_room_as_it_comes(take)
            else:
                take(body.length)
            yield
        finally:
            self._give_back(sender, sum(reserved))

    def _take(self, sender: str, size: int) -> bool:
        with self._lock:
            mine, all_of_them = self._held_bytes[sender] + size, self._held_bytes.total() + size
            if mine > self._most_bytes // 4 or all_of_them > self._most_bytes:
                return False
            self._held_bytes[sender] = mine
            return True

    def _give_back(self, sender: str, size: int) -> None:
        with self._lock:
            self._held_bytes[sender] -= size
            if not self._held_bytes[sender]:
                del self._held_bytes[sender]


def reads_its_own_body(view: View) -> View:
    """Mark a route that reads the body of its requests by itself; nothing is read before it."""
    view.reads_its_own_body = True  # type: ignore[attr-defined]
    return view


def does_read_its_own_body(app: Flask, asked: Request) -> bool:
    """Tell whether the route of a request has that mark."""
    view = app.view_functions.get(asked.endpoint or "")
    return hasattr(view, "reads_its_own_body")
