# SPDX-License-Identifier: Apache-2.0
"""What a ceremony reveals: the results as they were approved, and what was public before."""

from __future__ import annotations

import io
import json
from datetime import datetime
from pathlib import Path

import numpy as np

from referee.core.names import SameNames
from referee.errors import Refusal
from referee.extras.ceremony.section import ceremony_of
from referee.formats.truth_file import GroundTruthFile
from referee.scoring import Detections, Fate, evaluate
from referee.service.event.result_entry import ContestRanking, Results
from referee.service.event.results import approved_results
from referee.service.results.final_score import scored_answer
from referee.service.scoreboard.view import PublicView, publication_from_json
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth_of_session
from referee.store.database import Connection
from referee.store.publishing import frozen_publication, latest_freezing, newest_freeze
from referee.store.sessions import load_session
from referee.store.teams import names_of_team

LABEL_SHARE = 1 / 16
"""The size of a label in a winner's picture, as a share of its height.

The card shows the picture over six tenths of the hall's, and capitals have seven tenths of the
letters' size: so they are a fortieth of what the hall sees.
"""

_FOUND = "#2ca02c"


def read_ceremony(contest: Contest) -> tuple[Results, ContestRanking | None] | None:
    """Return the final results with what the audience knew; None while they are provisional.

    It knew what a freeze shows, and everything without one: a freeze that was thawed before the
    approval counts as none. Without a scoreboard it knew nothing, and the second value is None.
    """
    with contest.database.read() as connection:
        results = approved_results(connection)
        if results is None:
            return None
        frozen = _frozen_view(connection, results)
    seen = None if contest.config.server.scoreboard is None else results
    return results, frozen or seen


def _frozen_view(connection: Connection, results: Results) -> PublicView | None:
    """Return what a freeze showed at the approval, or None without one."""
    frozen, newest = latest_freezing(connection), newest_freeze(connection)
    if frozen is None or newest is None:
        return None
    if newest.kind == "thawed" and results.approved_utc is not None:
        thawed, approved = map(datetime.fromisoformat, (newest.utc, results.approved_utc))
        if thawed < approved:
            return None
    stored = json.loads(frozen_publication(connection, frozen.freeze_id))
    return publication_from_json(stored).view


def pictured_teams(contest: Contest, results: Results) -> set[str]:
    """Return the teams that allow a picture, under any name that they had."""
    # A name is written by hand in contest.toml.
    allowed = SameNames(ceremony_of(contest.config).pictures)
    with contest.database.read() as connection:
        return {
            entry.team
            for entry in results.entries
            if any(map(allowed.find, {entry.team, *names_of_team(connection, entry.team)}))
        }


def winners_picture(contest: Contest, session_id: int) -> bytes:
    """Return the best detection of a winner's session as PNG.

    That is the right one of the highest confidence, and of those the one that fits best. Raises
    `Refusal` (code `picture_closed`) for any other session, and where the team has not allowed it,
    and (code `no_picture`) where nothing was found.
    """
    ceremony = read_ceremony(contest)
    winners = (
        [] if ceremony is None else [entry for entry in ceremony[0].entries if entry.rank == 1]
    )
    allowed = set() if ceremony is None else pictured_teams(contest, ceremony[0])
    if session_id not in [winner.session for winner in winners if winner.team in allowed]:
        raise Refusal("picture_closed", f"The ceremony shows no picture of session {session_id}.")
    session = load_session(contest.database.connection, session_id)
    detections = scored_answer(contest, session)
    if not isinstance(detections, Detections):
        raise Refusal("no_picture", f"The track '{session.track}' has no boxes.")
    return _best_detection(contest, detections, session_id)


def _best_detection(contest: Contest, detections: Detections, session_id: int) -> bytes:
    # The control desk loads this module at its start, and Pillow is for one picture at the end.
    from referee.service.results.score_pictures import LabelledBox, draw_boxes

    truth_file = GroundTruthFile(read_truth_of_session(contest, session_id))
    fates = evaluate(truth_file.truth, detections).explain()
    right = np.flatnonzero(fates.fate == Fate.TRUE_POSITIVE)
    if not len(right):
        raise Refusal("no_picture", f"No box of session {session_id} is right.")
    order = np.lexsort((-fates.iou[right], -detections.confidence[right]))
    best = int(right[order[0]])
    class_id = int(detections.class_id[best])
    name = truth_file.truth.class_names.get(class_id) or f"class {class_id}"
    left, top, across, down = detections.box[best].tolist()
    label = f"{name} {detections.confidence[best]:.2f}"
    box = LabelledBox((left, top, across, down), label, _FOUND)
    image = contest.images[int(detections.image_id[best]) - 1]
    file = io.BytesIO()
    size = (image.width, image.height)
    draw_boxes(file, Path(image.path), size, [box], "", label_share=LABEL_SHARE)
    return file.getvalue()
