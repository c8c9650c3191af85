# SPDX-License-Identifier: Apache-2.0
"""A signal's handler sets a flag at whatever moment it comes."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

from power.signal_flag import SignalFlag
from tests.support.fakes import BOUND_S


def test_a_handler_sets_the_flag_at_each_line_of_a_wait() -> None:
    """The interrupted thread goes on, wherever in its wait the signal came."""
    flag, came_at = SignalFlag(), set()

    def interrupt(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is SignalFlag.wait.__code__:
            came_at.add(frame.f_lineno)
            signal.raise_signal(signal.SIGUSR1)
        return interrupt

    before = signal.signal(signal.SIGUSR1, lambda number, frame: flag.set())
    traced = sys.gettrace()
    sys.settrace(interrupt)
    try:
        assert flag.wait(BOUND_S)
    finally:
        sys.settrace(traced)
        signal.signal(signal.SIGUSR1, before)
    assert len(came_at) > 2


def test_all_who_wait_hear_of_it() -> None:
    """Each of several threads that wait goes on, and later waits end at once."""
    flag, heard = SignalFlag(), []
    threads = [threading.Thread(target=lambda: heard.append(flag.wait(BOUND_S))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not flag.wait(0.0)
    flag.set()
    for thread in threads:
        thread.join(BOUND_S)
    assert [True] * 3 == heard
    assert flag.wait(0.0) and flag.is_set()
