# SPDX-License-Identifier: Apache-2.0
"""The query for what tells a row from another one of its number, in a restored database too."""

from __future__ import annotations

import sqlite3
from typing import Literal

Subject = Literal["session", "login"]

NONCE_BYTES = 16
"""The length of a nonce."""


def nonce_of(connection: sqlite3.Connection, subject: Subject, row_id: int) -> bytes | None:
    """Return the nonce of a session or of a login at the console; None if there is no such row."""
    row = connection.execute(
        "select nonce from nonces where subject = :subject and row_id = :row",
        {"subject": subject, "row": row_id},
    ).fetchone()
    return None if row is None else bytes(row[0])
