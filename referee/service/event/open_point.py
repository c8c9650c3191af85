# SPDX-License-Identifier: Apache-2.0
"""A point that is open before results can be final: what it is about, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Kind = Literal[
    "no team",
    "session",
    "several sessions",
    "waiting",
    "no energy",
    "no score",
    "doubt",
    "conditions",
    "proposal",
    "inputs",
    "guest",
]


class OpenPoint(Struct, frozen=True, kw_only=True):
    """One open point. `text` says what is open and what to do; the other fields name its subject.

    `sessions` are those that an act on the point would change, and `proposal` is its proposal.
    Points with the same `reason` can be settled by one act; '' means that this one stands alone.
    `doubt` is what makes an energy doubtful. `page` is the console's page to look at.
    """

    text: str
    kind: Kind
    team: str = ""
    sessions: Sequence[int] = ()
    proposal: int | None = None
    reason: str = ""
    doubt: str = ""
    page: str = ""
