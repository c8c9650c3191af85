# SPDX-License-Identifier: Apache-2.0
"""Write `referee/store/schema.sql`: the schema that the migrations make, for people to read.

Run it by `make schema` after a change of a migration. `tests/store/test_schema.py` fails otherwise.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

from referee.store.database import Database

FILE = Path(__file__).resolve().parents[1] / "referee" / "store" / "schema.sql"

_HEAD = """\
-- SPDX-License-Identifier: Apache-2.0
-- The schema that the migrations make. This file is for people: 'make schema' writes it, and no
-- program reads it. First come the tables with their own rules, as the migrations have them. Then
-- come the triggers that all tables of facts have, as referee/store/schema.py makes them.
"""


def schema_text() -> str:
    """Return the text of the file."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(Database(Path(folder) / "referee.db")) as database:
            database.migrate()
            rows = database.connection.execute(
                "select sql from sqlite_master where sql is not null and name not like 'sqlite_%'"
                " order by rowid"
            )
            return "\n".join([_HEAD, *(f"{_lower(sql)};\n" for (sql,) in rows)])


def _lower(sql: str) -> str:
    """Undo what SQLite writes in capitals: the first words of a statement."""
    first, kind, rest = sql.split(" ", 2)
    return f"{first.lower()} {kind.lower()} {rest}"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
