# SPDX-License-Identifier: Apache-2.0
"""The bound on the bodies of strangers that are in memory at a time."""

from __future__ import annotations

import io

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


def test_a_body_of_unknown_length_takes_as_much_as_it_may() -> None:
    """A chunked body takes the room of the longest body, because it announces no length."""
    chunked = body(HTTP_TRANSFER_ENCODING="chunked")
    with pytest.raises(Unavailable), BodyRoom(4 * MAX_BODY_BYTES - 4).held_for(chunked, "a"):
        pass
    with BodyRoom(4 * MAX_BODY_BYTES).held_for(chunked, "a"):
        pass
