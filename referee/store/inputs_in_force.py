# SPDX-License-Identifier: Apache-2.0
"""Queries for the files that proposals score with; those of an applied one hold from then on."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from referee.store.images import InputFile, blacklist_of, load_inputs


@dataclass(frozen=True)
class InForce:
    """The input files that the newest applied proposal put in force, by role.

    `blacklist` has the bytes of the blacklist among them, which need no file.
    """

    proposal_id: int
    inputs: Mapping[str, InputFile]
    blacklist: bytes | None = None

    @property
    def sha256(self) -> dict[str, str]:
        """Return the SHA-256 of each file by its role."""
        return {name: file.sha256 for name, file in self.inputs.items()}


def insert_proposed_inputs(
    connection: sqlite3.Connection, proposal_id: int, inputs: Mapping[str, InputFile]
) -> None:
    """Store with which files a proposal scores."""
    connection.executemany(
        "insert into proposed_inputs (proposal_id, name, path, sha256) values (?, ?, ?, ?)",
        [(proposal_id, name, file.path, file.sha256) for name, file in inputs.items()],
    )


def proposed_inputs(connection: sqlite3.Connection, proposal_id: int) -> dict[str, InputFile]:
    """Return the files of a proposal by role; a referee before this table stored none."""
    rows = connection.execute(
        "select name, path, sha256 from proposed_inputs where proposal_id = :proposal"
        " order by name",
        {"proposal": proposal_id},
    )
    return {row["name"]: InputFile(row["path"], row["sha256"]) for row in rows}


def proposal_in_force(connection: sqlite3.Connection) -> int | None:
    """Return the newest applied proposal that names its files; None while the contest's own hold.

    One proposal is open at a time, so the order of their numbers is that of their ends.
    """
    row = connection.execute(
        "select max(proposal_id) from proposal_ends where kind = 'applied'"
        " and proposal_id in (select proposal_id from proposed_inputs)"
    ).fetchone()
    return None if row[0] is None else int(row[0])


def inputs_in_force(connection: sqlite3.Connection) -> InForce | None:
    """Return the files that an applied proposal put in force; None while the contest's own hold."""
    number = proposal_in_force(connection)
    return None if number is None else proposed_files(connection, number)


def proposed_files(connection: sqlite3.Connection, proposal_id: int) -> InForce:
    """Return the files that are in force once this proposal is applied, and no other one later."""
    inputs = proposed_inputs(connection, proposal_id)
    listed = inputs.get("blacklist")
    content = None if listed is None else blacklist_of(connection, listed.sha256)
    return InForce(proposal_id, inputs, content)


def file_with(connection: sqlite3.Connection, name: str, sha256: str) -> InputFile | None:
    """Return the contest's or a proposal's file of a role that has this SHA-256, or None."""
    prepared = load_inputs(connection).get(name)
    if prepared is not None and prepared.sha256 == sha256:
        return prepared
    row = connection.execute(
        "select path, sha256 from proposed_inputs where name = :name and sha256 = :sha256"
        " order by proposal_id desc limit 1",
        {"name": name, "sha256": sha256},
    ).fetchone()
    return None if row is None else InputFile(row["path"], row["sha256"])
