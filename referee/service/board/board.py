# SPDX-License-Identifier: Apache-2.0
"""What the operators' console shows: one object that says what is happening and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from power.meter import Reading
from referee.core.instant import Instant, seconds_between
from referee.core.states import SessionState, elapsed_s, state_of
from referee.errors import RefereeError
from referee.scoring.lpirc import score
from referee.service.board.wording import (
    alarm_of,
    meter_flags_text,
    meter_word,
    session_text,
    verdict_text,
)
from referee.service.desk.metering import LinkState, MeterStatus
from referee.service.desk.settling import LINK_PATIENCE_S
from referee.service.entry.status import status_of
from referee.service.entry.teams import PRACTICE_PASSWORD, registered_teams
from referee.service.preflight.addresses import contestants_urls
from referee.service.results.flag_counts import FlagCounts
from referee.service.setup.contest import Contest
from referee.store.notices import Notice, recent_notices
from referee.store.readings import energy_of, newest_reading
from referee.store.scores import newest_scoring_run, newest_snapshot
from referee.store.session_meters import session_meter_of
from referee.store.sessions import SessionRecord, all_sessions, load_session
from referee.store.watching import recent_power

_SESSIONS_SHOWN = 50
_LIVE = (SessionState.ARMED, SessionState.RUNNING)
# A reading is old after this many update intervals, and not before this many seconds: an alarm
# that comes and goes is not believed.
_OLD_INTERVALS = 3
_OLD_LEAST_S = 2.0
# A session that ran for fewer update intervals of the meter than this has no exact energy: one
# interval more or less is a tenth of it.
_EXACT_INTERVALS = 10
# The chart's window of 300 s at the shortest update interval of 0.1 s.
_SAMPLES_SHOWN = 3000


class Board:
    """Compute what the pages show; it may be asked from any thread.

    `meter_status` returns the newest status of the meter; `contest_address` is where the contest
    server really listens, where that is not what the configuration says.
    """

    def __init__(
        self,
        contest: Contest,
        meter_status: Callable[[], MeterStatus],
        contest_address: str | None = None,
    ) -> None:
        self._contest = contest
        self._contest_address = contest_address or contest.config.server.contest
        self._meter_status = meter_status
        self._flag_counts = FlagCounts(contest)
        # The link's status forgets its reading when the link is lost; people still want to know
        # what it was, and when.
        self._last_reading: Reading | None = None

    def show(self) -> dict[str, Any]:
        """Return the whole board, ready for JSON.

        `current` is the session that is armed or running, else the newest one; None before the
        first. `next` is the session that was made first of those that are READY. `alarm` is what
        the red bar says, None while nothing is wrong. Sessions and meter bring their own texts
        (`referee.service.board.wording`).
        """
        contest = self._contest
        now = contest.clock.now()
        sessions = all_sessions(contest.database.connection, _SESSIONS_SHOWN)
        current = next((s for s in sessions if state_of(s.facts, now) in _LIVE), None)
        if current is None and sessions:
            current = sessions[0]
        settings = contest.config.contest
        meter = self._meter(current, now)
        rows = [_row(contest, session, now) for session in sessions]
        ready = [row for row in reversed(rows) if row["state"] == SessionState.READY.value]
        notices = [
            _notice(notice, sessions, now) for notice in recent_notices(contest.database.connection)
        ]
        return {
            "contest": settings.name,
            "mode": settings.mode,
            "seconds": settings.seconds,
            "images": contest.image_count,
            "classes": len(contest.classes),
            "utc": now.utc.isoformat(),
            "contestants": self._contestants(),
            **self._teams(),
            "meter": meter,
            "alarm": alarm_of(meter, rows, notices, now.utc),
            "current": None if current is None else self._session(current, now, meter),
            "next": next(({"id": r["id"], "team": r["team"]} for r in ready), None),
            "sessions": rows,
            "notices": notices,
        }

    def session(self, session_id: int) -> dict[str, Any]:
        """Return one session as `current` has it; raises `Refusal` for an unknown number."""
        now = self._contest.clock.now()
        session = load_session(self._contest.database.connection, session_id)
        return self._session(session, now, self._meter(session, now))

    def power(self, session_id: int, after: int = 0) -> list[list[float | int | None]]:
        """Return the session's newest readings above the number `after`: [number, second, watts].

        The second is that of the session; watts are None where the meter had no number.
        """
        connection = self._contest.database.connection
        return [
            [sample.reading_id, round(sample.elapsed_s, 3), sample.power_w]
            for sample in recent_power(connection, session_id, after, _SAMPLES_SHOWN)
        ]

    def contestants_urls(self) -> list[str]:
        """Return where contestants connect; empty while the machine is on no network."""
        return contestants_urls(self._contest_address)

    def _contestants(self) -> dict[str, Any]:
        practice = self._contest.config.contest.mode == "practice"
        return {
            "urls": self.contestants_urls(),
            "password": PRACTICE_PASSWORD if practice else None,
        }

    def _teams(self) -> dict[str, Any]:
        """Return the registered teams, or the text of what keeps them from being read."""
        if self._contest.config.contest.mode == "practice":
            return {"teams": [], "teams_text": None}
        try:
            names = sorted(registered_teams(self._contest.config.teams))
        except (RefereeError, OSError) as error:
            return {"teams": [], "teams_text": str(error)}
        return {"teams": names, "teams_text": None}

    def _meter(self, current: SessionRecord | None, now: Instant) -> dict[str, Any]:
        status = self._meter_status()
        if status.reading is not None:
            self._last_reading = status.reading
        reading = self._last_reading
        age_s = None if reading is None else now.monotonic_s - reading.monotonic_s
        if reading is None and current is not None:
            # A desk that was started anew while the meter is lost knows what was stored.
            reading = newest_reading(self._contest.database.connection, current.session_id)
            age_s = None if reading is None else (now.utc - reading.utc).total_seconds()
        interval_s = self._contest.config.meter.update_interval_s
        late = age_s is not None and age_s > max(_OLD_INTERVALS * interval_s, _OLD_LEAST_S)
        old = status.link is not LinkState.NONE and (status.link is LinkState.LOST or late)
        identity = status.identity
        shown = None if reading is None else _reading(reading)
        return {
            "link": status.link.value,
            "word": meter_word(status.link.value, old),
            "text": status.text,
            "emulated": self._contest.config.meter.resource == "emulated",
            "model": None if identity is None else f"{identity.model} {identity.serial}",
            "update_interval_s": interval_s,
            "reading": None if shown is None else shown | {"age_s": age_s},
            "flags_text": meter_flags_text(shown),
            "old": old,
        }

    def _session(
        self, session: SessionRecord, now: Instant, meter: dict[str, Any]
    ) -> dict[str, Any]:
        contest = self._contest
        status = status_of(contest, session)
        row = _row(contest, session, now)
        measured_by = session_meter_of(contest.database.connection, session.session_id)
        shown = (
            row
            | self._figures(session, row, meter["old"])
            | {
                "emulated": meter["emulated"] if measured_by is None else measured_by.emulated,
                "length_s": session.facts.length_s,
                "remaining_s": status.remaining_s,
                "elapsed_s": elapsed_s(session.facts, now),
                "settling_left_s": _settling_left_s(session, row, now),
                "images": contest.image_count,
                "images_fetched": status.images_fetched,
                "answers": status.answers,
                "detections": status.detections,
                "late_answers": status.late_answers,
                "flagged": status.flagged,
                "flag_counts": self._flag_counts.of(session.session_id) if status.flagged else {},
            }
        )
        return shown | {
            "text": session_text(shown, meter),
            "verdict_text": verdict_text(shown),
        }

    def _figures(
        self, session: SessionRecord, row: dict[str, Any], meter_old: bool
    ) -> dict[str, Any]:
        """Return the figures so far where the final ones are not known yet.

        `energy_utc` is when an energy so far was read. There is no score of an energy that stands
        still while answers go on.
        """
        connection = self._contest.database.connection
        mean_ap, energy_wh, points = row["mean_ap"], row["energy_wh"], row["score"]
        energy_utc = None
        if mean_ap is None:
            snapshot = newest_snapshot(connection, session.session_id)
            mean_ap = None if snapshot is None else snapshot.mean_ap
        if row["verdict"] is None:
            reading = newest_reading(connection, session.session_id)
            if reading is not None:
                energy_wh, energy_utc = reading.energy_wh, reading.utc.isoformat()
            points = None if meter_old else score(mean_ap, energy_wh)
        return {
            "mean_ap": mean_ap,
            "energy_wh": energy_wh,
            "energy_utc": energy_utc,
            "score": points,
            "final": row["verdict"] is not None and row["mean_ap"] is not None,
        }


def _settling_left_s(session: SessionRecord, row: dict[str, Any], now: Instant) -> float | None:
    """Return for how long a lost meter is still waited for; None when it is not."""
    if row["state"] != SessionState.ENDED.value or row["verdict"] is not None:
        return None
    ended = session.facts.ended
    over_s = 0.0 if ended is None else seconds_between(ended, now)
    return max(0.0, LINK_PATIENCE_S - over_s)


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "utc": reading.utc.isoformat(),
        "voltage_v": reading.voltage_v,
        "current_a": reading.current_a,
        "power_w": reading.power_w,
        "energy_wh": reading.energy_wh,
        "integration_s": reading.integration_s,
        "state": reading.state.value,
        "absent": dict(reading.absent),
        "flags": sorted(flag.value for flag in reading.flags),
    }


def _notice(notice: Notice, sessions: Sequence[SessionRecord], now: Instant) -> dict[str, Any]:
    """Return a notice with the session it fell into, and the second of that session."""
    at = datetime.fromisoformat(notice.utc)
    session_id, second = notice.session_id, None
    for session in sessions:
        started, ended = session.facts.started, session.facts.ended
        if started is None or session_id not in (None, session.session_id):
            continue
        if session_id is not None or started.utc <= at <= (ended or now).utc:
            session_id, second = session.session_id, (at - started.utc).total_seconds()
            break
    return {
        "id": notice.notice_id,
        "session": session_id,
        "at_s": second,
        "utc": notice.utc,
        "level": notice.level,
        "text": notice.text,
    }


def _row(contest: Contest, session: SessionRecord, now: Instant) -> dict[str, Any]:
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    facts = session.facts
    ran_s = None if facts.started is None else seconds_between(facts.started, facts.ended or now)
    exact_s = _EXACT_INTERVALS * contest.config.meter.update_interval_s
    return {
        "id": session.session_id,
        "team": session.team,
        "state": state_of(facts, now).value,
        "end_cause": None if facts.end_cause is None else facts.end_cause.value,
        "void_reason": session.void_reason,
        "mean_ap": None if run is None else run.mean_ap,
        "score": None if run is None else run.score,
        "energy_wh": None if energy is None else energy.energy_wh,
        "uncertainty_wh": None if energy is None else energy.uncertainty_wh,
        "ran_s": ran_s,
        "too_short": ran_s is not None and ran_s < exact_s,
        "verdict": None if energy is None else energy.verdict,
        "reasons": [] if energy is None else list(energy.detail["reasons"]),
    }
