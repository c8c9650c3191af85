# SPDX-License-Identifier: Apache-2.0
"""The check of a whole database: every row must stand as it was stored."""

from __future__ import annotations

from dataclasses import dataclass

from referee.core.counts import counted
from referee.service.setup.contest import Contest
from referee.store.chain import broken_links, count_links, has_link, newest_link
from referee.store.images import strange_manifest
from referee.store.schema import missing_from_schema

# A broken chain may break at each row after it as well; nobody reads more.
_MOST = 100


@dataclass(frozen=True)
class FactsCheck:
    """What the check found: how many rows have a link, the newest link in hex, and the faults."""

    rows: int
    head: str
    faults: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return one line that says whether all of it holds."""
        if self.faults:
            many = f"{_MOST} or more" if len(self.faults) == _MOST else len(self.faults)
            return f"The stored facts were changed: {counted(many, 'finding')} above."
        return f"All {self.rows} stored facts are as they were stored; the chain ends {self.head}."


def check_facts(contest: Contest, expected: str | None = None) -> FactsCheck:
    """Compare each row with its link, in one snapshot, also while the servers run.

    `expected` is the newest link that an earlier check told. A database that lacks it is an older
    copy, or another one, although each of its own links holds.
    """
    faults: list[str] = []
    with contest.database.read() as connection:
        faults += [f"The schema lacks {name}." for name in missing_from_schema(connection)]
        if strange_manifest(connection):
            faults.append("Images, classes or input files are not those of the preparation.")
        for fault in broken_links(connection):
            if len(faults) >= _MOST:
                break
            faults.append(fault)
        if expected is not None and not has_link(connection, bytes.fromhex(expected)):
            faults.append(
                f"The chain has no link {expected}, where an earlier check saw its end: this is an "
                "older copy of the database, or another one."
            )
        head = newest_link(connection)
        return FactsCheck(
            count_links(connection), "" if head is None else head.hex(), tuple(faults)
        )
