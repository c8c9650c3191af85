# SPDX-License-Identifier: Apache-2.0
"""A lower priority for programs that no session waits for."""

from __future__ import annotations

import os

import pytest

from referee.programs import lower_priority as module
from referee.programs.lower_priority import lower_priority


class Session:
    """The autogroup of a login session; the system is busy for the first `busy` changes."""

    def __init__(self, busy: int = 0, there: bool = True) -> None:
        self.busy, self.there = busy, there
        self.told: list[str] = []

    def exists(self) -> bool:
        """Tell whether the system has autogroups."""
        return self.there

    def write_text(self, text: str) -> None:
        """Take a change."""
        if len(self.told) < self.busy:
            self.told.append("busy")
            raise BlockingIOError
        self.told.append(text)


@pytest.fixture(autouse=True)
def given(monkeypatch):
    """Return the niceness that this process would get; it leads a session, and its waits end."""
    found = []
    monkeypatch.setattr(os, "setpriority", lambda which, who, niceness: found.append(niceness))
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid())
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)
    return found


def test_the_program_and_its_session_get_the_niceness(given):
    """Both count, because the system looks at one of them, and we do not know at which."""
    session = Session(busy=3)
    lower_priority(10, session)
    assert [10] == given
    assert ["busy"] * 3 + ["10"] == session.told


def test_the_session_of_somebody_else_is_left_alone(given, monkeypatch):
    """A program that somebody starts by hand must not slow down everything in the terminal."""
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid() + 1)
    session = Session()
    lower_priority(10, session)
    assert ([10], []) == (given, session.told)


def test_a_program_that_stands_further_back_stays_there(given, monkeypatch):
    """Somebody who started the referee with a higher niceness keeps it."""
    monkeypatch.setattr(os, "getpriority", lambda which, who: 15)
    lower_priority(10, Session())
    assert [15] == given


def test_a_system_that_stays_busy_is_not_waited_for(caplog):
    """The program starts all the same, and its log tells about it."""
    lower_priority(10, Session(busy=1000))
    assert "keeps the priority" in caplog.text


def test_a_system_without_autogroups_needs_nothing_more(given, caplog):
    """The niceness alone counts there."""
    lower_priority(10, Session(there=False))
    assert ([10], "") == (given, caplog.text)
