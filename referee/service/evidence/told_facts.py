# SPDX-License-Identifier: Apache-2.0
"""Whose session a file says that it holds, also where the file is torn or was changed.

That is no proof: it only keeps one session's evidence from the place of another's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from referee.core.written_text import unfit_character
from referee.service.evidence.bundle_file import (
    MOST,
    NO_VALUE,
    NotABundle,
    contents_of,
    opened_bundle,
)
from referee.service.evidence.facts_read import FACTS
from referee.service.evidence.zip_layout import whole_members

_NAME_MOST = 80


@dataclass(frozen=True)
class ToldFacts:
    """The session's number, its team's name then, when it was made, and the links of its rows."""

    session: int
    team: str
    created_utc: str
    strands: list[str]


def told_facts(path: Path) -> ToldFacts:
    """Return what a file's facts tell; raise `NotABundle` if it has none that can be read."""
    with opened_bundle(path) as file:
        found = [one for one in whole_members(file) if one.name in MOST]
        facts = contents_of(file, [one for one in found if one.name == FACTS])
    if FACTS not in facts:
        raise NotABundle("", "It has no facts of a session that can be read.")
    return told_of(facts[FACTS])


def told_of(facts: bytes) -> ToldFacts:
    """Return what the text of `facts.jsonl` tells; raise `NotABundle` if that is none."""
    try:
        lines = [msgspec.json.decode(line) for line in facts.splitlines()]
        session, team = lines[0]["row"], lines[1]["row"]
        return ToldFacts(
            int(session["session_id"]),
            _plain(team["name"]),
            _plain(session["created_utc"]),
            [str(line["strand"]) for line in lines],
        )
    except NO_VALUE:
        raise NotABundle(FACTS, "It has no facts of a session that can be read.") from None


def _plain(text: Any) -> str:
    """Return a stranger's text as one that can be printed."""
    short = str(text)[:_NAME_MOST]
    return ascii(short)[1:-1] if unfit_character(short) else short
