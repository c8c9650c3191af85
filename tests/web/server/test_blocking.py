# SPDX-License-Identifier: Apache-2.0
"""Work beside the requests: results and errors come back, and few jobs run at a time."""

from __future__ import annotations

import subprocess
import sys
import threading

import gevent
import pytest
from gevent.pool import Pool

from referee.web.server.blocking import BlockingPool
from tests.support.teams import give_password

BOUND_S = 180.0


def test_result_and_error_come_back(capfd):
    """The caller gets the work's result or error, and nothing is printed."""
    runner = BlockingPool(1)
    assert 5 == runner(lambda: 5)
    with pytest.raises(KeyError, match="this"):
        runner(lambda: {}["this"])
    assert ("", "") == tuple(capfd.readouterr())


def test_greenlets_go_on_meanwhile():
    """The work runs in another thread; only the greenlet that asked for it waits."""
    runner, go_on = BlockingPool(1), threading.Event()
    asked = gevent.spawn(runner, lambda: (go_on.wait(BOUND_S), threading.get_native_id()))
    gevent.spawn(go_on.set)
    waited, thread = asked.get(timeout=BOUND_S)
    assert waited
    assert thread != threading.get_native_id()


def test_no_more_than_so_much_at_a_time():
    """Work beyond the bound waits for its turn."""
    runner, lock = BlockingPool(2), threading.Lock()
    now, most = [0], [0]

    def work():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        with lock:
            now[0] -= 1

    Pool(10).map(lambda _: runner(work), range(50))
    assert most[0] <= 2


_LOGINS_AT_ONCE = """
from referee.service.entry.teams import EventTeams
from gevent import monkey
monkey.patch_all(ssl=False)
import sys
from pathlib import Path
import gevent
from referee.web.server.blocking import BlockingPool
teams = EventTeams(Path(sys.argv[1]), BlockingPool(1))
tries = [gevent.spawn(teams.admitted, "ants", f"wrong {n}", "10.0.0.1") for n in range(3)]
gevent.joinall(tries, raise_error=True)
print([one.value for one in tries])
"""


def test_logins_of_one_team_at_once_do_not_stop_the_greenlets(tmp_path):
    """A login waits for the one before it and lets the other greenlets run.

    The worker replaces Python's locks after the modules are imported, as this program does.
    """
    path = tmp_path / "teams.csv"
    give_password(path, "ants")
    program = [sys.executable, "-c", _LOGINS_AT_ONCE, str(path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout == "[None, None, None]\n"
