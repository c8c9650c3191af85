# SPDX-License-Identifier: Apache-2.0
"""A program that reads the referee's database and never ends, beside a referee that runs."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Rehearse
from tests.support.running import eventually, get, request

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="Linux lists locks"),
]

_READS = """
import sqlite3, sys
link = sqlite3.connect(sys.argv[1], isolation_level=None)
link.execute("begin")
link.execute("select count(*) from sqlite_schema").fetchall()
print("reads", flush=True)
sys.stdin.read()
"""


@contextmanager
def reader(database: Path) -> Iterator[int]:
    """Let a program read until the block ends; return its process id."""
    command = [sys.executable, "-c", _READS, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and b"reads\n" == child.stdout.readline()
        yield child.pid
        assert child.stdin is not None
        child.stdin.close()


def write(database: Path, mebibytes: int) -> None:
    """Fill the log, in place of an event of a day."""
    with closing(sqlite3.connect(database, isolation_level=None, timeout=180)) as link:
        link.execute("pragma synchronous = off")
        link.execute("create table if not exists filling (content blob)")
        for _ in range(mebibytes):
            link.execute("insert into filling values (zeroblob(1048576))")


def test_the_red_bar_names_who_reads(rehearse: Rehearse) -> None:
    """The alarm and the list of checks have the process; after its end the log is cut."""
    running = rehearse("--seconds", "600", "--meter", "none")
    database = Path(running.data) / "referee.db"
    log = database.with_name("referee.db-wal")
    with reader(database) as pid:
        write(database, 140)
        assert log.stat().st_size > 140 << 20

        def alarm() -> bool:
            texts = [one["text"] for one in running.board()["notices"] if one["level"] == "alarm"]
            return any(f"(process {pid})" in text and "End that program" in text for text in texts)

        eventually(alarm, "an alarm that names the reader")
        rows = json.loads(get(f"{running.console}/check/now")[1])["findings"]
        assert any(f"(process {pid})" in row["text"] for row in rows if row["level"] == "WARN")

    def cut() -> bool:
        with closing(sqlite3.connect(database, isolation_level=None, timeout=180)) as link:
            link.execute("pragma wal_checkpoint(passive)")
        # An answer is written by the referee's own connection, which knows the limit.
        request(f"{running.contest}/login", b"username=me&password=practice", {})
        return log.stat().st_size <= 64 << 20

    eventually(cut, "the log to be cut")
