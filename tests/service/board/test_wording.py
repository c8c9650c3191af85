# SPDX-License-Identifier: Apache-2.0
"""The console's sentences: they agree, and none gives advice that destroys an energy."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime, timedelta

import pytest

from referee.core.states import SessionState
from referee.service.board.shown import AlarmText, SessionCard, ShownMeter, ShownNotice
from referee.service.board.wording import (
    alarm_of,
    meter_flags_text,
    meter_word,
    session_text,
    verdict_text,
)
from referee.service.display.facts import DisplayFacts
from tests.support.shown import shown_card as session
from tests.support.shown import shown_meter as meter
from tests.support.shown import shown_notice, shown_reading

NOW = datetime(2026, 6, 7, 12, tzinfo=UTC)
STATES = [state.value for state in SessionState]
LINKS = ["none", "connecting", "ok", "lost"]
DESTROYS = re.compile(r"\boff and on\b|\bRESET\b(?! INVALID)|cut off", re.IGNORECASE)


def notice(level: str, text: str, age_s: float = 0.0) -> ShownNotice:
    """Return a notice as the board describes it."""
    return shown_notice(level, text, (NOW - timedelta(seconds=age_s)).isoformat())


def display(fault: str) -> DisplayFacts:
    """Return the display of lane 1."""
    screen = {"width": None, "height": None, "refresh_hz": None, "round_trip_ms": None}
    return DisplayFacts(
        page="/display", connected=not fault, fault=fault, card=False, text=fault, **screen
    )


@pytest.mark.parametrize("state", ["ARMED", "RUNNING"])
def test_a_lost_display_leaves_something_to_do(state: str) -> None:
    """While the bar says that the display is lost, the session's line does not deny it."""
    lost, shows = display("No display page is open."), display("")
    text = session_text(session(state), meter(), lost)
    assert "the display cannot show its images" in text
    assert "nothing to do" not in text
    for fine in (shows, None):
        assert session_text(session(state), meter()) == session_text(session(state), meter(), fine)
    for other in {*STATES} - {"ARMED", "RUNNING"}:
        assert session_text(session(other), meter()) == session_text(session(other), meter(), lost)


def alarm_text(meter_now: ShownMeter, *sessions: SessionCard) -> str:
    """Return the red bar's sentence, or '' without one."""
    alarm = alarm_of(meter_now, sessions, [], NOW)
    return "" if alarm is None else alarm.text


# The red bar


def test_a_device_that_the_meter_does_not_see_is_an_alarm() -> None:
    """While the session runs the bar says where to look, and its line does not deny it."""
    unmeasured = meter(unmeasured=True)
    assert "session 3 draws about 0 W" in alarm_text(unmeasured, session("RUNNING"))
    assert "draws about 0 W" in session_text(session("RUNNING"), unmeasured)
    for state in {*STATES} - {"RUNNING"}:
        assert "" == alarm_text(unmeasured, session(state))
    assert "is lost" in alarm_text(meter("lost", old=True, unmeasured=True), session("RUNNING"))


@pytest.mark.parametrize("link", ["ok", "lost"])
@pytest.mark.parametrize("needs", [session("RUNNING"), session("ENDED")], ids=["running", "ended"])
@pytest.mark.parametrize("restarts", [False, True])
def test_nothing_that_destroys_is_advised(link: str, needs: SessionCard, restarts: bool) -> None:
    """No line advises a reset or a power switch while a session needs the meter."""
    lost = meter(link, old=True, restarts=restarts)
    for others in ([], [session("READY")], [session("SCORED"), session("VOID")]):
        lines = [alarm_text(lost, needs, *others), session_text(needs, lost)]
        assert [] == [line for line in lines if DESTROYS.search(line)]
        assert lines[0]


def test_running_session_without_its_meter() -> None:
    """The bar says what happens, what to do, and what to leave alone."""
    text = alarm_text(meter("lost", old=True), session("RUNNING"))
    assert text.startswith("The power meter is lost, but the session goes on.")
    assert "Put its cable back. Do not press its keys, and do not cut its power." in text


def test_running_session_without_samples() -> None:
    """Where the referee integrates, the bar does not say that the meter keeps the energy."""
    text = alarm_text(meter("ok", old=True, other_kind=True), session("RUNNING"))
    assert text.startswith("The power meter sends no readings, but the session goes on.")
    assert "Nothing counts the energy meanwhile" in text
    assert "keeps the energy" not in text


def test_energy_that_is_not_read_yet() -> None:
    """The bar names the session whose energy is still in the meter."""
    text = alarm_text(meter("lost", old=True), session("READY"), session("ENDED"))
    assert "The final energy of session 3 is not read yet." in text
    assert "Put its cable back." in text


@pytest.mark.parametrize(
    ("rows", "then"),
    [
        ([], "no session can begin"),
        ([session("READY"), session("SCORED")], "no session can begin"),
        ([session("ARMED")], "the team cannot log in"),
        ([session("ENDED", verdict="INVALID")], "no session can begin"),
    ],
)
def test_meter_that_nobody_needs_yet(rows: list[SessionCard], then: str) -> None:
    """The bar gives every remedy where no energy is at stake."""
    text = alarm_text(meter("lost", old=True), *rows)
    assert text.startswith(f"The power meter is lost: {then} until it answers.")
    assert "switch it off and on" in text


def test_meter_that_answers_with_nothing_new() -> None:
    """The bar and the meter's line say that a link without readings is silent."""
    silent = meter("ok", old=True)
    assert "silent" == meter_word(silent.link, silent.old)
    assert alarm_text(silent).startswith("The power meter sends no readings")


@pytest.mark.parametrize("link", LINKS)
def test_bar_and_meter_line_agree(link: str) -> None:
    """Old readings alone raise the meter's alarm; otherwise its line shows the link."""
    assert "" == alarm_text(meter(link), session("RUNNING"))
    assert link == meter_word(link, False)


@pytest.mark.parametrize(
    ("state", "age_s", "lost"),
    [
        ("START", 0.0, False),
        ("TIMEUP", 0.0, False),
        ("RESET", 0.0, True),
        ("STOP", 0.0, True),
        ("ERROR", 0.0, True),
        # A reading from before the start says nothing about this session.
        ("RESET", 9.5, False),
        ("RESET", 11.0, False),
    ],
)
def test_meter_that_integrates_no_more(state: str, age_s: float, lost: bool) -> None:
    """A meter that was reset in a session is an alarm, and the session's line says the same."""
    running = session("RUNNING", ran_s=10.0)
    now = meter(reading=shown_reading(state=state, age_s=age_s))
    bar, line = alarm_text(now, running), session_text(running, now)
    assert lost == bar.startswith("The meter no longer integrates for session 3")
    assert lost == ("does not integrate" in line)
    assert "" == alarm_text(now, session("SCORED"))


def test_emulated_meter_has_no_cable() -> None:
    """For an emulated meter of the referee's own the bar says who starts it again."""
    for rows in ([session("RUNNING")], [session("ENDED")], []):
        text = alarm_text(meter("lost", old=True, restarts=True), *rows)
        assert "emulated" in text
        assert "cable" not in text


def test_notice_in_the_bar() -> None:
    """The newest notice stays in the bar for two minutes if it is an alarm; a lost meter wins."""
    alarm, info = notice("alarm", "The scorer was killed."), notice("info", "It runs again.")
    shown = alarm_of(meter(), [], [alarm], NOW)
    assert AlarmText(text="The scorer was killed.") == shown
    assert alarm_of(meter(), [], [info, alarm], NOW) is None
    assert alarm_of(meter(), [], [notice("alarm", "x", 119.9)], NOW) is not None
    assert alarm_of(meter(), [], [notice("alarm", "x", 120.0)], NOW) is None
    lost = alarm_of(meter("lost", old=True), [], [alarm], NOW)
    assert lost is not None
    assert ("The power meter is lost", "No answer.") == (lost.text[:23], lost.detail)


# A session's own line


@pytest.mark.parametrize("state", ["READY", "ARMED", "RUNNING"])
def test_session_and_bar_agree_about_a_lost_meter(state: str) -> None:
    """A session's line promises nothing that the red bar denies."""
    lost = meter("lost", old=True)
    text = session_text(session(state), lost)
    assert text != session_text(session(state), meter())
    assert "nothing to do" not in text and "prepared" not in text
    bar = alarm_text(lost, session(state))
    assert ("when the power meter answers" in text) == ("until it answers" in bar)


@pytest.mark.parametrize(
    ("state", "link", "text"),
    [
        ("READY", "ok", "Arm it when the team stands at the table."),
        ("ARMED", "ok", "The meter is prepared; the clock starts when the team logs in."),
        ("ARMED", "none", "The clock starts when the team logs in."),
        ("RUNNING", "ok", "The clock and the meter run. There is nothing to do."),
        ("RUNNING", "none", "The clock runs. There is no meter."),
        ("ENDED", "ok", "Its time was over. The final energy is being read from the meter."),
        ("SCORED", "ok", "Its time was over. The score is computed."),
        ("SEALED", "ok", "Its time was over. Sealed: the result cannot change."),
        ("VOID", "ok", "Void: wrong device"),
    ],
)
def test_line_of_each_state(state: str, link: str, text: str) -> None:
    """Every state has a line that says what happened or what to do."""
    assert text == session_text(session(state), meter(link))


def test_ended_session_waits_for_a_lost_meter() -> None:
    """The line says how long it waits, what follows, and what is impossible meanwhile."""
    text = session_text(session("ENDED", settling_left_s=65.9), meter("lost", old=True))
    assert "waits 1:05 more" in text
    assert "without it the energy is INVALID" in text
    assert "no other session can begin" in text


def test_session_that_was_too_short() -> None:
    """The line says how long the session ran, and what that means for its figures."""
    short = session("SCORED", end_cause="logout", ran_s=0.21, too_short=True)
    expected = (
        "The team logged out. It ran 0.2 s. That is too short for an exact energy or score. "
        "The score is computed."
    )
    assert expected == session_text(short, meter())


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("cause", [None, "deadline", "logout", "stop"])
@pytest.mark.parametrize("verdict", [None, "VALID", "SUSPECT", "INVALID"])
def test_every_session_has_a_line(state: str, cause: str | None, verdict: str | None) -> None:
    """Every combination of facts has its sentence."""
    shown = session(state, end_cause=cause, verdict=verdict)
    for link, old in itertools.product(LINKS, [False, True]):
        assert session_text(shown, meter(link, old=old)).strip()
    assert (verdict is None) == (verdict_text(shown) == "")


def test_verdict_of_a_void_session_counts_for_nothing() -> None:
    """A void session keeps its verdict, and the page says that it does not count."""
    assert "counts for nothing" in verdict_text(session("VOID", verdict="VALID"))
    assert "The energy is valid." == verdict_text(session("SCORED"))


def test_remarks_of_the_meter() -> None:
    """Flags and absent numbers become words; a flag without words stands as it is."""
    reading = shown_reading(flags=["over_range", "odd_one"], absent={"power_w": "over range"})
    assert "over range; odd_one; no power_w: over range" == meter_flags_text(reading)
    assert "" == meter_flags_text(None) == meter_flags_text(shown_reading())
