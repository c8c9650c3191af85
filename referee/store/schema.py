# SPDX-License-Identifier: Apache-2.0
"""The schema: tables from scripts, and the triggers that all tables of facts have.

The referee's scripts are in the folder `migrations` beside this file. A guest that has tables of
its own has such a folder in its package, too: those of the referee make their tables in each
database, those of other packages in the databases of the contests in which they take part. A
script holds tables, and the rules that are special to them. The triggers that refuse to change
facts, and those that tie facts into the chain, are made here from the tables themselves. So a new
table is one of facts, unless a set below names it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from textwrap import fill, indent

from referee import __version__
from referee.errors import InputError
from referee.plugins import EXTRAS, others, own
from referee.store import chain
from referee.store.linked_rows import columns_of, key_columns, key_of

_NO_ROOMS: Mapping[str, Path] = {}
# What sessions are run with: triggers of its own keep it, because the files' places may change.
NO_FACTS = {"images", "classes", "inputs", "image_counts"}
# fetched_images repeats what requests has, public_changes numbers facts that have links, nonces are
# chance, and team_logins are given to an event of an earlier version, whose chain stays as it is.
# The rows of the first two come from the scripts.
NO_LINKS = {
    "migrations",
    "answer_formats",
    "fetched_images",
    "public_changes",
    "nonces",
    "team_logins",
    "chain",
}
# A row that comes again is left out by the statement that inserts it.
_MAY_COME_AGAIN = {"fetched_images"}
# They name sessions but belong to the event: a proposal counts only after it is applied.
_OF_THE_EVENT = {"proposed_scores", "proposal_skips"}
# What a session's own links begin with, behind its row: its team, and what it is run with.
_BEHIND_A_SESSION = {
    "teams": "where team_id = new.team_id",
    "materials": "order by material_id desc limit 1",
}


def migrate(
    connection: sqlite3.Connection, path: Path, rooms: Mapping[str, Path] = _NO_ROOMS
) -> None:
    """Create the schema, or run the scripts that this database lacks; call it in a transaction.

    `rooms` are the folders of the guests that take part, by name. Raises `InputError` where
    `lacking` does, and for a guest of another package that would keep facts of sessions.
    """
    names = lacking(connection, path, rooms)
    known = dict(scripts(rooms))
    for name in names:
        for statement in statements(known[name]):
            connection.execute(statement)
        connection.execute("insert into migrations values (:name)", {"name": name})
    if names:
        _require_no_facts_of_sessions(connection, rooms)
        _make_triggers(connection)


def _require_no_facts_of_sessions(
    connection: sqlite3.Connection, rooms: Mapping[str, Path]
) -> None:
    """Raise `InputError` if a guest of another package has made a table of sessions' facts.

    A bundle has all facts of its session, and everybody can verify it without that package.
    """
    if not rooms.keys() - own(EXTRAS).keys():
        return
    with closing(sqlite3.connect(":memory:")) as fresh:
        chain.register_functions(fresh)
        migrate(fresh, Path(":memory:"))
        ours = _tables(fresh)
    for table in sorted(_tables(connection) - ours):
        if "session_id" in columns_of(connection, table):
            raise InputError(
                f"A guest's script makes the table {table} with the column session_id: its rows "
                "would be facts of sessions, and a bundle could be verified only with that guest. "
                "Name the column otherwise."
            )


def lacking(
    connection: sqlite3.Connection, path: Path, rooms: Mapping[str, Path] = _NO_ROOMS
) -> list[str]:
    """Return the scripts that a database lacks, in the order in which they run; read only.

    Raises `InputError` for a database of before the first release, and for one that a later referee
    or one with more guests wrote; `path` is its name there, and `rooms` are as `migrate` has them.
    """
    tables = _tables(connection)
    if tables and "migrations" not in tables:
        raise InputError(
            f"{path} was made by a referee of before the first release, or by another program. "
            "Give the contest a new folder, or use the program that made it."
        )
    rows = connection.execute("select name from migrations").fetchall() if tables else []
    done = {row[0] for row in rows}
    known = [name for name, _ in scripts(rooms)]
    strange = _strange(done.difference(known), rooms)
    if strange:
        raise InputError(_way_out(strange, {name.split("/")[0] for name in known}, path))
    return [name for name in known if name not in done]


def _strange(names: Iterable[str], rooms: Mapping[str, Path]) -> list[str]:
    """Return the scripts of these that no guest brings which is installed and takes no part."""
    left = sorted(names)
    idle = {plugin.name for plugin in others(EXTRAS)} - rooms.keys() if left else set()
    return [name for name in left if name.split("/")[0] not in idle]


def is_new(connection: sqlite3.Connection) -> bool:
    """Tell whether a database has no table yet, so that its schema is made, not brought up."""
    return not _tables(connection)


def _way_out(strange: list[str], rooms: set[str], path: Path) -> str:
    """Say which referee can open a database that has scripts which this one does not know.

    A room that is not here at all is a guest; other scripts come from a later version.
    """
    absent = sorted({name.split("/")[0] for name in strange} - rooms)
    if absent:
        lack, remedy = f"has no guest '{absent[0]}'", "Install the package that brings it"
    else:
        lack, remedy = "is an earlier version", "Install the version that wrote it, or a later one"
    return (
        f"{path} has tables of {', '.join(strange)}, which this referee {__version__} does not "
        f"know: it {lack}. Nothing was changed. {remedy}, or work on the laptop that wrote it: "
        "'referee export --all' there gives bundles for everybody." + _with_copies(path)
    )


def _with_copies(path: Path) -> str:
    """Name the copies of before an upgrade, which an earlier version can open."""
    copies = sorted(path.parent.glob(f"{path.stem}-before-*{path.suffix}"))
    if not copies:
        return ""
    return f" Of before the upgrade there is {', '.join(map(str, copies))}: {way_back(path)}"


def way_back(path: Path) -> str:
    """Say how the copy that an upgrade has made takes the place of the database."""
    return (
        f"to go back, stop the referee, move {path.name}, {path.name}-wal and "
        f"{path.name}-shm to another folder, and name the copy {path.name}. It lacks what was "
        "stored after the upgrade."
    )


def missing_from_schema(connection: sqlite3.Connection) -> list[str]:
    """Return the tables, indexes and triggers that the schema has and this database lacks."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        chain.register_functions(fresh)
        migrate(fresh, Path(":memory:"))
        query = "select type || ' ' || name from sqlite_master"
        wanted = {row[0] for row in fresh.execute(query)}
        return sorted(wanted - {row[0] for row in connection.execute(query)})


def scripts(rooms: Mapping[str, Path] = _NO_ROOMS) -> list[tuple[str, str]]:
    """Return name and text of each script: the referee's, its own guests', those of the rooms."""
    extras = Path(__file__).parents[1] / "extras"
    own_rooms = {name: extras / name for name in own(EXTRAS)}
    placed = [("referee", Path(__file__).parent), *sorted({**rooms, **own_rooms}.items())]
    return [
        (f"{name}/{stem}", text)
        for name, room in placed
        for stem, text in _scripts_in(room / "migrations")
    ]


@cache
def _scripts_in(folder: Path) -> list[tuple[str, str]]:
    """Return the scripts of a folder, which are the same while a program runs."""
    return [(one.stem, one.read_text(encoding="utf-8")) for one in sorted(folder.glob("*.sql"))]


def statements(script: str) -> Iterator[str]:
    """Split a script into statements; SQLite itself finds each end, also behind a trigger."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise ValueError(f"a migration ends inside a statement: {pending[:60]!r}")


def _make_triggers(connection: sqlite3.Connection) -> None:
    """Make the triggers of all tables of facts; those that are there are made anew."""
    for table in sorted(_tables(connection) - NO_FACTS):
        made = {
            f"{table}_no_update": _refusal("update", table),
            f"{table}_no_delete": _refusal("delete", table),
        }
        if table not in _MAY_COME_AGAIN:
            made[f"{table}_no_replace"] = _no_replace(connection, table)
        if table not in NO_LINKS:
            made[f"{table}_join_the_chain"] = _join_the_chain(connection, table)
        for name, rest in made.items():
            connection.execute(f"drop trigger if exists {name}")
            connection.execute(f"create trigger {name} {rest}")


def _refusal(verb: str, table: str, condition: str = "") -> str:
    return (
        f"before {verb} on {table}\nbegin\n"
        f"    select raise(abort, 'facts are append-only'){condition};\nend"
    )


def _no_replace(connection: sqlite3.Connection, table: str) -> str:
    """Return the trigger against 'insert or replace': it deletes a row without its own trigger."""
    same = " or ".join(
        " and ".join(f"{column} = new.{column}" for column in unique)
        for unique in _unique_columns(connection, table)
    )
    duplicate = f"select 1 from {table}\n        where {same}"
    return _refusal("insert", table, f"\n    where exists (\n        {duplicate}\n    )")


def _unique_columns(connection: sqlite3.Connection, table: str) -> list[list[str]]:
    """Return the sets of columns of which each names one row; the key comes first."""
    rows = connection.execute(
        "select list.name, info.name from pragma_index_list(:table) as list"
        " join pragma_index_info(list.name) as info"
        " where list.\"unique\" and list.origin != 'pk' order by list.seq, info.seqno",
        {"table": table},
    )
    others: dict[str, list[str]] = {}
    for index, column in rows:
        others.setdefault(index, []).append(column)
    return [key_columns(connection, table), *others.values()]


def _join_the_chain(connection: sqlite3.Connection, table: str) -> str:
    named = "session_id" in columns_of(connection, table) and table not in _OF_THE_EVENT
    session = "coalesce(new.session_id, 0)" if named else "0"
    # Values, because SQLite takes a fifth longer for a row that a query gives.
    links = [f"insert into new_links values (\n{_link(connection, table, session, 'new.')}\n    )"]
    if table == "sessions":
        links += [
            f"insert into new_links select\n{_link(connection, other, session)}\n"
            f"    from {other} {which}"
            for other, which in _BEHIND_A_SESSION.items()
        ]
    body = "".join(f"    {link};\n" for link in links)
    return f"after insert on {table}\nbegin\n{body}end"


def _link(connection: sqlite3.Connection, table: str, session: str, row: str = "") -> str:
    """Return the columns of `new_links` for a row: whose it is, its table, key and digest."""
    columns = ", ".join([f"'{table}'", *(row + name for name in columns_of(connection, table))])
    key = key_of(connection, table, row)
    text = f"{session}, '{table}', {key}, row_digest(\n{indent(fill(columns, 88), ' ' * 4)}\n)"
    return indent(text, " " * 8)


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    )
    return {row[0] for row in rows}
