# SPDX-License-Identifier: Apache-2.0
"""The report of a rehearsal: what a contestant's program did, and what is probably wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from referee.core.detections import Detections
from referee.core.flags import flag_rows
from referee.core.ground_truth import GroundTruth
from referee.scoring.mistakes import Mistake, find_mistakes
from referee.service.entry.status import SessionStatus, status_of
from referee.service.results.final_score import scored_detections
from referee.service.setup.contest import Contest
from referee.store.requests import Request, requests_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session

PARTS = 10
"""Parts of the session for which the rate of images is told."""


@dataclass(frozen=True)
class RehearsalReport:
    """Hold what a contestant wants to know after a rehearsal.

    `rates` are images a second in each tenth of the session; `waited_s` is the time that the
    server took to answer all requests, `slowest_s` the longest of them. `per_class` counts
    detections by class id. `outside` counts boxes that reach beyond their image, `duplicates`
    rows that repeat an earlier one but for the confidence.
    """

    session_id: int
    team: str
    length_s: float
    status: SessionStatus
    images_answered: int
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
    detections = scored_detections(contest, session)
    # A login is answered after the session's start, but asked before it.
    requests = [r for r in requests_of(connection, session_id) if r.elapsed_s >= 0.0]
    run = newest_scoring_run(connection, session_id)
    sizes = {entry.image_id: (entry.width, entry.height) for entry in contest.images}
    classes, counts = np.unique(detections.class_id, return_counts=True)
    flags = flag_rows(detections, contest.image_count, contest.class_ids)
    length_s = session.facts.length_s
    return RehearsalReport(
        session_id=session_id,
        team=session.team,
        length_s=length_s,
        status=status_of(contest, session),
        images_answered=len(np.intersect1d(detections.image_id, truth.image_ids)),
        rates=_rates(requests, length_s),
        requests=len(requests),
        waited_s=sum(request.duration_s for request in requests),
        slowest_s=max((request.duration_s for request in requests), default=0.0),
        per_class=dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        outside=_outside(detections, sizes),
        inverted=int(_inverted(detections).sum()),
        duplicates=_duplicates(detections),
        never_match=dict(Counter(flag.reason for flag in flags)),
        mean_ap=None if run is None else run.mean_ap,
        mistakes=find_mistakes(truth, detections, sizes),
    )


def _rates(requests: list[Request], length_s: float) -> tuple[float, ...]:
    """Return images sent a second in each part of the session."""
    sent = [0] * PARTS
    for request in requests:
        part = min(PARTS - 1, max(0, int(PARTS * request.elapsed_s / length_s)))
        sent[part] += request.image_count
    return tuple(PARTS * count / length_s for count in sent)


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
