# SPDX-License-Identifier: Apache-2.0
"""Acknowledged answers survive the death of the process that stored them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from referee.store.answers import answers_after
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


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged_before_the_kill", [1, 40, 400])
def test_kill_loses_no_acknowledged_answer(database, request, acknowledged_before_the_kill):
    """After kill -9 every answer whose number was printed is there, whole and once."""
    new_session(database)
    child = subprocess.Popen(
        [sys.executable, "-c", STORING, str(database.path)],
        cwd=request.config.rootpath,
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
            if len(acknowledged) == acknowledged_before_the_kill:
                child.send_signal(signal.SIGKILL)
    watchdog.cancel()
    assert -signal.SIGKILL == child.returncode
    assert len(acknowledged) >= acknowledged_before_the_kill
    stored = list(answers_after(database.connection, 1))
    numbers = [one.answer_id for one in stored]
    assert sorted(set(numbers)) == numbers
    assert set() == set(acknowledged) - set(numbers)
    whole = answer(1, 5).content
    assert all(one.content == whole for one in stored)
    assert "ok" == database.connection.execute("pragma integrity_check").fetchone()[0]
