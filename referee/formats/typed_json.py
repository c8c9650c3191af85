# SPDX-License-Identifier: Apache-2.0
"""JSON of a known shape decoded straight into its types, several times faster than into objects.

A decoder here takes only what is entirely usual, and gives what `json` gives, bit for bit. For all
else it returns None: the caller then reads the text in the slow way, which names every fault.
"""

from __future__ import annotations

import codecs
import gc
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

_Shape = TypeVar("_Shape")

# A long list of objects is decoded in pieces of about so many bytes. The decoder lets no other
# thread run until it is done, and a piece takes it a millisecond. Its objects stay in a cache.
_PIECE = 2**16
_BETWEEN_OBJECTS = re.compile(rb"(?<=\})[ \t\n\r]*,[ \t\n\r]*(?=\{)")


class Typed(Generic[_Shape]):
    """A decoder of one type."""

    def __init__(self, shape: type[_Shape]) -> None:
        self._decoder = msgspec.json.Decoder(shape)

    def decode(self, content: bytes) -> _Shape | None:
        """Return the value of a JSON text, or None if it is not JSON or not of the type."""
        try:
            if not content.isascii():
                content.decode()  # The decoder does not look into texts that it skips.
            return self._decoder.decode(content)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return None


def list_pieces(content: bytes) -> Iterator[bytes] | None:
    """Cut a long JSON list of objects into shorter lists; return None for any other text.

    Lists that are joined by commas are one list. So where each piece is JSON the whole is, with
    the same entries. Where a piece is not, the whole may still be: a cut may lie within an entry.
    """
    content = bare(content)
    spans = list_spans(content)
    return None if spans is None else pieces(content, spans)


def list_spans(content: bytes) -> list[slice] | None:
    """Return where the pieces of a `bare` text lie, see `list_pieces`."""
    if len(content) <= _PIECE or not (content.startswith(b"[") and content.endswith(b"]")):
        return None
    spans = []
    start = 1
    while start:
        cut = _BETWEEN_OBJECTS.search(content, start + _PIECE)
        spans.append(slice(start, len(content) - 1 if cut is None else cut.start()))
        start = 0 if cut is None else cut.end()
    return spans


def pieces(content: bytes, spans: Iterable[slice]) -> Iterator[bytes]:
    """Yield the pieces that lie at `spans`, each a JSON list."""
    for span in spans:
        yield b"[" + content[span] + b"]"


def bare(content: bytes) -> bytes:
    """Return the content without byte order mark, and without blanks around it."""
    return without_mark(content).strip(b" \t\n\r")


def without_mark(content: bytes) -> bytes:
    """Return the content without the byte order mark of UTF-8."""
    return content.removeprefix(codecs.BOM_UTF8)


@contextmanager
def collections_paused() -> Iterator[None]:
    """Pause the garbage collector while a process loads many objects, none of them garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
