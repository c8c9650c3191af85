# SPDX-License-Identifier: Apache-2.0
"""A machine on which programs stand still now and then, to find tests that rest on its speed.

`make test ARGS='-p tests.support.stalls'` stops one process of the tests after the other for up to
two seconds: a worker of pytest, or a program that a test has started. A test that fails there and
passes elsewhere has a bound that its good part must meet too. `STALLS=seed` repeats a choice.

A session of a real second or two may well be judged SUSPECT under it, as on any such machine.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

_GAP_S = 0.3  # The mean time from one stall to the next.
_SHORTEST_S, _LONGEST_S = 0.02, 2.0
_END = threading.Event()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the program that stops the others, once for all workers."""
    if hasattr(session.config, "workerinput"):
        return
    seed = os.environ.get("STALLS") or str(random.SystemRandom().randrange(10_000))
    print(f"stalls: seed {seed}")
    program = subprocess.Popen(
        [sys.executable, "-m", __name__, seed], cwd=Path(__file__).parents[2], stdin=subprocess.PIPE
    )
    session.config.add_cleanup(lambda: _end(program))


def _end(program: subprocess.Popen[bytes]) -> None:
    """Let the program end; it sets going what it has stopped."""
    program.terminate()
    program.communicate()


def stall(chance: random.Random, tests: psutil.Process) -> None:
    """Stop one process of the tests for a while: as often a worker as any other program."""
    workers = tests.children() or [tests]
    everybody = [one for one in tests.children(recursive=True) if one.pid != os.getpid()]
    chosen = chance.choice(workers if chance.random() < 0.5 else everybody or workers)
    stays_s = _SHORTEST_S * (_LONGEST_S / _SHORTEST_S) ** chance.random()
    # A process that a test has stopped is left to its test.
    if chosen.pid == os.getpid() or chosen.status() == psutil.STATUS_STOPPED:
        return
    chosen.send_signal(signal.SIGSTOP)
    try:
        _END.wait(stays_s)
    finally:
        chosen.send_signal(signal.SIGCONT)


def main(seed: str) -> None:
    """Stall the processes of this one's parent until it ends or SIGTERM comes."""
    chance = random.Random(int(seed))
    tests = psutil.Process(os.getppid())
    signal.signal(signal.SIGTERM, lambda *_: _END.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.getppid() == tests.pid and not _END.wait(chance.expovariate(1 / _GAP_S)):
        try:
            stall(chance, tests)
        except psutil.Error:
            pass  # The chosen one has ended meanwhile.


if __name__ == "__main__":
    main(sys.argv[1])
