# SPDX-License-Identifier: Apache-2.0
"""A higher priority for work that must be in time."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from power.bench.priority import hurried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux has the calls")


def refuse(*arguments: Any) -> None:
    """Refuse like a system that allows nothing."""
    raise PermissionError


def test_what_was_before_is_put_back() -> None:
    """Scheduler and niceness return to their old values, whatever the system allowed."""
    before = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
    with hurried() as name:
        assert name in ("real-time priority", "niceness -10", "ordinary priority")
    assert before == (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))


def test_without_permission_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission the recorder keeps its priority."""
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "setpriority", refuse)
    with hurried() as name:
        assert "ordinary priority" == name


def test_niceness_is_the_second_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Niceness takes over where the system refuses real time."""
    given: list[int] = []
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "setpriority", lambda which, who, value: given.append(value))
    with hurried() as name:
        assert "niceness -10" == name
    assert [-10, os.getpriority(os.PRIO_PROCESS, 0)] == given
