# SPDX-License-Identifier: Apache-2.0
"""A forgotten reader of the database is found, named and told, and the log shrinks after it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from referee.service.preflight import wal_watch as module
from referee.service.preflight.finding import Level
from referee.service.preflight.wal_rule import (
    LARGE_BYTES,
    LogLook,
    Reader,
    growth_text,
    log_finding,
)
from referee.service.preflight.wal_watch import WalWatch, look_at_log, readers_of, reading_pids
from referee.store import database as database_module
from referee.store.database import Database

SHELL = Reader(7, "sqlite3 referee.db")
SCORER = Reader(5, "referee process scorer")
SMALL = LogLook(LARGE_BYTES, frozenset({SHELL}))


def large(*readers: Reader, size: int = LARGE_BYTES + 1) -> LogLook:
    """Return a look at a large log."""
    return LogLook(size, frozenset(readers))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (SMALL, SMALL, None),
        (large(SHELL), SMALL, None),
        # Whoever reads for a moment is not there at the next look.
        (large(SCORER), large(SHELL), None),
        (large(), large(), None),
        (large(SHELL, SCORER), large(SHELL), ["sqlite3 referee.db (process 7) reads", "134 MB"]),
        (
            large(SHELL, SCORER),
            large(SHELL, SCORER),
            ["scorer (process 5) and sqlite3", "read the"],
        ),
        (LogLook(LARGE_BYTES + 1, None), large(SHELL), ["A program reads"]),
    ],
)
def test_when_a_log_is_held(before: LogLook, now: LogLook, words: list[str] | None) -> None:
    """A large log is a fault only while the same process reads at two moments."""
    text, finding = growth_text(before, now), log_finding(before, now)
    assert (Level.OK if words is None else Level.WARN) == finding.level
    assert (text is None) == (words is None)
    assert all(word in (text or "") for word in words or [])


def test_an_alarm_comes_once_and_again_when_the_log_has_doubled() -> None:
    """The red bar is not rung each second, and rings again for a log that has shrunk and grown."""
    told: list[str] = []
    watch = WalWatch(Path("x"), told.append)
    for look in (large(SHELL), large(SHELL), large(SHELL), large(SHELL, size=3 * LARGE_BYTES)):
        watch.take(look)
    assert 2 == len(told)
    assert "sqlite3 referee.db (process 7)" in told[0] and "End that program" in told[0]
    watch.take(SMALL)
    watch.take(large(SHELL))
    assert 3 == len(told)


def test_locks_of_readers() -> None:
    """Only a reader's bytes of this file count, whatever else the kernel lists."""
    lines = [
        "1: POSIX  ADVISORY  READ 41 fe:00:99 124 124",
        "1: -> POSIX ADVISORY READ 42 fe:00:99 124 124",
        "2: POSIX  ADVISORY  READ 43 fe:00:98 124 124",
        "3: POSIX  ADVISORY  READ 44 fe:00:99 128 128",
        "4: POSIX  ADVISORY  WRITE 45 fe:00:99 120 120",
        "5: FLOCK  ADVISORY  WRITE 46 fe:00:99 124 EOF",
        "6: POSIX  ADVISORY  READ 47 fe:00:199 124 124",
        "7: POSIX  ADVISORY  READ 48 fe:00:99 0 EOF",
        "",
        "8: POSIX  ADVISORY  READ 49 fe:00:99 123 127",
    ]
    assert [41, 49] == list(reading_pids(lines, 99))


_READS = """
import sqlite3, sys
link = sqlite3.connect(sys.argv[1], isolation_level=None)
link.execute("begin")
link.execute("select count(*) from t").fetchall()
print("reads", flush=True)
sys.stdin.read()
"""


@contextmanager
def forgotten_reader(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process read the database until the block ends."""
    command = [sys.executable, "-c", _READS, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and "reads\n" == child.stdout.readline()
        yield child
        assert child.stdin is not None
        child.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists locks")
def test_a_forgotten_reader_is_named_and_the_log_shrinks_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log grows while another process reads, who is named; then it is cut to its limit."""
    monkeypatch.setattr(database_module, "_WAL_PAGES", 50)
    monkeypatch.setattr(database_module, "_WAL_KEPT_BYTES", 1 << 19)
    monkeypatch.setattr(module, "LARGE_BYTES", 1 << 20)
    path = tmp_path / "referee.db"
    log = tmp_path / "referee.db-wal"
    with closing(Database(path)) as database:
        with database.write() as connection:
            connection.execute("create table t (content blob)")

        def write(count: int) -> None:
            for _ in range(count):
                with database.write(durable=False) as connection:
                    connection.execute("insert into t values (zeroblob(100000))")

        with forgotten_reader(path) as child:
            write(30)
            assert log.stat().st_size > 2 << 20
            found = look_at_log(path)
            assert found.readers is not None
            assert [child.pid] == [reader.pid for reader in found.readers]
            assert all(sys.executable in reader.program for reader in found.readers)
        assert frozenset() == readers_of(path)
        write(5)
        assert log.stat().st_size <= 1 << 19
