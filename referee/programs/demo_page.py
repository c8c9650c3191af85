# SPDX-License-Identifier: Apache-2.0
"""The demo's result as one page that stands alone: score, power, found boxes, and what comes next.

It loads nothing and runs no script. The template is `demo_page.html`, beside this file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from referee.core.counts import counted
from referee.core.detections import Detections
from referee.errors import MissingLibrary
from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from referee.service.results.final_score import scored_answer
from referee.service.results.result_text import result_text, score_and_verdict
from referee.service.results.score_pictures import LabelledBox, draw_boxes
from referee.service.scoreboard.facts import read_facts
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.scoreboard.view import publication_of
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.pages import page
from referee.store.scores import ScoringRun
from referee.store.sessions import load_session

_PICTURES = 6
_RIGHT, _WRONG = "#2ca02c", "#d62728"


@dataclass(frozen=True)
class FoundPicture:
    """An image with what was found in it, as JPEG, and a sentence that says how much is right."""

    jpeg: bytes
    text: str


def demo_page(contest: Contest, session_id: int, run: ScoringRun, commands: Sequence[str]) -> str:
    """Return the page of a scored session; `commands` are those to go on with."""
    with contest.database.read() as connection:
        view = publication_of(read_facts(contest, connection)).view
    charts = TeamSessions(contest)
    try:
        drawn = charts.course(view, session_id), charts.curves(view, session_id)
        undrawn = ""
    except MissingLibrary as error:
        drawn, undrawn = (b"", b""), str(error)
    score, said = score_and_verdict(run, contest.track)
    return page(
        "programs/demo_page.html",
        score=score,
        said=said,
        verdict=run.detail["verdict"],
        lines=result_text(run, contest.track),
        seconds=contest.config.contest.seconds,
        course=drawn[0],
        curves=drawn[1],
        undrawn=undrawn,
        pictures=[*found_pictures(contest, session_id)],
        commands=commands,
    )


def found_pictures(contest: Contest, session_id: int) -> Iterator[FoundPicture]:
    """Yield the images with the most right boxes: right ones in green, all others in red."""
    detections = scored_answer(contest, load_session(contest.database.connection, session_id))
    if not isinstance(detections, Detections):
        return
    truth = read_contest_truth(contest)
    fates = evaluate(truth, detections).explain().fate
    right = detections.image_id[fates == Fate.TRUE_POSITIVE]
    images, counts = np.unique(right, return_counts=True)
    for image_id in images[np.argsort(-counts, kind="stable")][:_PICTURES].tolist():
        entry = contest.images[image_id - 1]
        boxes = []
        for row in np.flatnonzero(detections.image_id == image_id).tolist():
            class_id = int(detections.class_id[row])
            left, top, across, down = detections.box[row].tolist()
            label = f"{truth.class_names.get(class_id, class_id)} {detections.confidence[row]:.2f}"
            is_right = fates[row] == Fate.TRUE_POSITIVE
            colour = _RIGHT if is_right else _WRONG
            boxes.append(LabelledBox((left, top, across, down), label, colour, not is_right))
        found = sum(box.colour == _RIGHT for box in boxes)
        text = f"Image {image_id}: {found} of {counted(len(boxes), 'box is', 'boxes are')} right"
        yield FoundPicture(_drawn(Path(entry.path), boxes), text)


def _drawn(photograph: Path, boxes: Sequence[LabelledBox]) -> bytes:
    png, jpeg = io.BytesIO(), io.BytesIO()
    draw_boxes(png, photograph, None, boxes, "")
    with Image.open(png) as picture:
        picture.save(jpeg, "JPEG", quality=88)
    return jpeg.getvalue()
