# SPDX-License-Identifier: Apache-2.0
"""A whole session in fake time: answers, an emulated meter with its wire log, energy and score."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import parse_steps
from power.energy.conditions import conditions_to_json
from power.follow import read_result
from power.meter import MeterSettings
from power.transports.transport import LoggedTransport, WireLog
from power.wt310.driver import WT310
from referee.core.detections import Detections, pack
from referee.core.instant import Instant, shifted
from referee.service.evidence.bundle import write_bundle
from referee.service.results.final_score import score_session
from referee.service.results.session_energy import judge_session
from referee.service.setup.contest_truth import read_contest_truth
from referee.store.answers import Answer, insert_answer
from referee.store.notices import insert_audit, insert_notice
from referee.store.readings import (
    SessionMeter,
    energy_of,
    insert_energy,
    insert_reading,
    insert_session_meter,
)
from referee.store.requests import Request, insert_requests
from referee.store.sessions import create_session, load_session, record_event
from tests.support.contests import make_contest
from tests.support.direct_wire import DirectTransport
from tests.support.fakes import FakeClock

SECONDS = 20


def bundle_of(folder):
    """Write the bundle of a whole session into a folder, beside its ground truth."""
    contest = make_contest(folder, FakeClock(), mode="event", seconds=SECONDS)
    write_bundle(contest, play(contest), folder / "bundle.zip")
    contest.database.close()
    return folder


def play(contest, *, shuffled=True, posts=None, lane=1, ranges=(150.0, 0.5), watts=5.0, **course):
    """Play a session of 20 s on an emulated meter; return its number. Sleeping moves the clock.

    Of its `course`, `seconds` says when the team logs out, and `to` how far it goes: 0 while the
    session runs, 1 until its end, 2 with its energy, 3 with its score.
    """
    seconds, to = course.get("seconds", SECONDS), course.get("to", 3)
    clock = contest.clock
    begun = clock.now()

    def monotonic_s():
        return clock.now().monotonic_s

    def utc():
        return begun.utc + timedelta(seconds=monotonic_s() - begun.monotonic_s)

    # After the end the device goes on, and takes more.
    load = Load(parse_steps(f"0:{watts:g},{SECONDS + 0.5}:6"))
    instrument = Instrument(load, monotonic_s, Options())
    interpreter = Interpreter(instrument)
    log = WireLog(contest.config.wire_log_of(lane), monotonic_s, utc)
    meter = WT310(
        lambda: LoggedTransport(DirectTransport(interpreter, clock.advance), log),
        clock=monotonic_s,
        sleep=clock.advance,
        utc=utc,
    )
    identity = meter.identify()
    volts, amperes = ranges
    wanted = MeterSettings(SECONDS, 1.0, voltage_range_v=volts, current_range_a=amperes)
    settings = meter.prepare(wanted)
    write = contest.database.write
    with write() as connection:
        number = create_session(
            connection,
            team="ants, é",
            length_s=float(SECONDS),
            order_seed=2**64 - 5 if shuffled else None,
            now=clock.now(),
            lane=lane,
            track=contest.track.name,
        )
        insert_audit(connection, clock.now(), "Kim", "arm", number)
        record_event(connection, number, "armed", clock.now(), actor="Kim")
    start = meter.start()
    started = shifted(begun, start.written_s - begun.monotonic_s)
    conditions = conditions_to_json(contest.config.lane(lane).meter.conditions)
    with write() as connection:
        record_event(connection, number, "started", started, actor="ants, é")
        used = SessionMeter(True, identity, settings, conditions)
        insert_session_meter(connection, number, "then", used)
    keep = partial(_keep, contest, number, started)
    for second in range(1, seconds):
        clock.advance(started.monotonic_s + second - monotonic_s())
        keep(meter.read())
    _post(contest, number, posts)
    if to < 1:
        meter.close()
        return number
    full = seconds == SECONDS
    clock.advance(started.monotonic_s + seconds + (0.3 if full else 0.0) - monotonic_s())
    with write() as connection:
        end, cause = shifted(started, seconds), "deadline" if full else "logout"
        record_event(connection, number, "ended", end, actor="clock", cause=cause)
    meter.stop()

    def wait_and_read(wait_s):
        # The schedule of readings goes on, and its reading is stored before those of the end.
        clock.advance(0.9 * wait_s)
        keep(meter.read())
        clock.advance(0.1 * wait_s)

    for reading in read_result(lambda job: job(meter), 1.0, wait_and_read):
        keep(reading)
    meter.close()
    if to > 1:
        _judge_and_score(contest, number, settings, identity, scored=to > 2)
    with write() as connection:
        insert_notice(connection, number, utc().isoformat(), "info", "a notice")
    return number


def _keep(contest, number, started: Instant, reading):
    at_s = reading.monotonic_s - started.monotonic_s
    with contest.database.write() as connection:
        insert_reading(connection, number, at_s, reading, started.boot_id)


def _post(contest, number, posts):
    """Store requests and answers in time, and a late one."""
    rows = [(k, 1, 0.1 + k / 7, k, 2.0, k + 9.0, 11.0) for k in range(1, contest.image_count + 1)]
    rows[2] = (3, 1, 0.9, 25.0, 2.0, 30.0, 11.0)  # A wrong box, and a sure one.
    posts = posts or [rows[:2], rows[2:], []]
    with contest.database.write(durable=False) as connection:
        for late, post in [*((False, post) for post in posts), (True, rows[:1])]:
            content = pack(Detections.from_rows(post))
            insert_answer(
                connection,
                Answer(number, 1.25, "then", late, "csv", "::1", len(post), 0, content),
            )
        sent = [
            Request(number, 1.0, "then", "GET", "/image", 200, k, 1, 0, 9, 0.5, "::1")
            for k in range(1, contest.image_count + 1)
        ]
        insert_requests(connection, sent)


def _judge_and_score(contest, number, settings, identity, *, scored):
    session = load_session(contest.database.connection, number)
    result, detail = judge_session(contest, session, settings, identity, [])
    with contest.database.write() as connection:
        insert_energy(
            connection,
            number,
            utc=contest.clock.now().utc.isoformat(),
            energy_wh=result.energy_wh,
            uncertainty_wh=result.uncertainty_wh,
            verdict=result.verdict.value,
            detail=detail,
        )
    energy = energy_of(contest.database.connection, number)
    if scored:
        score_session(contest, read_contest_truth(contest), session, energy)
