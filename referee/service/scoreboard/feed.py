# SPDX-License-Identifier: Apache-2.0
"""The feed: the objects of a snapshot as lines, and where a reader goes on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from referee.errors import Refusal
from referee.service.scoreboard.feed_objects import FeedObject
from referee.service.scoreboard.publisher import PublicSnapshot

_TOKEN = re.compile(r"([1-9][0-9]{0,15})\.([0-9]{1,18})\.([0-9a-f]{8})")


@dataclass(frozen=True, order=True)
class FeedPlace:
    """A place in the feed: the number of a change, and the place within it."""

    change: int
    place: int


START = FeedPlace(0, 0)
"""The place before the first object."""


def place_of(snapshot: PublicSnapshot, token: str) -> FeedPlace:
    """Return the place that a token names.

    Raises `Refusal` (code `token_unknown`) for a token that this database has never given, because
    it is another one, or because it was restored to a time before the token.
    """
    parts = _TOKEN.fullmatch(token)
    if parts is None or snapshot.nonces.get(int(parts[1])) != parts[3]:
        raise Refusal(
            "token_unknown",
            "This feed has never given this token: the database is another one, or an older copy "
            "was restored. Start again without since_token.",
        )
    return FeedPlace(int(parts[1]), int(parts[2]))


def lines_after(snapshot: PublicSnapshot, place: FeedPlace) -> tuple[list[str], FeedPlace]:
    """Return the lines of the objects after a place, and the place of the last one."""
    objects = [
        feed_object
        for feed_object in snapshot.publication.objects
        if FeedPlace(feed_object.change, feed_object.place) > place
    ]
    if not objects:
        return [], place
    return [_line(one) for one in objects], FeedPlace(objects[-1].change, objects[-1].place)


def _line(changed: FeedObject) -> str:
    shown = {"type": changed.type, "id": changed.id, "data": changed.data, "token": changed.token}
    return json.dumps(shown, allow_nan=False) + "\n"
