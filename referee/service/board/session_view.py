# SPDX-License-Identifier: Apache-2.0
"""The console's view of a session: its row in the list, and its big card."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict, replace

from power.emulated import is_emulated
from referee.core.instant import Instant, seconds_between
from referee.core.marks import energy_marks
from referee.core.states import EndCause, SessionState, elapsed_s, ran_s, state_of
from referee.service.board.shown import SessionCard, SessionRow, ShownMeter, ShownNote
from referee.service.board.wording import session_text, verdict_text
from referee.service.desk.settling import LINK_PATIENCE_S
from referee.service.display.facts import DisplayFacts
from referee.service.entry.status import status_of
from referee.service.evidence.slip import slip_of
from referee.service.results.flag_counts import FlagCounts
from referee.service.results.interval_text import interval_lines
from referee.service.results.score_text import is_about, score_text, text_of_run
from referee.service.setup.contest import Contest
from referee.store.annotations import annotations_of
from referee.store.readings import EnergyRecord, energy_of, newest_reading, session_meter_of
from referee.store.scores import newest_scoring_run, newest_snapshot
from referee.store.session_clients import clients_of_session
from referee.store.sessions import SessionRecord
from referee.store.watching import recent_traffic

# A session that ends early after fewer update intervals than this has no exact energy: one interval
# is then more than a tenth of it.
_EXACT_INTERVALS = 10


# The rates of a running session are those of its last ten seconds.
_RATE_S, _RATE_FROM_S = 10.0, 1.0
_OVER = (SessionState.ENDED, SessionState.SCORED, SessionState.SEALED)


def session_row(contest: Contest, session: SessionRecord, now: Instant) -> SessionRow:
    """Return a session's row in the list."""
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    meter = session_meter_of(connection, session.session_id)
    facts = session.facts
    time_run_s = ran_s(facts, now)
    configured = contest.config.lane(session.lane).meter
    exact_s = _EXACT_INTERVALS * configured.update_interval_s
    # At the deadline the meter's own timer ends the integration exactly.
    in_full = facts.end_cause is EndCause.DEADLINE
    state = state_of(facts, now)
    annotations = annotations_of(connection, session.session_id)
    seen = next(
        (annotation.operator for annotation in annotations if annotation.kind == "seen"), None
    )
    rehearsals = [
        annotation for annotation in annotations if annotation.kind in ("rehearsal", "counts")
    ]
    event = contest.config.contest.mode == "event"
    return SessionRow(
        id=session.session_id,
        lane=session.lane,
        team=session.team,
        state=state.value,
        end_cause=None if facts.end_cause is None else facts.end_cause.value,
        void_reason=session.void_reason,
        emulated=is_emulated(configured.resource, None) if meter is None else meter.emulated,
        mean_ap=None if run is None else run.accuracy,
        score=None if run is None else run.score,
        score_text=(text := text_of_run(run, contest.track)),
        score_about=is_about(text),
        energy_wh=None if energy is None else energy.energy_wh,
        uncertainty_wh=None if energy is None else energy.uncertainty_wh,
        ran_s=time_run_s,
        too_short=time_run_s is not None and time_run_s < exact_s and not in_full,
        verdict=None if energy is None else energy.verdict,
        marks=[] if energy is None else _marks(energy),
        reasons=[] if energy is None else energy.reasons,
        seen=seen,
        unseen=event and seen is None and state in _OVER,
        rehearsal=bool(rehearsals) and rehearsals[-1].kind == "rehearsal",
        notes=[
            ShownNote(text=annotation.text, operator=annotation.operator, utc=annotation.utc)
            for annotation in annotations
            if annotation.kind == "note"
        ],
    )


def _marks(energy: EnergyRecord) -> list[str]:
    return energy_marks(energy.verdict, emulated=energy.emulated)


def session_card(
    contest: Contest,
    flag_counts: FlagCounts,
    session: SessionRecord,
    now: Instant,
    meter: ShownMeter,
    display: DisplayFacts | None,
) -> SessionCard:
    """Return a session's big card.

    `meter` and `display` are the board's views of these; a track without a display has None.
    """
    row = session_row(contest, session, now)
    passed_s = elapsed_s(session.facts, now)
    since_s = max(0.0, (passed_s or 0.0) - _RATE_S)
    connection = contest.database.connection
    traffic = recent_traffic(connection, session.session_id, since_s)
    last_s = traffic.last_request_s
    status = status_of(contest, session)
    card = SessionCard(
        **(asdict(row) | asdict(_figures(contest, session, row, meter.old))),
        length_s=session.facts.length_s,
        remaining_s=status.remaining_s,
        elapsed_s=passed_s,
        images_a_second=_rate(traffic.images, traffic.images_since_s, passed_s),
        answers_a_second=_rate(traffic.answers, traffic.answers_since_s, passed_s),
        request_age_s=None if passed_s is None or last_s is None else passed_s - last_s,
        settling_left_s=_settling_left_s(session, row, now),
        images=contest.image_count,
        images_fetched=status.images_fetched,
        answers=status.answers,
        detections=status.detections,
        late_answers=status.late_answers,
        flagged=status.flagged,
        flag_counts=flag_counts.of(session.session_id) if status.flagged else {},
        intervals=_intervals(contest, session, row),
        slip=slip_of(connection, session.session_id),
        clients=clients_of_session(connection, session.session_id),
    )
    return replace(card, text=session_text(card, meter, display), verdict_text=verdict_text(card))


def _rate(count: int, since_s: float, passed_s: float | None) -> float | None:
    """Return a number of things a second, None in a session's first second, which tells little."""
    if passed_s is None or passed_s < _RATE_FROM_S or passed_s <= since_s:
        return None
    return count / (passed_s - since_s)


class _Figures(Struct, frozen=True, kw_only=True):
    """The figures of a card that its row does not have, or only at the end."""

    mean_ap: float | None
    energy_wh: float | None
    energy_utc: str | None
    score: float | None
    score_text: str
    final: bool


def _figures(
    contest: Contest, session: SessionRecord, row: SessionRow, meter_old: bool
) -> _Figures:
    """Return the final figures, or the figures so far.

    There is no score so far while the meter's readings are old: the energy would stand still while
    answers go on.
    """
    connection = contest.database.connection
    accuracy, energy_wh, points = row.mean_ap, row.energy_wh, row.score
    energy_utc = None
    if accuracy is None:
        snapshot = newest_snapshot(connection, session.session_id)
        accuracy = None if snapshot is None else snapshot.accuracy
    if row.verdict is None:
        reading = newest_reading(connection, session.session_id)
        if reading is not None:
            energy_wh, energy_utc = reading.energy_wh, reading.utc.isoformat()
        points = None if meter_old else contest.track.score_of(accuracy, energy_wh)
    return _Figures(
        mean_ap=accuracy,
        energy_wh=energy_wh,
        energy_utc=energy_utc,
        score=points,
        score_text=row.score_text if row.verdict is not None else score_text(points),
        final=row.verdict is not None and row.mean_ap is not None,
    )


def _intervals(contest: Contest, session: SessionRecord, row: SessionRow) -> list[str]:
    """Return the intervals of a final result, each as a text; a void session has none."""
    run = newest_scoring_run(contest.database.connection, session.session_id)
    if run is None or row.state == SessionState.VOID.value:
        return []
    return interval_lines(run.detail, contest.track)


def _settling_left_s(session: SessionRecord, row: SessionRow, now: Instant) -> float | None:
    """Return how much longer the desk waits for a lost meter; None if nothing is awaited."""
    if row.state != SessionState.ENDED.value or row.verdict is not None:
        return None
    ended = session.facts.ended
    over_s = 0.0 if ended is None else seconds_between(ended, now)
    return max(0.0, LINK_PATIENCE_S - over_s)
