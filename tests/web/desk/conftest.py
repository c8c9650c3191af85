# SPDX-License-Identifier: Apache-2.0
"""The console of an event, without operators and with them."""

from __future__ import annotations

import pytest

from tests.support.doors import Door
from tests.support.events import desk_event
from tests.support.fakes import FakeClock


@pytest.fixture
def empty(tmp_path):
    """Return the console of an event of two teams, without operators."""
    clock = FakeClock()
    with desk_event(tmp_path, clock) as event:
        event.register("ants", "bees")
        event.clock = clock
        yield Door(event)


@pytest.fixture
def door(empty):
    """Return that console with an operator 'Kim' and an assistant 'Sam'."""
    empty.register("Kim", "operator")
    empty.register("Sam", "assistant")
    return empty
