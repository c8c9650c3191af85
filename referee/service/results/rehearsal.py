# SPDX-License-Identifier: Apache-2.0
"""The report of a rehearsal: what a contestant's program did, and what is probably wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from referee.core.detections import Detections
from referee.core.flags import flag_rows
from referee.core.ground_truth import GroundTruth
from referee.core.instant import seconds_between
from referee.core.order import to_manifest_ids
from referee.core.states import SessionFacts
from referee.formats.packing import unpack
from referee.scoring.mistakes.diagnosis import Mistake, find_mistakes
from referee.scoring.mistakes.posted import Posted
from referee.service.setup.contest import Contest, order_of
from referee.store.answers import AnswerCounts, answers_after, count_answers
from referee.store.requests import Request, count_fetched_images, requests_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import SessionRecord, load_session

PARTS = 10
"""Parts of the session for which the rate of images is told."""

# What is shorter than the clock's step has no rates: they would be divided by zero.
_LEAST_S = 1e-3


@dataclass(frozen=True)
class RehearsalReport:
    """What a contestant wants to know after a rehearsal.

    `session_s` is how long the session really was, from its start to the deadline or an earlier
    end. `rates` are images per second in each tenth of that time. `waited_s` is the time that the
    server took to answer all requests, `slowest_s` the longest of them. `per_class` counts
    detections by class id. `outside` counts boxes that reach beyond their image, `duplicates` rows
    that repeat an earlier one but for the confidence.
    """

    session_id: int
    team: str
    session_s: float
    images: int
    images_fetched: int
    images_answered: int
    answers: AnswerCounts
    rates: tuple[float, ...]
    requests: int
    waited_s: float
    slowest_s: float
    per_class: dict[int, int]
    outside: int
    inverted: int
    duplicates: int
    never_match: dict[str, int]
    mean_ap: float | None
    mistakes: tuple[Mistake, ...]


def rehearsal_report(contest: Contest, truth: GroundTruth, session_id: int) -> RehearsalReport:
    """Return the report of a session that has ended; `truth` is in the contest's image ids."""
    connection = contest.database.connection
    session = load_session(connection, session_id)
    posted = _posted(contest, session)
    numbers = posted.detections.image_id
    detections = posted.detections.with_image_ids(to_manifest_ids(numbers, posted.order))
    # A login is answered after the session's start, but asked before it.
    requests = [r for r in requests_of(connection, session_id) if r.elapsed_s >= 0.0]
    run = newest_scoring_run(connection, session_id)
    sizes = {entry.image_id: (entry.width, entry.height) for entry in contest.images}
    classes, counts = np.unique(detections.class_id, return_counts=True)
    flags = flag_rows(detections, contest.image_count, contest.class_ids)
    session_s = _length_s(session.facts)
    return RehearsalReport(
        session_id=session_id,
        team=session.team,
        session_s=session_s,
        images=contest.image_count,
        images_fetched=count_fetched_images(connection, session_id),
        images_answered=len(np.intersect1d(detections.image_id, truth.image_ids)),
        answers=count_answers(connection, session_id),
        rates=_rates(requests, session_s),
        requests=len(requests),
        waited_s=sum(request.duration_s for request in requests),
        slowest_s=max((request.duration_s for request in requests), default=0.0),
        per_class=dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        outside=_outside(detections, sizes),
        inverted=int(_inverted(detections).sum()),
        duplicates=_duplicates(detections),
        never_match=dict(Counter(flag.reason for flag in flags)),
        mean_ap=None if run is None else run.accuracy,
        mistakes=find_mistakes(truth, posted, sizes),
    )


def _posted(contest: Contest, session: SessionRecord) -> Posted:
    """Return the detections of all answers in time as they were sent."""
    connection = contest.database.connection
    answers = [a for a in answers_after(connection, session.session_id) if not a.late]
    return Posted(
        detections=Detections.concatenate([unpack(answer.content) for answer in answers]),
        as_coco=np.repeat(
            np.array([answer.format == "json" for answer in answers], dtype=bool),
            [answer.row_count for answer in answers],
        ),
        order=order_of(contest.image_count, session.order_seed),
        source_ids=np.array([entry.source_id for entry in contest.images], dtype=np.int64),
    )


def _length_s(facts: SessionFacts) -> float:
    """Return how long a session was; the whole length where no earlier end is recorded."""
    if facts.started is None or facts.ended is None:
        return facts.length_s
    return min(facts.length_s, max(_LEAST_S, seconds_between(facts.started, facts.ended)))


def _rates(requests: list[Request], session_s: float) -> tuple[float, ...]:
    """Return images sent per second in each part of the session."""
    sent = [0] * PARTS
    for request in requests:
        part = min(PARTS - 1, max(0, int(PARTS * request.elapsed_s / session_s)))
        sent[part] += request.image_count
    return tuple(PARTS * count / session_s for count in sent)


def _inverted(detections: Detections) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    box = detections.box
    return (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])


def _outside(detections: Detections, sizes: dict[int, tuple[int, int]]) -> int:
    """Count boxes with a corner beyond the pixels 0…width-1, 0…height-1 of a known image."""
    unknown = (np.inf, np.inf)
    wide = np.array([sizes.get(i, unknown) for i in detections.image_id.tolist()]).reshape(-1, 2)
    box = detections.box
    beyond = (box[:, :2] < 0).any(axis=1) | (box[:, 2:] > wide).any(axis=1)
    return int(beyond.sum())


def _duplicates(detections: Detections) -> int:
    """Count rows with the image, class and box of an earlier one."""
    table = np.column_stack([detections.image_id, detections.class_id, detections.box])
    return len(table) - len(np.unique(table, axis=0)) if len(table) else 0
