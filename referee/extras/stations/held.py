# SPDX-License-Identifier: Apache-2.0
"""What a board holds of a station: each object as its feed told it last, and where to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from referee.extras.stations.notification import (
    LINES_MOST,
    ContestData,
    Data,
    Notification,
    StateData,
    StationFault,
    read_notifications,
)

D = TypeVar("D")

Key = tuple[str, str | None]
"""The type and the id of an object."""


@dataclass(frozen=True)
class Held:
    """The objects of one history of a station; equal histories give equal objects.

    An object that was removed stays as None: its id is known, and means nothing any more. `token`
    is that of the newest line. `history` counts the histories: it grows when a station's database
    is another one, or an older copy of it.
    """

    token: str | None = None
    objects: Mapping[Key, Data | None] = field(default_factory=dict)
    history: int = 0

    def of_kind(self, kind: str, data: type[D]) -> dict[str, D]:
        """Return the objects of a type that were not removed, by their ids."""
        return {
            own: found
            for (one, own), found in self.objects.items()
            if one == kind and own is not None and isinstance(found, data)
        }

    def knows(self, kind: str, own: str) -> bool:
        """Tell whether the station has ever told of an object in this history."""
        return (kind, own) in self.objects

    @property
    def contest(self) -> ContestData | None:
        """Return the event, or None before the station has told it."""
        found = self.objects.get(("contest", "contest"))
        return found if isinstance(found, ContestData) else None

    @property
    def state(self) -> StateData:
        """Return the course of the event."""
        found = self.objects.get(("state", None))
        return found if isinstance(found, StateData) else StateData()

    @property
    def is_frozen(self) -> bool:
        """Tell whether a freeze hides what happens at the station."""
        return self.state.frozen is not None and self.state.thawed is None


def after(held: Held, told: Sequence[Notification]) -> Held:
    """Return what is held after these lines, the same object after none.

    Raises `StationFault` if that is too much.
    """
    if not told:
        return held
    objects, token = dict(held.objects), held.token
    for one in told:
        objects[one.type, one.id] = one.data
        token = one.token
    if len(objects) > LINES_MOST:
        raise StationFault(f"it tells of more than {LINES_MOST} objects")
    return replace(held, objects=objects, token=token)


def held_to_lines(held: Held) -> bytes:
    """Return the objects as lines of a feed, all with the newest token."""
    return b"".join(
        msgspec.json.encode({"type": kind, "id": own, "token": held.token, "data": data}) + b"\n"
        for (kind, own), data in held.objects.items()
    )


def held_from_lines(content: bytes, history: int) -> Held:
    """Return what `held_to_lines` wrote; raise `StationFault` for other content."""
    return after(Held(history=history), read_notifications(content))
