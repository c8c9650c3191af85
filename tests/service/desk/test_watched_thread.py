# SPDX-License-Identifier: Apache-2.0
"""A watched thread: its death is reported, and its work continues."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from referee.service.desk import watched_thread as module
from referee.service.desk.watched_thread import WatchedThread
from tests.support.fakes import BOUND_S


class Work:
    """Work that fails a given number of times and then runs until it is stopped."""

    def __init__(self, *failures: BaseException | None) -> None:
        self.failures = list(failures)
        self.stopping = threading.Event()
        self.goes_on = threading.Event()
        self.told: list[str] = []

    def run(self) -> None:
        """Raise the next failure, return early for None, or work."""
        if self.failures:
            failure = self.failures.pop(0)
            if failure is not None:
                raise failure
            return
        self.goes_on.set()
        self.stopping.wait(BOUND_S)


@pytest.fixture(autouse=True)
def short_pause(monkeypatch):
    """Restart a dead thread's work at once."""
    monkeypatch.setattr(module, "_PAUSE_FIRST_S", 0.001)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ZeroDivisionError("a mistake"), "a mistake"),
        (OSError(28, "No space left on device"), "No space left"),
        (SystemExit(1), "SystemExit"),
        (MemoryError(), "MemoryError"),
        (None, "ended without an error"),
    ],
)
def test_a_death_is_told_and_the_work_goes_on(failure, reason):
    """However the work ends, the operators get the thread's name and the reason each time."""
    work = Work(failure, failure)
    thread = WatchedThread("meter", work.run, work.stopping, work.told.append)
    thread.start()
    assert work.goes_on.wait(BOUND_S)
    work.stopping.set()
    thread.join(BOUND_S)
    assert not thread.is_alive()
    assert 2 == len(work.told)
    assert "'meter' died" in work.told[0] and reason in work.told[0]


def test_an_end_that_is_wanted_is_no_death():
    """Work that ends because it was stopped is neither reported nor restarted."""
    work = Work()
    thread = WatchedThread("meter", work.run, work.stopping, work.told.append)
    thread.start()
    work.stopping.set()
    thread.join(BOUND_S)
    assert (False, []) == (thread.is_alive(), work.told)


def test_a_death_that_cannot_be_told_is_survived():
    """An error while reporting costs the report, and not the thread."""

    def tell(text):
        raise OSError(28, "No space left on device")

    work = Work(ValueError("first"))
    thread = WatchedThread("meter", work.run, work.stopping, tell)
    thread.start()
    assert work.goes_on.wait(BOUND_S)
    work.stopping.set()
    thread.join(BOUND_S)


def test_joining_a_thread_that_never_began_waits_for_nothing():
    """An owner can be closed although its thread never began."""
    work = Work()
    WatchedThread("meter", work.run, work.stopping, work.told.append).join(BOUND_S)
    assert not work.goes_on.is_set()
    assert [] == work.told


class Pauses(threading.Event):
    """A wish to stop that counts the pauses, and comes true after some of them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self._most = most

    def wait(self, timeout: float | None = None) -> bool:
        """Note the pause; do not wait."""
        self.seconds.append(timeout or 0.0)
        if len(self.seconds) == self._most:
            self.set()
        return self.is_set()


def test_work_that_fails_again_and_again_is_restarted_less_often(monkeypatch):
    """The pause doubles from 0.2 s to 5 s, and begins anew after half a minute of good work."""
    monkeypatch.setattr(module, "_PAUSE_FIRST_S", 0.2)
    now_s = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    pauses = Pauses(9)

    def run():
        if len(pauses.seconds) == 7:
            now_s[0] += 30.1
        raise ValueError("again")

    thread = WatchedThread("meter", run, pauses, lambda text: None)
    thread.start()
    thread.join(BOUND_S)
    assert [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2, 0.4] == pauses.seconds
