# SPDX-License-Identifier: Apache-2.0
"""The pieces of endless answers: compressed once, for all readers together.

A gzip stream is one for each reader, and its dictionary would be, too. Here each piece is packed
without looking back, and ends at a byte (a sync flush). So its packed bytes fit into every reader's
stream, and a reader can unpack a piece as soon as it is there.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from flask import Request, Response

# RFC 1952: gzip, deflate, no flags, no time, no more about it, an unknown system.
_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# The last block of a stream that ends in good order: it is empty.
_LAST = b"\x03\x00"
_LEVEL = 6

ENDLESS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
}
"""The headers of an endless answer: no proxy shall keep it, hold it back or pack it."""


@dataclass(frozen=True)
class Piece:
    """A part of an answer, which any number of readers get."""

    plain: bytes

    @cached_property
    def packed(self) -> bytes:
        """Return the part as it stands in a gzip stream."""
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        return packer.compress(self.plain) + packer.flush(zlib.Z_SYNC_FLUSH)


def takes_gzip(request: Request) -> bool:
    """Tell whether a client takes gzip, and has not said that it would rather have plain bytes."""
    accepted = request.accept_encodings
    plain = accepted["identity"] if "identity" in accepted.values() else 0.0
    return accepted["gzip"] > 0 and accepted["gzip"] >= plain


def stream_response(request: Request, pieces: Iterable[Piece], content_type: str) -> Response:
    """Return an endless answer, packed for a client that takes it so."""
    headers = ENDLESS | {"Vary": "Accept-Encoding"}
    if not takes_gzip(request):
        return Response(in_plain(pieces), content_type=content_type, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(in_gzip(pieces), content_type=content_type, headers=headers)


def in_plain(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """Yield the pieces as they are."""
    for piece in pieces:
        yield piece.plain


def in_gzip(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """Yield the pieces as one gzip stream; it gets its end if the pieces end by themselves."""
    begun, checksum, length = False, 0, 0
    for piece in pieces:
        yield piece.packed if begun else _HEAD + piece.packed
        begun = True
        checksum, length = zlib.crc32(piece.plain, checksum), length + len(piece.plain)
    ends = checksum.to_bytes(4, "little") + (length & 0xFFFFFFFF).to_bytes(4, "little")
    yield (b"" if begun else _HEAD) + _LAST + ends


def document_response(request: Request, text: str, content_type: str) -> Response:
    """Return a document, packed for a client that takes it so."""
    response = Response(text, content_type=content_type, headers={"Vary": "Accept-Encoding"})
    if takes_gzip(request):
        response.set_data(_packed(text))
        response.headers["Content-Encoding"] = "gzip"
    return response


@lru_cache(maxsize=4)
def _packed(text: str) -> bytes:
    return gzip.compress(text.encode(), _LEVEL, mtime=0)
