# SPDX-License-Identifier: Apache-2.0
"""The standings of a guest of the contest, among the results of the event.

Approved results are stored with them and read through these types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

_NONE = "–"


class GuestColumn(Struct, frozen=True):
    """A column: its head, and how `format` prints its numbers; without a form they are words."""

    head: str
    form: str = ""


class GuestTable(Struct, frozen=True):
    """A ranking, the best first; a row has a value for each column, None for what is missing.

    `notes` are sentences below it, such as who has won.
    """

    title: str
    columns: Sequence[GuestColumn]
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()

    @property
    def heads(self) -> list[str]:
        """Return the heads of the columns."""
        return [column.head for column in self.columns]

    def places(self) -> dict[str, int]:
        """Return the rank of each team that has one, in a table with the columns rank and team."""
        if not {"rank", "team"} <= {*self.heads}:
            return {}
        rank, team = map(self.heads.index, ("rank", "team"))
        return {row[team]: row[rank] for row in self.rows if row[rank] is not None}

    def printed(self) -> list[list[str]]:
        """Return the rows as people read them."""
        return [
            [
                _NONE if value is None else format(value, column.form)
                for value, column in zip(row, self.columns, strict=True)
            ]
            for row in self.rows
        ]


class GuestStandings(Struct, frozen=True):
    """What a guest has to say among the results: to people in tables, to programs in `told`."""

    tables: Sequence[GuestTable] = ()
    told: Mapping[str, object] = {}
