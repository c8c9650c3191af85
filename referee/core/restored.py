# SPDX-License-Identifier: Apache-2.0
"""A contest's folder that knows less than the evidence beside it: it was restored from a backup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LISTED = 3


@dataclass(frozen=True)
class NewerEvidence:
    """A bundle or a slip of this contest, whose newest link the folder lacks."""

    file: str
    session: int


def restored_text(newer: Sequence[NewerEvidence]) -> str:
    """Return a sentence about a folder that lacks what these files have."""
    listed = ", ".join(f"{one.file} (session {one.session})" for one in newer[:_LISTED])
    more = f" and {len(newer) - _LISTED} more" if len(newer) > _LISTED else ""
    return (
        f"This folder was restored from an older copy: it lacks facts that {listed}{more} "
        f"{'has' if len(newer) == 1 else 'have'}."
    )


RESTORED_REMEDY = (
    "Restore the newest copy of the folder if there is one. If not, keep these files: they are the "
    "only evidence of those sessions, and their numbers are given again."
)
"""What to do about it."""
