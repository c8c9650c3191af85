# SPDX-License-Identifier: Apache-2.0
"""A board's memory on the disk: a file for each station, from which a new board goes on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from referee.extras.stations.held import Held, held_from_lines, held_to_lines
from referee.extras.stations.notification import StationFault, moment_of
from referee.service.setup.whole_files import replace_file

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kept:
    """What a board has of a station, and when it heard from it.

    `heard` is None for a station that has never answered. `whole` is when its feed was last read
    from the beginning.
    """

    held: Held = Held()
    heard: datetime | None = None
    whole: datetime | None = None


class _Head(msgspec.Struct):
    """The first line of a file."""

    url: str
    history: int
    heard: str | None
    whole: str | None


def load(folder: Path, url: str) -> Kept:
    """Return what a folder has of the station at an address; nothing if the file is broken."""
    path = _path(folder, url)
    try:
        head, _, lines = path.read_bytes().partition(b"\n")
        told = msgspec.json.decode(head, type=_Head)
        held = held_from_lines(lines, told.history)
        return Kept(held, _moment(told.heard), _moment(told.whole))
    except FileNotFoundError:
        return Kept()
    except (OSError, msgspec.MsgspecError, StationFault, ValueError) as error:
        _log.warning("%s cannot be read (%s): the station is read anew", path, error)
        return Kept()


def save(folder: Path, url: str, kept: Kept) -> None:
    """Write the file of a station, whole or not at all; raise `InputError` if that fails."""
    head = _Head(url, kept.held.history, _text(kept.heard), _text(kept.whole))
    content = msgspec.json.encode(head) + b"\n" + held_to_lines(kept.held)
    replace_file(_path(folder, url), content, 0o600)


def _path(folder: Path, url: str) -> Path:
    return folder / f"station-{sha256(url.encode()).hexdigest()[:16]}.jsonl"


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment_of(text)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
