# SPDX-License-Identifier: Apache-2.0
"""The console's view of a lane: its meter, its display, its sessions, and what is wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from power.emulated import is_emulated
from power.meter import NO_SAMPLE, Reading
from power.values import reading_to_json
from referee.core.instant import Instant, seconds_between
from referee.core.states import SessionState, state_of
from referee.service.board.addresses import contestants_urls
from referee.service.board.session_view import session_card
from referee.service.board.shown import (
    LaneOfBoard,
    NextSession,
    SessionCard,
    SessionRow,
    ShownMeter,
    ShownNotice,
    ShownReading,
)
from referee.service.board.wording import alarm_of, meter_flags_text, meter_word
from referee.service.desk.metering import LinkState, MeterStatus
from referee.service.display.display import Display
from referee.service.display.facts import DisplayFacts, display_facts
from referee.service.results.flag_counts import FlagCounts
from referee.service.results.unmeasured import is_unmeasured
from referee.service.setup.contest import Contest
from referee.service.setup.lane_config import MeterSection
from referee.store.readings import newest_reading
from referee.store.sessions import SessionRecord

_LIVE = (SessionState.ARMED, SessionState.RUNNING)
_OVER = (SessionState.ENDED, SessionState.SCORED, SessionState.SEALED)


class MeterView:
    """The meter's part of the board; it keeps the last reading when the link is lost."""

    def __init__(
        self, contest: Contest, status: Callable[[], MeterStatus], section: MeterSection
    ) -> None:
        self._contest = contest
        self._status = status
        self._section = section
        # The status drops its reading when the link is lost, but people still want to see it.
        self._last: Reading | None = None

    def show(self, current: SessionRecord | None, now: Instant) -> ShownMeter:
        """Return the meter as it is now."""
        status = self._status()
        reading, age_s = self._reading(status, current, now)
        late = age_s is not None and age_s > self._section.old_after_s
        lost = status.link is LinkState.LOST or _is_silent(status.reading)
        old = status.link is not LinkState.NONE and (lost or late)
        identity = status.identity
        shown = None
        if reading is not None and age_s is not None:
            shown = ShownReading(**reading_to_json(reading), age_s=age_s)
        return ShownMeter(
            link=status.link.value,
            word=meter_word(status.link.value, old),
            text=status.text,
            emulated=is_emulated(self._section.resource, identity),
            restarts=self._section.emulated,
            other_kind=self._section.other_kind,
            model=None if identity is None else f"{identity.model} {identity.serial}",
            update_interval_s=self._section.update_interval_s,
            reading=shown,
            flags_text=meter_flags_text(shown),
            old=old,
            unmeasured=not old and self._is_unmeasured(current, now),
        )

    def _is_unmeasured(self, current: SessionRecord | None, now: Instant) -> bool:
        if current is None or state_of(current.facts, now) is not SessionState.RUNNING:
            return False
        return is_unmeasured(self._contest.database.connection, current.session_id)

    def _reading(
        self, status: MeterStatus, current: SessionRecord | None, now: Instant
    ) -> tuple[Reading | None, float | None]:
        """Return the last reading and its age in seconds."""
        if status.reading is not None:
            self._last = status.reading
        if self._last is not None:
            return self._last, now.monotonic_s - self._last.monotonic_s
        if current is None:
            return None, None
        # A desk that restarted while the meter is lost has only the stored reading.
        stored = newest_reading(self._contest.database.connection, current.session_id)
        return stored, None if stored is None else (now.utc - stored.utc).total_seconds()


def _is_silent(reading: Reading | None) -> bool:
    """Tell whether a meter that the desk itself integrates gets no samples from its device."""
    return reading is not None and reading.absent.get("power_w", "").startswith(NO_SAMPLE)


@dataclass(frozen=True)
class ShownLane:
    """Where the board looks for the state of a lane.

    `meter_status` returns the newest status of its meter. `server_address` is the address on which
    its contest server really listens; by default the configured one. `display` is its screen, in a
    track that shows its images.
    """

    meter_status: Callable[[], MeterStatus]
    server_address: str | None = None
    display: Display | None = None


class LaneView:
    """A lane's part of the board; its methods may be called from any thread."""

    def __init__(
        self, contest: Contest, number: int, shown: ShownLane, flag_counts: FlagCounts
    ) -> None:
        section = contest.config.lane(number)
        self.number = number
        self.name = section.name
        self._contest = contest
        self._display = shown.display
        self._address = shown.server_address or section.contest
        self._meter = MeterView(contest, shown.meter_status, section.meter)
        self._flag_counts = flag_counts

    def show(
        self,
        sessions: Sequence[SessionRecord],
        rows: Sequence[SessionRow],
        unstored: Sequence[ShownNotice],
        stored: Sequence[ShownNotice],
        now: Instant,
    ) -> LaneOfBoard:
        """Return the lane as it is now.

        `sessions` and their `rows` are those of the contest, the newest first, and so are the
        notices. The big card is of the session that `shown_session` chooses.
        """
        of_lane = [session for session in sessions if session.lane == self.number]
        own_rows = [row for row in rows if row.lane == self.number]
        ready = [row for row in own_rows if row.state == SessionState.READY.value]
        shown = shown_session(of_lane, now)
        meter = self._meter.show(shown, now)
        display = self._display_facts()
        unstored = [notice for notice in unstored if self.concerns(notice, own_rows)]
        stored = [notice for notice in stored if self.concerns(notice, own_rows)]
        return LaneOfBoard(
            number=self.number,
            name=self.name,
            urls=self.urls(),
            meter=meter,
            display=display,
            current=None if shown is None else self._card(shown, now, meter, display),
            last=_last_over(of_lane, own_rows),
            unseen=[row for row in reversed(own_rows) if row.unseen],
            next=NextSession(id=ready[-1].id, team=ready[-1].team) if ready else None,
            alarm=alarm_of(meter, own_rows, stored, now.utc, unstored, display),
        )

    def session(self, session: SessionRecord, now: Instant) -> SessionCard:
        """Return a session of this lane in the form of `current`."""
        return self._card(session, now, self._meter.show(session, now), self._display_facts())

    def concerns(self, notice: ShownNotice, own_rows: Sequence[SessionRow]) -> bool:
        """Tell whether a notice belongs to this lane: a lane without a name has all of them."""
        if not self.name:
            return True
        if notice.session is not None:
            return notice.session in {row.id for row in own_rows}
        return notice.lane == self.name

    def urls(self) -> list[str]:
        """Return the URLs for contestants; the list is empty while the machine has no network."""
        return contestants_urls(self._address, self._contest.config.server.contest_scheme)

    def _card(
        self, session: SessionRecord, now: Instant, meter: ShownMeter, display: DisplayFacts | None
    ) -> SessionCard:
        return session_card(self._contest, self._flag_counts, session, now, meter, display)

    def _display_facts(self) -> DisplayFacts | None:
        return None if self._display is None else display_facts(self._display.status())


def _last_over(sessions: Sequence[SessionRecord], rows: Sequence[SessionRow]) -> SessionRow | None:
    """Return the row of the last session that has run and is over, void ones included."""
    over = [
        (session.facts.started.utc, row)
        for session, row in zip(sessions, rows, strict=True)
        if session.facts.started is not None and SessionState(row.state) not in _LIVE
    ]
    return max(over, key=lambda pair: pair[0], default=(None, None))[1]


def shown_session(sessions: Sequence[SessionRecord], now: Instant) -> SessionRecord | None:
    """Return the session for the big card; `sessions` are ordered with the newest first.

    The live session has priority. After its end its result stays on the card until the operator
    arms another session. Otherwise the card shows the oldest READY session, which is next in line,
    or else the newest session. None means that there is no session.
    """
    live = [one for one in sessions if state_of(one.facts, now) in _LIVE]
    if live:
        return live[0]
    over = [one for one in sessions if state_of(one.facts, now) in _OVER]
    last = max(over, key=_start_order, default=None)
    if last is not None and not any(_armed_after(one, last) for one in sessions):
        return last
    ready = [one for one in sessions if state_of(one.facts, now) is SessionState.READY]
    if ready:
        return ready[-1]
    return sessions[0] if sessions else None


def _start_order(session: SessionRecord) -> tuple[float, int]:
    started = session.facts.started
    return (0.0 if started is None else started.utc.timestamp(), session.session_id)


def _armed_after(session: SessionRecord, last: SessionRecord) -> bool:
    """Tell whether `session` was armed after the start of `last`.

    A lane has one live session at a time, so `session` was then armed after the end of `last`.
    """
    armed, started = session.facts.armed, last.facts.started
    if session is last or armed is None or started is None:
        return False
    return seconds_between(started, armed) > 0.0
