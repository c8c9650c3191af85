# SPDX-License-Identifier: Apache-2.0
"""An answer's moment decides what becomes of it, to either side of every edge."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from referee.core.instant import Instant
from referee.core.states import EndCause, SessionFacts
from referee.core.window import LATE_S, Arrival, arrival_of

START = Instant(1000.0, datetime(2026, 6, 7, 12, tzinfo=UTC), "boot")
IN_TIME, LATE, REFUSED = Arrival.IN_TIME, Arrival.LATE, Arrival.REFUSED


def at(seconds: float) -> Instant:
    """Return the instant so many seconds after the start."""
    return Instant(START.monotonic_s + seconds, START.utc, START.boot_id)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-0.001, REFUSED),
        (0.0, IN_TIME),
        (599.999, IN_TIME),
        (600.0, LATE),
        (600.0 + LATE_S, LATE),
        (600.001 + LATE_S, REFUSED),
    ],
)
def test_the_deadline_is_half_open(seconds: float, expected: Arrival) -> None:
    """In time up to the deadline and not at it; late for a minute; then refused."""
    assert expected is arrival_of(SessionFacts(600.0, started=START), at(seconds))


@pytest.mark.parametrize(("seconds", "expected"), [(99.999, IN_TIME), (100.0, LATE), (659, LATE)])
def test_an_early_end_is_an_end(seconds: float, expected: Arrival) -> None:
    """After a logout answers are late, until a minute after the deadline."""
    facts = SessionFacts(600.0, started=START, ended=at(100), end_cause=EndCause.LOGOUT)
    assert expected is arrival_of(facts, at(seconds))


def test_a_session_that_takes_nothing() -> None:
    """One that has not started, and one that is void."""
    assert REFUSED is arrival_of(SessionFacts(600.0), at(1))
    assert REFUSED is arrival_of(SessionFacts(600.0, started=START, voided=at(50)), at(1))
