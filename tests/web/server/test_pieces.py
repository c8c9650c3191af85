# SPDX-License-Identifier: Apache-2.0
"""Pieces of endless answers, compressed once for all readers."""

from __future__ import annotations

import gzip
import zlib

import pytest
from flask import Flask, request

from referee.web.server.pieces import Piece, in_gzip, in_plain, stream_response, takes_gzip

PIECES = [Piece(b"one " * 100), Piece(b"two " * 100), Piece(b""), Piece(b"one " * 100)]


def test_a_reader_can_unpack_each_piece_when_it_is_there() -> None:
    """Nothing of a piece waits for the next one, whichever pieces a reader got before."""
    for chosen in (PIECES, PIECES[1:], PIECES[::-1]):
        unpack = zlib.decompressobj(31)
        sent = in_gzip(chosen)
        assert [piece.plain for piece in chosen] == [
            unpack.decompress(next(sent)) for _ in range(len(chosen))
        ]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_stream_that_ends_is_a_whole_gzip_file(count: int) -> None:
    """Its end has the length and the checksum, for clients that look at them."""
    packed = b"".join(in_gzip(PIECES[:count]))
    assert b"".join(in_plain(PIECES[:count])) == gzip.decompress(packed)


def test_all_readers_share_the_packed_bytes() -> None:
    """A piece is packed once, so many readers cost no more than one."""
    first, second = list(in_gzip(PIECES)), list(in_gzip(PIECES))
    assert PIECES[1].packed is PIECES[1].packed
    assert first[1] is second[1]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("GZIP", True),
        ("*", True),
        ("br", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("*, gzip;q=0", False),
        ("gzip;q=0.5, identity", False),
        ("gzip;q=0.5, identity;q=0.1", True),
        ("gzip;q=x", False),
    ],
)
def test_who_gets_gzip(header: str | None, expected: bool) -> None:
    """A client that does not say that it takes gzip, or wants plain bytes, gets plain bytes."""
    app = Flask(__name__)
    headers = {} if header is None else {"Accept-Encoding": header}
    with app.test_request_context(headers=headers):
        assert expected is takes_gzip(request)
        answer = stream_response(request, PIECES, "text/event-stream")
        assert expected == (answer.headers.get("Content-Encoding") == "gzip")
        told = [answer.headers[name] for name in ("Vary", "X-Accel-Buffering", "Cache-Control")]
        assert ["Accept-Encoding", "no", "no-store, no-transform"] == told
        content = b"".join(answer.response)  # type: ignore[arg-type]
        plain = gzip.decompress(content) if expected else content
        assert b"".join(in_plain(PIECES)) == plain
