# SPDX-License-Identifier: Apache-2.0
"""Keys of events and teams by which the tables of a season join.

Names may be missing, and a table for spreadsheets changes some. A key is made of what the bundles
say, so it is the same in each season. A letter comes first: no spreadsheet takes it for a number.
"""

from __future__ import annotations

import hashlib
import json

from referee.formats.faults import harmless

_DIGITS = 12
_NAMELESS = "event without a name"


def event_key(event: str | None, station: str | None, track: str, truth_sha256: str) -> str:
    """Return the key of what one station measured in an event under one ground truth."""
    return f"e{_digest([event, station, track, truth_sha256])}"


def team_key(team: str) -> str:
    """Return the key of a team by its name: the same for all events in which the name is."""
    return f"t{_digest([team])}"


def event_name(event: str | None) -> str:
    """Return what all tables call an event."""
    return harmless(event or _NAMELESS)


def _digest(words: list[str | None]) -> str:
    return hashlib.sha256(json.dumps(words).encode("ascii")).hexdigest()[:_DIGITS]
