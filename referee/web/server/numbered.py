# SPDX-License-Identifier: Apache-2.0
"""The numbered states of a document that open pages follow.

A page says which state it holds, and gets the difference to the newest one. A page that holds none,
or one that is no longer kept, or one of another run of this program, gets all of it.
"""

from __future__ import annotations

import json
import secrets
import threading
from typing import Any

from referee.core.changes import difference, is_same
from referee.web.server.pieces import Piece

KEPT = 32
"""The states that are kept: a page that has lost its stream is back after a few seconds."""


class NumberedStates:
    """The newest states; safe to use from many threads.

    A number looks like `17.0a1b2c3d`: the state's, and that of this run. So no page takes a state
    of another run for one of this.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._most = kept
        self._run = secrets.token_hex(4)
        self._count = 0
        self._lock = threading.Lock()
        self._kept: dict[str, object] = {}
        self._newest = ""
        self._told: dict[str, Piece] = {}

    @property
    def newest(self) -> str:
        """Return the number of the newest state; '' before the first."""
        return self._newest

    def put(self, document: Any) -> bool:
        """Take a document of JSON values; return False if it is the one that is there."""
        with self._lock:
            if self._newest:
                document = _shared(self._kept[self._newest], document)
                if document is self._kept[self._newest]:
                    return False
            self._count += 1
            self._newest = f"{self._count}.{self._run}"
            self._kept[self._newest] = document
            self._told = {}
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            return True

    def after(self, since: str) -> tuple[str, Piece]:
        """Return the newest number, and the event for a page that has the state `since`.

        The event is `change` or `whole`, or `alive` for a page that holds the newest one. All pages
        that hold one state share the event. There must be a state.
        """
        with self._lock:
            if since not in self._kept:
                since = ""
            if since not in self._told:
                self._told[since] = self._event(since)
            return self._newest, self._told[since]

    def _event(self, since: str) -> Piece:
        newest, number = self._kept[self._newest], self._newest
        if since == number:
            return sent_event("alive", {"number": number})
        whole = sent_event("whole", {"number": number, "document": newest}, number)
        if not since:
            return whole
        change = difference(self._kept[since], newest)
        changed = sent_event("change", {"from": since, "number": number, "change": change}, number)
        return min(changed, whole, key=lambda event: len(event.plain))


def _shared(old: Any, new: Any) -> Any:
    """Return the new document with the old one's parts where they are the same.

    So states that are kept share most of their memory, and are compared fast.
    """
    if is_same(old, new):
        return old
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {name: _shared(old.get(name), value) for name, value in new.items()}


def sent_event(name: str, data: Any, number: str = "") -> Piece:
    """Return a server-sent event; a browser says its number when it connects again."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    mark = f"id: {number}\n" if number else ""
    return Piece(f"{mark}event: {name}\ndata: {text}\n\n".encode())
