# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for work."""

from __future__ import annotations

import queue
import threading

from referee.web.server.crew import Crew

BOUND_S = 20.0


def test_threads_are_started_as_needed_and_used_again():
    """Work that comes when a thread is free starts no other."""
    done: queue.Queue[threading.Thread] = queue.Queue()
    crew = Crew("crew", 3)
    for _ in range(50):
        crew.run(lambda: done.put(threading.current_thread()))
    threads = {done.get(timeout=BOUND_S) for _ in range(50)}
    assert {thread.name for thread in threads} <= {"crew_1", "crew_2", "crew_3"}
    assert all(thread.daemon for thread in threads)


def test_as_many_work_at_once_as_there_are_and_the_rest_waits():
    """Nothing that is handed over is lost, and a stuck thread keeps only itself."""
    gate = threading.Event()
    begun: queue.Queue[str] = queue.Queue()

    def work() -> None:
        begun.put(threading.current_thread().name)
        gate.wait(BOUND_S)

    crew = Crew("crew", 3)
    for _ in range(7):
        crew.run(work)
    assert {"crew_1", "crew_2", "crew_3"} == {begun.get(timeout=BOUND_S) for _ in range(3)}
    assert begun.empty()
    gate.set()
    assert 4 == len([begun.get(timeout=BOUND_S) for _ in range(4)])
