# SPDX-License-Identifier: Apache-2.0
"""How much of what strangers send is in memory at a time."""

from __future__ import annotations

import io

import pytest
from flask import Request

from referee.errors import Unavailable
from referee.web.server.bodies import MAX_BODY_BYTES, Body, BodyRoom


def body(**environ: str) -> Body:
    """Return a body that is announced so."""
    return Body(Request({"wsgi.input": io.BytesIO(), **environ}), MAX_BODY_BYTES)


def test_there_is_room_or_there_is_not() -> None:
    """Nobody waits for it, and it comes back when a body is done with."""
    room = BodyRoom(5000)
    with room.held_for(body(CONTENT_LENGTH="3000")), room.held_for(body(CONTENT_LENGTH="2000")):
        with pytest.raises(Unavailable, match="send this one again"):
            with room.held_for(body(CONTENT_LENGTH="1")):
                pass
    with room.held_for(body(CONTENT_LENGTH="5000")):
        pass


def test_a_body_of_unknown_length_takes_as_much_as_it_may() -> None:
    """Chunks announce no length."""
    chunked = body(HTTP_TRANSFER_ENCODING="chunked")
    with pytest.raises(Unavailable), BodyRoom(MAX_BODY_BYTES - 1).held_for(chunked):
        pass
    with BodyRoom(MAX_BODY_BYTES).held_for(chunked):
        pass
