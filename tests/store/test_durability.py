# SPDX-License-Identifier: Apache-2.0
"""Acknowledged answers survive the death of the process that stored them, and a power cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from referee.store.answers import answers_after
from referee.store.database import Database
from tests.store.conftest import answer, new_session

# Eight threads store answers through a journal; each prints a number after its acknowledgement.
STORING = """
import sys, threading
from pathlib import Path
from referee.store.answers import insert_answer
from referee.store.database import Database
from referee.store.journal import Journal
from tests.store.conftest import answer

journal = Journal(Database(Path(sys.argv[1])))
printing = threading.Lock()

def work():
    while True:
        number = journal.submit(lambda c: insert_answer(c, answer(1, 5))).result(60)
        with printing:
            print(number, flush=True)

for _ in range(8):
    threading.Thread(target=work).start()
"""


def store_until(path, enough, stop, root):
    """Store answers in a process of its own until `enough` are acknowledged; return their numbers.

    `stop` ends the storing, for example by SIGKILL to the process.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", STORING, str(path)],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(120, child.kill)
    watchdog.start()
    with child:
        acknowledged = []
        for line in child.stdout:
            # The kill cut the last line short, so nobody received it.
            if line.endswith("\n"):
                acknowledged.append(int(line))
            if len(acknowledged) == enough:
                stop(child)
    watchdog.cancel()
    assert -signal.SIGKILL == child.returncode
    assert len(acknowledged) >= enough
    return acknowledged


def assert_all_stored(database, acknowledged):
    """Assert that every acknowledged answer is there, whole and once."""
    stored = list(answers_after(database.connection, 1))
    numbers = [one.answer_id for one in stored]
    assert sorted(set(numbers)) == numbers
    assert set() == set(acknowledged) - set(numbers)
    whole = answer(1, 5).content
    assert all(one.content == whole for one in stored)
    assert "ok" == database.connection.execute("pragma integrity_check").fetchone()[0]


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged_before_the_kill", [1, 40, 400])
def test_kill_loses_no_acknowledged_answer(database, request, acknowledged_before_the_kill):
    """After kill -9 every answer whose number was printed is there, whole and once."""
    new_session(database)
    acknowledged = store_until(
        *(database.path, acknowledged_before_the_kill),
        lambda child: child.send_signal(signal.SIGKILL),
        request.config.rootpath,
    )
    assert_all_stored(database, acknowledged)


@pytest.mark.slow
def test_a_power_cut_loses_no_acknowledged_answer(mortal, request):
    """On a file system that forgets what was not synced, every acknowledged answer is there."""
    path = mortal.folder / "referee.db"
    with closing(Database(path)) as database:
        database.migrate()
        new_session(database)

    def cut(child):
        mortal.lose_power()
        child.send_signal(signal.SIGKILL)

    # What is acknowledged after the cut does not count: see `tests/support/mortal_disk.py`.
    acknowledged = store_until(path, 200, cut, request.config.rootpath)[:200]
    mortal.start_again()
    with closing(Database(path)) as database:
        assert_all_stored(database, acknowledged)


@pytest.mark.slow
def test_the_disk_of_these_tests_forgets_what_was_not_synced(mortal):
    """A file that was written and closed is empty or gone after the cut; a synced one is not."""
    for name, synced in (("kept", True), ("forgotten", False)):
        with (mortal.folder / name).open("wb") as file:
            file.write(b"x" * 100_000)
            file.flush()
            if synced:
                os.fsync(file.fileno())
    mortal.lose_power()
    mortal.start_again()
    sizes = {path.name: path.stat().st_size for path in mortal.folder.iterdir() if path.is_file()}
    assert (100_000, 0) == (sizes["kept"], sizes.get("forgotten", 0))
