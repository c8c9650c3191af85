# SPDX-License-Identifier: Apache-2.0
"""A session's state follows from facts and `now`; the window is half-open."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.instant import Instant, seconds_between
from referee.core.states import (
    LATE_S,
    Arrival,
    EndCause,
    SessionEvent,
    SessionFacts,
    SessionState,
    accepts,
    arrival_of,
    elapsed_s,
    end_to_record,
    remaining_s,
    require,
    state_of,
)
from referee.errors import Refusal

MS = 0.001
START_S = 5000.0
LENGTH_S = 600.0
NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)


def at(seconds: float, boot_id: str = "this boot") -> Instant:
    """Return the instant this many seconds after the session's start."""
    return Instant(START_S + seconds, NOON + timedelta(seconds=seconds), boot_id)


READY = SessionFacts(LENGTH_S)
ARMED = replace(READY, armed=at(-60))
RUNNING = replace(ARMED, started=at(0))
LOGGED_OUT = replace(RUNNING, ended=at(100), end_cause=EndCause.LOGOUT)
STOPPED = replace(RUNNING, ended=at(100), end_cause=EndCause.STOP)
AT_DEADLINE = replace(RUNNING, ended=at(LENGTH_S), end_cause=EndCause.DEADLINE)
SCORED = replace(LOGGED_OUT, scored=at(110))
SEALED = replace(SCORED, sealed=at(120))
VOID = replace(RUNNING, voided=at(50))


@pytest.mark.parametrize(
    ("facts", "seconds", "expected"),
    [
        (READY, 0, False),
        (ARMED, 0, False),
        (RUNNING, -MS, False),
        (RUNNING, 0, True),
        (RUNNING, MS, True),
        (RUNNING, LENGTH_S - MS, True),
        (RUNNING, LENGTH_S, False),
        (RUNNING, LENGTH_S + MS, False),
        (LOGGED_OUT, 100 - MS, True),
        (LOGGED_OUT, 100, False),
        (LOGGED_OUT, 100 + MS, False),
        (STOPPED, 100 - MS, True),
        (STOPPED, 100, False),
        (AT_DEADLINE, LENGTH_S - MS, True),
        (AT_DEADLINE, LENGTH_S, False),
        (SCORED, 100 - MS, True),
        (SCORED, 100, False),
        (VOID, 10, False),
        (VOID, 60, False),
    ],
)
def test_window_is_half_open(facts, seconds, expected):
    """The start belongs to the window; the deadline, the logout and the stop do not."""
    assert expected is accepts(facts, at(seconds))


@pytest.mark.parametrize(
    ("facts", "seconds", "expected"),
    [
        (READY, 0, SessionState.READY),
        (READY, 1e6, SessionState.READY),
        (ARMED, 0, SessionState.ARMED),
        (ARMED, 1e6, SessionState.ARMED),
        (RUNNING, 0, SessionState.RUNNING),
        (RUNNING, LENGTH_S - MS, SessionState.RUNNING),
        (RUNNING, LENGTH_S, SessionState.ENDED),
        (RUNNING, LENGTH_S + MS, SessionState.ENDED),
        (LOGGED_OUT, 100, SessionState.ENDED),
        (STOPPED, 100 + MS, SessionState.ENDED),
        (AT_DEADLINE, LENGTH_S, SessionState.ENDED),
        (SCORED, 130, SessionState.SCORED),
        (SEALED, 130, SessionState.SEALED),
        (VOID, 60, SessionState.VOID),
        (replace(READY, voided=at(0)), 0, SessionState.VOID),
        (replace(ARMED, voided=at(0)), 0, SessionState.VOID),
        (replace(SCORED, voided=at(115)), 130, SessionState.VOID),
    ],
)
def test_state_follows_from_facts(facts, seconds, expected):
    """A session ends by its deadline alone, without a timer."""
    assert expected is state_of(facts, at(seconds))


@pytest.mark.parametrize(
    ("facts", "seconds", "expected"),
    [
        (READY, 50, LENGTH_S),
        (ARMED, 50, LENGTH_S),
        (RUNNING, 0, LENGTH_S),
        (RUNNING, 599, 1.0),
        (RUNNING, LENGTH_S, 0.0),
        (RUNNING, 700, 0.0),
        (LOGGED_OUT, 99, 501.0),
        (LOGGED_OUT, 100, 0.0),
        (VOID, 60, 0.0),
    ],
)
def test_remaining_time(facts, seconds, expected):
    """The remaining time is the whole length before the start, and 0 after the end."""
    assert expected == remaining_s(facts, at(seconds))


def test_elapsed_time_goes_on_past_the_end():
    """Elapsed time goes on past the end, so a late answer has its second too."""
    assert elapsed_s(ARMED, at(5)) is None
    assert 700.0 == elapsed_s(LOGGED_OUT, at(700))


def test_deadline_survives_a_reboot():
    """After a reboot wall time places the deadline, and the monotonic clock does not count."""
    rebooted = replace(at(599), monotonic_s=3.0, boot_id="next boot")
    over = replace(at(600), monotonic_s=4.0, boot_id="next boot")
    assert SessionState.RUNNING is state_of(RUNNING, rebooted)
    assert SessionState.ENDED is state_of(RUNNING, over)
    assert accepts(RUNNING, rebooted)
    assert not accepts(RUNNING, over)


def test_wall_clock_jump_does_not_move_the_deadline():
    """Within one boot only the monotonic clock counts."""
    for jump in (-86400, 3600):
        jumped = replace(at(599), utc=NOON + timedelta(seconds=599 + jump))
        assert SessionState.RUNNING is state_of(RUNNING, jumped)
        assert 1.0 == remaining_s(RUNNING, jumped)


S, E = SessionState, SessionEvent

# The table of states from the design; every other pair is refused.
ALLOWED = {
    (S.READY, E.ARM): S.ARMED,
    (S.READY, E.ABORT): S.VOID,
    (S.READY, E.EXTEND): S.READY,
    (S.ARMED, E.ARM): S.ARMED,
    (S.ARMED, E.LOGIN): S.RUNNING,
    (S.ARMED, E.ABORT): S.VOID,
    (S.ARMED, E.EXTEND): S.ARMED,
    (S.RUNNING, E.LOGIN): S.RUNNING,
    (S.RUNNING, E.END): S.ENDED,
    (S.RUNNING, E.ABORT): S.VOID,
    (S.RUNNING, E.EXTEND): S.RUNNING,
    (S.ENDED, E.END): S.ENDED,
    (S.ENDED, E.ABORT): S.VOID,
    (S.ENDED, E.SCORE): S.SCORED,
    (S.SCORED, E.ABORT): S.VOID,
    (S.SCORED, E.SCORE): S.SCORED,
    (S.SCORED, E.SEAL): S.SEALED,
}


@pytest.mark.parametrize("event", list(SessionEvent), ids=lambda event: event.name)
@pytest.mark.parametrize("state", list(SessionState), ids=lambda state: state.name)
def test_every_state_and_event(state, event):
    """Each pair of state and event gives the table's state, or a refusal with advice."""
    expected = ALLOWED.get((state, event))
    if expected is not None:
        assert expected is require(state, event)
        return
    with pytest.raises(Refusal, match=state.value) as refused:
        require(state, event)
    assert "state_conflict" == refused.value.code
    assert str(refused.value).endswith(".")


def test_every_cause_of_an_end_is_stored_by_its_name():
    """The three causes have the names that the store allows."""
    assert {"deadline", "logout", "stop"} == {cause.value for cause in EndCause}


SECONDS = st.floats(-1000, 2000, allow_nan=False).map(lambda value: round(value, 6))


@given(now=SECONDS, end=st.none() | st.floats(0, 600).map(lambda value: round(value, 6)))
def test_state_remaining_and_acceptance_agree(now, end):
    """A started session is RUNNING exactly while it accepts, and then has time left."""
    facts = RUNNING if end is None else replace(RUNNING, ended=at(end), end_cause=EndCause.STOP)
    accepted = accepts(facts, at(now))
    assert accepted is (state_of(facts, at(now)) is SessionState.RUNNING)
    assert accepted is (remaining_s(facts, at(now)) > 0.0)
    if accepted:
        assert 0.0 <= seconds_between(at(0), at(now)) < LENGTH_S


@pytest.mark.parametrize(
    ("seconds", "recorded_s", "cause"),
    [
        (100, 100, EndCause.STOP),
        (LENGTH_S - MS, LENGTH_S - MS, EndCause.STOP),
        (LENGTH_S, LENGTH_S, EndCause.DEADLINE),
        (LENGTH_S + 60, LENGTH_S, EndCause.DEADLINE),
    ],
)
def test_an_end_after_the_deadline_is_the_deadline(seconds, recorded_s, cause):
    """A late stop does not lengthen a session, and the deadline itself is already late."""
    assert (at(recorded_s), cause) == end_to_record(RUNNING, at(seconds), EndCause.STOP)
    assert accepts(RUNNING, at(seconds)) == (cause is EndCause.STOP)


def test_an_end_by_a_clock_that_was_set_back_is_recorded_as_it_is():
    """After a reboot with a wrong wall clock, an end before the start is recorded as it is."""
    early = at(-3600, "the boot after")
    assert (early, EndCause.STOP) == end_to_record(RUNNING, early, EndCause.STOP)


IN_TIME, LATE, REFUSED = Arrival.IN_TIME, Arrival.LATE, Arrival.REFUSED


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
    """An answer is in time before the deadline, late for a minute, and then refused."""
    assert expected is arrival_of(RUNNING, at(seconds))


@pytest.mark.parametrize(("seconds", "expected"), [(99.999, IN_TIME), (100.0, LATE), (659, LATE)])
def test_an_early_end_is_an_end(seconds: float, expected: Arrival) -> None:
    """After a logout answers are late until a minute after the deadline."""
    assert expected is arrival_of(LOGGED_OUT, at(seconds))


def test_a_session_that_takes_nothing() -> None:
    """A session that has not started or is void takes no answer."""
    assert REFUSED is arrival_of(READY, at(1))
    assert REFUSED is arrival_of(VOID, at(1))
