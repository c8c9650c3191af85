# SPDX-License-Identifier: Apache-2.0
"""The bound on the bodies of strangers that are in memory at a time."""

from __future__ import annotations

import io
from contextlib import ExitStack

import pytest
from flask import Request

from referee.errors import Unavailable
from referee.web.server.bodies import MAX_BODY_BYTES, Body, BodyRoom


def body(**environ: str) -> Body:
    """Return a body with this announced length."""
    return Body(Request({"wsgi.input": io.BytesIO(), **environ}), MAX_BODY_BYTES)


def test_there_is_room_or_there_is_not() -> None:
    """A body without room is refused at once, and a finished body gives its room back."""
    room = BodyRoom(4000)
    short = body(CONTENT_LENGTH="1000")
    with room.held_for(short, "a"), room.held_for(short, "b"), room.held_for(short, "c"):
        with room.held_for(short, "d"), pytest.raises(Unavailable, match="send this one again"):
            with room.held_for(body(CONTENT_LENGTH="1"), "e"):
                pass
    with room.held_for(short, "e"):
        pass


def test_one_address_takes_a_quarter() -> None:
    """One address gets a quarter of the room; the others find room beside it."""
    room = BodyRoom(4000)
    with room.held_for(body(CONTENT_LENGTH="900"), "a"):
        with pytest.raises(Unavailable), room.held_for(body(CONTENT_LENGTH="101"), "a"):
            pass
        with room.held_for(body(CONTENT_LENGTH="1000"), "b"):
            pass
    with room.held_for(body(CONTENT_LENGTH="1000"), "a"):
        pass


def chunked(content: bytes) -> Body:
    """Return a body in chunks, as gunicorn hands it on."""
    environ = {"wsgi.input": io.BytesIO(content), "HTTP_TRANSFER_ENCODING": "chunked"}
    return Body(Request(environ), MAX_BODY_BYTES)


def test_small_bodies_in_chunks_take_little_room() -> None:
    """A body that says no length takes the room of the bytes that have come, and no more."""
    room = BodyRoom(4000)
    with ExitStack() as held:
        for _ in range(100):
            one = chunked(b"0123456789")
            held.enter_context(room.held_for(one, "a"))
            assert b"0123456789" == one.whole()
        late = chunked(b"0")
        held.enter_context(room.held_for(late, "a"))
        with pytest.raises(Unavailable, match="send this one again"):
            late.whole()
    assert room._held_bytes.total() == 0


def test_a_long_body_in_chunks_takes_room_piece_by_piece() -> None:
    """It is refused when its pieces find no more room, and gives back what they took."""
    room = BodyRoom(4 * 1_000_000)
    for length, fits in ((1_000_000, True), (1_000_001, False), (1_000_000, True)):
        one = chunked(bytes(length))
        one.beginning(300)
        with room.held_for(one, "a"):
            if fits:
                assert bytes(length) == one.whole()
                assert 1_000_000 == room._held_bytes.total()
            else:
                with pytest.raises(Unavailable):
                    one.whole()
    assert room._held_bytes.total() == 0


def test_the_pieces_of_a_body_on_its_way_to_the_disk_take_room() -> None:
    """What is handed on piece by piece takes room like what is read whole."""
    room = BodyRoom(4 * 1_000_000)
    with room.held_for(one := chunked(bytes(1_000_001)), "a"), pytest.raises(Unavailable):
        list(one.pieces())
