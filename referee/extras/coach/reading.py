# SPDX-License-Identifier: Apache-2.0
"""Reads a session as the coach sees it, from a contest's rows or from a bundle."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from power.energy.duration import Duration
from power.energy.moments import START_OFF_S, EnergyCourse, course_of
from referee.core.order import to_manifest_ids
from referee.core.states import ran_s
from referee.errors import InputError, Refusal
from referee.extras.coach.rules.played import Answered, Ints, Played, Served
from referee.formats.hashed_reads import HashedReads
from referee.scoring import Detections, GroundTruth
from referee.service.evidence.as_signed import read_as_signed
from referee.service.evidence.bundle import MEMBERS
from referee.service.evidence.bundle_file import BLACKLIST, NotABundle, opened_bundle
from referee.service.evidence.facts_read import read_facts
from referee.service.evidence.replay import replayed
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth_of_session, read_truth_with
from referee.service.setup.session_images import order_of
from referee.store.answers import answers_after
from referee.store.database import Connection
from referee.store.readings import EnergyRecord, energy_of, readings_of, session_meter_of
from referee.store.requests import requests_of
from referee.store.sessions import SessionRecord, load_session
from referee.tracks.track import Delivery


@dataclass(frozen=True)
class Coached:
    """A session with the names that a report needs, and its marks, as EMULATED."""

    session_id: int
    team: str
    played: Played
    class_names: dict[int, str]
    marks: tuple[str, ...]


def read_session(contest: Contest, session_id: int, known: GroundTruth | None = None) -> Coached:
    """Return an ended session of a contest; `known` is the ground truth in force, if it was read.

    Raises `Refusal` (code `no_coach`) for a session that the coach can say nothing of: one of
    another kind of answers, without an end, without an energy that counts.
    """
    session = load_session(contest.database.connection, session_id)
    _require_over(contest, session)
    truth = read_truth_of_session(contest, session_id, known)
    return _coached(contest, session, truth)


@contextmanager
def read_bundle(
    path: Path, ground_truth: Path, blacklist: Path | None = None, track: str | None = None
) -> Iterator[Coached]:
    """Give the session of a bundle, which must be as it was signed.

    `ground_truth` and `blacklist` are files of the contest's kinds; a bundle that holds its
    blacklist needs none. `track` names the module of other rules, which are trusted then. Raises
    `InputError` for a file that is no such bundle.
    """
    try:
        with opened_bundle(path) as file:
            members = dict(read_as_signed(file, (*MEMBERS, BLACKLIST)).members)
        reads = HashedReads()
        if BLACKLIST in members and blacklist is None:
            blacklist = path / BLACKLIST
            reads.keep(blacklist, members[BLACKLIST])
        with (
            tempfile.TemporaryDirectory(prefix="referee-coach-") as folder,
            replayed(members, read_facts(members), Path(folder), track) as (contest, session),
        ):
            _require_over(contest, session)
            truth = read_truth_with(
                contest, ground_truth, blacklist, reads, no_blacklist=blacklist is None
            ).truth
            yield _coached(contest, session, truth)
    except NotABundle as error:
        finding = error.finding
        raise InputError(f"{path}, {finding.member or 'the file'}: {finding.what}") from None


def _require_over(contest: Contest, session: SessionRecord) -> None:
    """Refuse a session without an end or an energy, before its ground truth is read."""
    connection = contest.database.connection
    if ran_s(session.facts) is None:
        raise _refusal(session, "has not ended")
    _usable(session, energy_of(connection, session.session_id))


def _coached(contest: Contest, session: SessionRecord, truth: GroundTruth) -> Coached:
    connection = contest.database.connection
    energy, energy_wh = _usable(session, energy_of(connection, session.session_id))
    ended_s = ran_s(session.facts) or 0.0
    order = order_of(contest.image_count, session.order_seed)
    course, update_s = _course(connection, session, energy, ended_s)
    played = Played(
        truth=truth,
        answers=_answers(contest, session, order),
        requests=_requests(connection, session, order, ended_s),
        course=course,
        ended_s=ended_s,
        energy_wh=energy_wh,
        uncertainty_wh=energy.uncertainty_wh,
        update_s=update_s,
        sizes={one.image_id: (one.width, one.height) for one in contest.images},
        numbers={image: number for number, image in enumerate(order.tolist(), 1)},
        has_archives=contest.track.delivery is Delivery.FETCHED,
    )
    return Coached(
        session_id=session.session_id,
        team=session.team,
        played=played,
        class_names=dict(contest.classes),
        marks=_marks(session, energy),
    )


def _marks(session: SessionRecord, energy: EnergyRecord) -> tuple[str, ...]:
    """Return what a reader must know of the session beside its number."""
    marks = {
        "EMULATED": energy.emulated,
        energy.verdict: energy.verdict != "VALID",
        "VOID": session.facts.voided is not None,
    }
    return tuple(mark for mark, holds in marks.items() if holds)


def _usable(session: SessionRecord, energy: EnergyRecord | None) -> tuple[EnergyRecord, float]:
    if energy is None or energy.energy_wh is None:
        raise _refusal(session, "has no energy")
    if energy.verdict == "INVALID" or energy.energy_wh <= 0:
        raise _refusal(session, "has no energy that counts, since its verdict is INVALID")
    return energy, energy.energy_wh


def _refusal(session: SessionRecord, why: str) -> Refusal:
    return Refusal("no_coach", f"Session {session.session_id} {why}: the coach has nothing to say.")


def _answers(contest: Contest, session: SessionRecord, order: Ints) -> Sequence[Answered]:
    """Return the answers in time, with the manifest's image ids."""
    connection, number = contest.database.connection, session.session_id
    empty: dict[int, list[int]] = {}
    for answer_id, image in connection.execute(
        "select answer_id, number from empty_answers where session_id = ?", (number,)
    ):
        empty.setdefault(answer_id, []).append(image)
    answers = []
    for stored in answers_after(connection, number):
        if stored.late:
            continue
        posted = contest.track.in_manifest_ids(contest.track.unpack(stored.content), order)
        if not isinstance(posted, Detections):
            raise _refusal(session, f"is of the track '{session.track}', which has no boxes")
        without = to_manifest_ids(np.array(empty.get(stored.answer_id, []), dtype=np.int64), order)
        named = np.union1d(posted.image_id, without)
        answers.append(
            Answered(stored.elapsed_s, posted, named[(named >= 1) & (named <= len(order))])
        )
    return sorted(answers, key=lambda one: one.at_s)


def _requests(
    connection: Connection, session: SessionRecord, order: Ints, ended_s: float
) -> list[Served]:
    """Return the requests of the session's time, with the manifest's image ids."""
    served = []
    for one in requests_of(connection, session.session_id):
        # The login comes before the start.
        if 0.0 <= one.elapsed_s <= ended_s:
            first = one.first_image
            numbers = [] if first is None else range(first, first + one.image_count)
            images = tuple(int(order[n - 1]) for n in numbers if 1 <= n <= len(order))
            served.append(Served(one.elapsed_s, one.duration_s, images, one.sent_bytes))
    return sorted(served, key=lambda one: one.at_s)


def _course(
    connection: Connection, session: SessionRecord, energy: EnergyRecord, ended_s: float
) -> tuple[EnergyCourse, float]:
    """Return the course of the energy, and the time between two readings."""
    meter = session_meter_of(connection, session.session_id)
    readings = sorted(
        (
            replace(reading, monotonic_s=elapsed_s)
            for elapsed_s, reading in readings_of(connection, session.session_id)
        ),
        key=lambda one: one.monotonic_s,
    )
    if meter is None:
        raise _refusal(session, "has no readings of its meter")
    update_s = meter.settings.update_interval_s
    lasted = Duration(
        energy.detail.get("duration_s") or ended_s,
        energy.detail.get("duration_uncertainty_s") or update_s,
    )
    course = course_of(readings, meter.settings, START_OFF_S, lasted)
    if course is None:
        raise _refusal(session, "has no readings with an energy")
    return course, update_s
