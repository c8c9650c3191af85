# SPDX-License-Identifier: Apache-2.0
"""The console's sentences: pure functions of the board's values.

The page shows these texts and adds none of its own about the meter or a session's state. So no two
lines of the page can contradict each other. While a session needs the meter, no text here advises
an action that would destroy the energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from referee.service.board.shown import (
    AlarmText,
    SessionCard,
    SessionRow,
    ShownMeter,
    ShownNotice,
    ShownReading,
)
from referee.service.display.facts import DisplayFacts

# An alarm stays in the red bar for this time, unless another notice follows it.
_ALARM_S = 120.0

_CAUSES = {
    "deadline": "Its time was over.",
    "logout": "The team logged out.",
    "stop": "It was stopped.",
}

_VERDICTS = {
    "VALID": "The energy is valid.",
    "SUSPECT": "The energy may be wrong. Decide by your rules. The reasons:",
    "INVALID": "The energy cannot be used. You can always run a new session. The reasons:",
}

_FLAGS = {
    "over_range": "over range",
    "voltage_peak_over": "voltage peak over range",
    "current_peak_over": "current peak over range",
    "auto_range": "automatic ranging is on",
    "range_switched": "the range was switched",
    "restarted": "the integration was started again",
}


def alarm_of(
    meter: ShownMeter,
    sessions: Sequence[SessionRow],
    notices: Sequence[ShownNotice],
    now: datetime,
    unstored: Sequence[ShownNotice] = (),
    display: DisplayFacts | None = None,
) -> AlarmText | None:
    """Return the texts of the red bar, or None while nothing is wrong.

    `text` is for everybody, `detail` for the person who looks after the meter. The first of these
    wins: a lost meter, a meter that no longer integrates, a device that draws nothing while it
    works, a display that cannot show the images of a session that is armed or runs, an alarm of
    any age that is not on the disk yet, the newest notice if it is a recent alarm.
    """
    if meter.old:
        what = "is lost" if meter.link == "lost" else "sends no readings"
        text = f"The power meter {what}{_what_now(meter, sessions)}"
        return AlarmText(text=text, detail=meter.text)
    for row in sessions:
        if _lost_its_energy(row, meter):
            return AlarmText(text=_LOST_ENERGY.format(row.id))
    if meter.unmeasured:
        running = [row for row in sessions if row.state == "RUNNING"]
        if running:
            return AlarmText(text=_UNMEASURED.format(running[0].id))
    if display is not None and display.fault:
        live = [row for row in sessions if row.state in ("ARMED", "RUNNING")]
        if live:
            text = _DISPLAY.format(live[0].id, display.page)
            return AlarmText(text=text, detail=display.fault)
    return newest_alarm(notices, now, unstored)


def newest_alarm(
    notices: Sequence[ShownNotice], now: datetime, unstored: Sequence[ShownNotice]
) -> AlarmText | None:
    """Return an alarm that is not on the disk yet, or the newest notice if it is a recent alarm."""
    for notice in unstored:
        if notice.level == "alarm":
            return AlarmText(text=notice.text)
    newest = notices[0] if notices else None
    if newest is None or newest.level != "alarm":
        return None
    age_s = (now - datetime.fromisoformat(newest.utc)).total_seconds()
    return AlarmText(text=newest.text) if age_s < _ALARM_S else None


def _what_now(meter: ShownMeter, sessions: Sequence[SessionRow]) -> str:
    """Say what continues without the meter, what to do, and what would destroy an energy."""
    states = {row.state for row in sessions}
    unread = next((row for row in sessions if _is_unread(row)), None)
    if "RUNNING" in states:
        return f", but the session goes on.{_keep(meter)}"
    if unread is not None:
        return f". The final energy of session {unread.id} is not read yet.{_keep(meter)}"
    then = "the team cannot log in" if "ARMED" in states else "no session can begin"
    return f": {then} until it answers.{_at_rest(meter)}"


def _keep(meter: ShownMeter) -> str:
    if meter.restarts:
        return _AGAIN
    if meter.other_kind:
        return _NOTHING_COUNTS
    return (
        " The meter continues on its own and keeps the energy. Put its cable back. Do not press "
        "its keys, and do not cut its power."
    )


def _at_rest(meter: ShownMeter) -> str:
    if meter.restarts:
        return _AGAIN
    return (
        " Check its cable and its power, and whether another program uses it. If that does not "
        "help, switch it off and on."
    )


_NOTHING_COUNTS = (
    " Nothing counts the energy meanwhile, because the referee integrates for this meter. Put its "
    "cable or its network back at once."
)

_AGAIN = " The meter is emulated. The referee restarts it automatically."


_LOST_ENERGY = (
    "The meter no longer integrates for session {}: somebody stopped, reset or restarted the "
    "meter. The session will have no valid energy. Stop the session, and give the team a new one."
)


_UNMEASURED = (
    "The device of session {} draws about 0 W while its requests arrive. Look where it is plugged "
    "in: it runs from a battery or a second cable, or a fuse of the meter is blown. The session "
    "will have no valid energy."
)


_DISPLAY = (
    "The display cannot show the images of session {}. Open the console's page "
    "{} on the second monitor, and let it fill the screen."
)


def _lost_its_energy(row: SessionRow, meter: ShownMeter) -> bool:
    """Tell whether a reading since the session's start shows that the meter does not integrate."""
    reading = meter.reading
    if row.state != "RUNNING" or reading is None or meter.old:
        return False
    since_start = reading["age_s"] < (row.ran_s or 0.0) - meter.update_interval_s
    return since_start and reading["state"] not in ("START", "TIMEUP")


def _is_unread(row: SessionRow) -> bool:
    return row.state == "ENDED" and row.verdict is None


def meter_word(link: str, old: bool) -> str:
    """Return the meter's condition in one word: the link's state, or `silent`."""
    return "silent" if link == "ok" and old else link


def meter_flags_text(reading: ShownReading | None) -> str:
    """Return the meter's remarks about its newest reading, or '' if it has none."""
    if reading is None:
        return ""
    remarks = [_FLAGS.get(flag, flag) for flag in reading["flags"]]
    remarks += [f"no {name}: {why}" for name, why in reading["absent"].items()]
    return "; ".join(remarks)


def session_text(
    session: SessionCard, meter: ShownMeter, display: DisplayFacts | None = None
) -> str:
    """Return a sentence about a session: what its state means, and what to do."""
    state = session.state
    if state == "VOID":
        return f"Void: {session.void_reason or 'no reason was given'}"
    if state in ("READY", "ARMED", "RUNNING"):
        if _lost_its_energy(session, meter):
            return "The clock runs, but the meter does not integrate."
        if state != "READY" and display is not None and display.fault:
            return f"{_LIVE[state]}, but the display cannot show its images."
        if state == "RUNNING" and meter.unmeasured:
            return "The clock and the meter run, but the device draws about 0 W."
        return _text_before_the_end(state, meter)
    said = [_CAUSES.get(session.end_cause or "", "")]
    if session.too_short:
        said.append(
            f"It ran {session.ran_s:.1f} s. That is too short for an exact energy or score."
        )
    if state == "ENDED":
        said.append(_text_of_settling(session, meter))
    elif state == "SEALED":
        said.append("Sealed: the result cannot change.")
    else:
        said.append("It has no score." if session.score is None else "The score is computed.")
    return " ".join(filter(None, said))


_LIVE = {"ARMED": "It is armed", "RUNNING": "The clock runs"}


def _text_before_the_end(state: str, meter: ShownMeter) -> str:
    none, old = meter.link == "none", meter.old
    if state == "READY":
        if old:
            return "It can be armed when the power meter answers."
        return "Arm it when the team stands at the table."
    if state == "ARMED":
        if old:
            return "The team can log in when the power meter answers."
        starts = "the clock starts when the team logs in."
        return starts.capitalize() if none else f"The meter is prepared; {starts}"
    if none:
        return "The clock runs. There is no meter."
    return "The clock runs." if old else "The clock and the meter run. There is nothing to do."


def _text_of_settling(session: SessionCard, meter: ShownMeter) -> str:
    if not _is_unread(session):
        return "The energy is read. The score is being computed."
    if not meter.old:
        return "The final energy is being read from the meter."
    minutes, seconds = divmod(int(session.settling_left_s or 0), 60)
    return (
        f"The final energy is not read yet. The referee waits {minutes}:{seconds:02} more for the "
        "meter; without it the energy is INVALID. Until then no other session can begin."
    )


def verdict_text(session: SessionCard) -> str:
    """Return the meaning of a session's verdict, or '' before there is a verdict."""
    if session.verdict is None:
        return ""
    if session.state == "VOID":
        return "The session is void, so this verdict counts for nothing."
    return _VERDICTS[session.verdict]
