# SPDX-License-Identifier: Apache-2.0
"""The report of a rehearsal: the work of a contestant's program, and its probable mistakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.core.states import SessionFacts, ran_s
from referee.service.results.final_score import ANSWERED
from referee.service.setup.contest import Contest
from referee.service.setup.session_images import order_of
from referee.store.answers import (
    AnswerCounts,
    answers_after,
    count_answers,
    count_empty_answers,
)
from referee.store.requests import count_fetched_images, refused_answers_of, requests_of
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import SessionRecord, load_session
from referee.store.unused_fields import UnusedFields, unused_fields_of
from referee.tracks.track import Remarks, SentAnswers

PARTS = 10
"""The number of equal parts of the session for which the report has a rate of images."""

# What differs between two refusals for one reason: numbers, and words from the post.
_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\w.]*")

# The least length of a session in the report. It keeps the rates from a division by zero.
_LEAST_S = 1e-3


@dataclass(frozen=True)
class RehearsalReport:
    """The report of a rehearsal's session for its contestant.

    `session_s` is the real length of the session, from its start to the deadline or an earlier
    end. `rates` are the images fetched per second in each tenth of that time, and `row_rates` the
    rows that came. `waited_s` is the time in which a request was being answered, and `slowest_s`
    the longest time for one of them. `refused` counts the answers that were not stored, by reason,
    the commonest first; a reason is told in the words of the first answer that it refused.
    `unused` are the refused forms of which nothing would have been used, and their fields. `empty`
    counts the answers without a row.
    `never_match` counts the rows that can never match, by reason. `remarks` come from the track.
    """

    session_id: int
    team: str
    session_s: float
    images: int
    images_fetched: int
    answers: AnswerCounts
    rates: tuple[float, ...]
    row_rates: tuple[float, ...]
    requests: int
    waited_s: float
    slowest_s: float
    refused: dict[str, int]
    unused: UnusedFields
    empty: int
    never_match: dict[str, int]
    remarks: Remarks


def rehearsal_report(contest: Contest, truth: GroundTruth, session_id: int) -> RehearsalReport:
    """Return the report of an ended session; `truth` uses the contest's image ids."""
    connection = contest.database.connection
    session = load_session(connection, session_id)
    sent = _sent(contest, session)
    together = contest.track.join([answer for _, answer in sent.answers])
    flags = contest.track.flag(together, contest.image_count, contest.class_ids)
    # The login's request arrives before the session's start and is left out.
    requests = [r for r in requests_of(connection, session_id) if r.elapsed_s >= 0.0]
    run = newest_scoring_run(connection, session_id)
    session_s = _session_s(session.facts)
    served = [(request.elapsed_s, request.duration_s) for request in requests]
    return RehearsalReport(
        session_id=session_id,
        team=session.team,
        session_s=session_s,
        images=contest.image_count,
        images_fetched=count_fetched_images(connection, session_id),
        answers=count_answers(connection, session_id),
        rates=_rates([(request.elapsed_s, request.image_count) for request in requests], session_s),
        row_rates=_rates(
            [
                (answer.elapsed_s, answer.row_count)
                for answer in answers_after(connection, session_id)
            ],
            session_s,
        ),
        requests=len(requests),
        waited_s=_covered_s(served, session_s),
        slowest_s=max((request.duration_s for request in requests), default=0.0),
        refused=_by_reason(refused_answers_of(connection, session_id)),
        unused=unused_fields_of(connection, session_id),
        empty=count_empty_answers(connection, session_id),
        never_match=dict(Counter(flag.reason for flag in flags)),
        remarks=_counted(
            contest.track.remarks(sent, truth, None if run is None else run.accuracy), run
        ),
    )


def _counted(remarks: Remarks, run: ScoringRun | None) -> Remarks:
    """Return the remarks with the images answered as the score counts them, empty answers too."""
    answered = None if run is None else run.detail.get(ANSWERED)
    return remarks if answered is None else replace(remarks, images_answered=answered)


def _sent(contest: Contest, session: SessionRecord) -> SentAnswers[Any]:
    """Return all answers in time in the form in which they were sent."""
    connection = contest.database.connection
    return SentAnswers(
        answers=[
            (answer.format, contest.track.unpack(answer.content))
            for answer in answers_after(connection, session.session_id)
            if not answer.late
        ],
        order=order_of(contest.image_count, session.order_seed),
        source_ids=np.array([entry.source_id for entry in contest.images], dtype=np.int64),
        sizes={entry.image_id: (entry.width, entry.height) for entry in contest.images},
    )


def _by_reason(refusals: Iterable[str]) -> dict[str, int]:
    """Count refusals by reason, the commonest first, under the first one's words.

    Two refusals have one reason if their first faults differ in numbers and quoted words alone.
    """
    words: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for refusal in refusals:
        reason = _PARTICULARS.sub("#", refusal).partition(";")[0]
        counts[words.setdefault(reason, refusal)] += 1
    return dict(counts.most_common())


def _session_s(facts: SessionFacts) -> float:
    """Return the time run, within that allowed; without an end it is the whole time allowed."""
    seconds = ran_s(facts)
    return facts.length_s if seconds is None else min(facts.length_s, max(_LEAST_S, seconds))


def _rates(counts: Iterable[tuple[float, int]], session_s: float) -> tuple[float, ...]:
    """Return what came per second in each part of the session, from (second, how many).

    What came after its end, such as a late answer, belongs to no part.
    """
    found = [0] * PARTS
    for at_s, count in counts:
        if at_s < session_s:
            found[min(PARTS - 1, max(0, int(PARTS * at_s / session_s)))] += count
    return tuple(PARTS * count / session_s for count in found)


def _covered_s(served: Iterable[tuple[float, float]], session_s: float) -> float:
    """Return the time of the session in which a request was served, from (second, how long).

    Requests of several connections overlap, and each second counts once.
    """
    covered_s = until_s = 0.0
    for at_s, took_s in sorted(served):
        end_s = min(at_s + took_s, session_s)
        covered_s += max(0.0, end_s - max(at_s, until_s))
        until_s = max(until_s, end_s)
    return covered_s
