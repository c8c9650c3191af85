# SPDX-License-Identifier: Apache-2.0
"""What a board knows of a station: each object as its feed told it last, and where to go on.

A file for each station keeps it, from which a new board goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from referee.extras.stations.notification import (
    LINES_MOST,
    ContestData,
    Data,
    Notification,
    StateData,
    StationFault,
    moment_of,
    read_notifications,
)
from referee.service.setup.whole_files import replace_file

_log = logging.getLogger(__name__)

D = TypeVar("D")

Key = tuple[str, str | None]
"""The type and the id of an object."""


@dataclass(frozen=True)
class StationState:
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
            own: value
            for (one, own), value in self.objects.items()
            if one == kind and own is not None and isinstance(value, data)
        }

    def knows(self, kind: str, object_id: str) -> bool:
        """Tell whether the station has ever told of an object in this history."""
        return (kind, object_id) in self.objects

    @property
    def contest(self) -> ContestData | None:
        """Return the event, or None before the station has told it; 1.0 gave it an id."""
        for object_id in (None, "contest"):
            value = self.objects.get(("contest", object_id))
            if isinstance(value, ContestData):
                return value
        return None

    @property
    def state(self) -> StateData:
        """Return the course of the event."""
        value = self.objects.get(("state", None))
        return value if isinstance(value, StateData) else StateData()

    @property
    def is_frozen(self) -> bool:
        """Tell whether a freeze hides what happens at the station."""
        return self.state.frozen is not None and self.state.thawed is None


def after(known: StationState, notifications: Sequence[Notification]) -> StationState:
    """Return what is known after these lines, the same object after none.

    Raises `StationFault` if that is too much.
    """
    if not notifications:
        return known
    objects, token = dict(known.objects), known.token
    for notification in notifications:
        objects[notification.type, notification.id] = notification.data
        token = notification.token
    if len(objects) > LINES_MOST:
        raise StationFault(f"it tells of more than {LINES_MOST} objects")
    return replace(known, objects=objects, token=token)


def state_to_lines(known: StationState) -> bytes:
    """Return the objects as lines of a feed, all with the newest token."""
    return b"".join(
        msgspec.json.encode({"type": kind, "id": own, "token": known.token, "data": data}) + b"\n"
        for (kind, own), data in known.objects.items()
    )


def state_from_lines(content: bytes, history: int) -> StationState:
    """Return what `state_to_lines` wrote; raise `StationFault` for other content."""
    return after(StationState(history=history), read_notifications(content))


@dataclass(frozen=True)
class SavedState:
    """What a board has of a station, and when it heard from it.

    `heard` is None for a station that has never answered. `whole` is when its feed was last read
    from the beginning.
    """

    known: StationState = StationState()
    heard: datetime | None = None
    whole: datetime | None = None


class _Head(msgspec.Struct):
    """The first line of a file."""

    url: str
    history: int
    heard: str | None
    whole: str | None


def load(folder: Path, url: str) -> SavedState:
    """Return what a folder has of the station at an address; nothing if the file is broken."""
    path = _path(folder, url)
    try:
        head, _, lines = path.read_bytes().partition(b"\n")
        saved_head = msgspec.json.decode(head, type=_Head)
        known = state_from_lines(lines, saved_head.history)
        return SavedState(known, _moment(saved_head.heard), _moment(saved_head.whole))
    except FileNotFoundError:
        return SavedState()
    except (OSError, msgspec.MsgspecError, StationFault, ValueError) as error:
        _log.warning("%s cannot be read (%s): the station is read anew", path, error)
        return SavedState()


def save(folder: Path, url: str, saved: SavedState) -> None:
    """Write the file of a station, whole or not at all; raise `InputError` if that fails."""
    head = _Head(url, saved.known.history, _text(saved.heard), _text(saved.whole))
    content = msgspec.json.encode(head) + b"\n" + state_to_lines(saved.known)
    replace_file(_path(folder, url), content, 0o600)


def _path(folder: Path, url: str) -> Path:
    return folder / f"station-{sha256(url.encode()).hexdigest()[:16]}.jsonl"


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment_of(text)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
