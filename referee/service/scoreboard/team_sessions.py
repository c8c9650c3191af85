# SPDX-License-Identifier: Apache-2.0
"""The course of a team's session, its curves, and its mistakes as pictures, for the audience.

Only a session whose result is public is shown, and only its rows up to its end. These rows never
change, so the pictures of a frozen scoreboard stay as they are. What draws comes with the first
visitor who opens a team's page: matplotlib alone takes 0.6 s to load.
"""

from __future__ import annotations

import math
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.states import ran_s
from referee.errors import Refusal, needing
from referee.formats.truth_file import GroundTruthFile
from referee.scoring.ilsvrc import evaluate
from referee.scoring.result import IlsvrcResult
from referee.service.results.final_score import scored_answer
from referee.service.scoreboard.view import PublicState, PublicView
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth_of_session
from referee.store.inputs_in_force import proposal_in_force
from referee.store.requests import requests_of
from referee.store.sessions import SessionRecord, load_session
from referee.store.watching import recent_power

if TYPE_CHECKING:
    from referee.service.results.score_explanation import Miss

_SAMPLES_MOST = 20_000
_POINTS_MOST = 600
_BINS = 100
_RECALLS = 60
_KEPT = 256


def rates_of(times_s: Sequence[float], ran_s: float) -> tuple[list[tuple[float, float]], float]:
    """Return the requests a second, as pairs of a bin's first second and its rate; and its width.

    The bins are equal, of a second at least, and fill the session: none reaches beyond its end.
    A session of less than a second is one bin.
    """
    if ran_s <= 0:
        return [], 0.0
    bins = max(1, min(_BINS, math.floor(ran_s)))
    bin_s = ran_s / bins
    inside = [at_s for at_s in times_s if at_s < ran_s]
    counts, edges = np.histogram(inside, bins, (0.0, ran_s))
    return list(zip(edges[:-1].tolist(), (counts / bin_s).tolist(), strict=True)), bin_s


class TeamSessions:
    """The pictures of sessions; one thread asks at a time. `view` is what the public sees."""

    def __init__(self, contest: Contest) -> None:
        self.contest = contest
        self._kept: OrderedDict[tuple[int, str, int | None], Any] = OrderedDict()
        self._read: tuple[int | None, GroundTruth] | None = None

    def course(self, view: PublicView, number: int, *, narrow: bool = False) -> bytes:
        """Return the session's power and requests over time as SVG; `narrow` is for a phone."""
        _require_public(view, number)
        what = f"course {narrow=}"
        return bytes(self._once(number, what, lambda: self._course(number, narrow=narrow)))

    def curves(
        self, view: PublicView, number: int, *, every: bool = False, narrow: bool = False
    ) -> bytes:
        """Return the session's curves as SVG: of its best and worst classes, or of every class.

        Raises `Refusal` in a track whose answers have no curves.
        """
        _require_public(view, number)
        what = f"curves {every=} {narrow=}"
        return bytes(
            self._once(number, what, lambda: self._curves(number, every=every, narrow=narrow))
        )

    def captions(self, view: PublicView, number: int) -> list[str]:
        """Return a sentence for each explained mistake; only after the results are final.

        There is none where the event publishes no images.
        """
        require_final(view, number)
        if not self.contest.config.publishes_images:
            return []
        return [f"image {one.image_id}: {one.text}" for one in self._misses(number)]

    def picture(self, view: PublicView, number: int, place: int) -> bytes:
        """Return the small picture of an explained mistake as PNG; `place` counts from 0."""
        require_final(view, number)
        if not self.contest.config.publishes_images:
            raise Refusal("images_closed", "This event publishes none of its images.")
        misses = self._misses(number)
        if not 0 <= place < len(misses):
            raise Refusal("picture_unknown", f"Session {number} has no picture {place}.")
        return bytes(self._once(number, f"picture {place}", lambda: self._draw(misses[place])))

    def images(self, number: int) -> set[int]:
        """Return the images on which a session's explained mistakes are; none without classes."""
        try:
            return {one.image_id for one in self._misses(number)}
        except Refusal:  # The track has no curves, and so no mistakes.
            return set()

    def _once(self, number: int, what: str, make: Callable[[], Any]) -> Any:
        """Return what was made before, or make it; the oldest of many is forgotten."""
        key = (number, what, proposal_in_force(self.contest.database.connection))
        if key not in self._kept:
            self._kept[key] = make()
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _course(self, number: int, *, narrow: bool) -> bytes:
        with needing("a chart", "matplotlib", "event"):
            from referee.service.event.charts import DARK
            from referee.service.scoreboard.team_charts import SessionCourse, course_chart

        connection = self.contest.database.connection
        seconds = _ran_s(load_session(connection, number))
        samples = [
            (sample.elapsed_s, sample.power_w)
            for sample in recent_power(connection, number, 0, _SAMPLES_MOST)
            if sample.elapsed_s <= seconds
        ]
        step = max(1, -(-len(samples) // _POINTS_MOST))
        times = [one.elapsed_s for one in requests_of(connection, number)]
        rates, bin_s = rates_of(times, seconds)
        course = SessionCourse(seconds, samples[::step], rates, bin_s)
        return course_chart(course, DARK, narrow=narrow)

    def _curves(self, number: int, *, every: bool, narrow: bool) -> bytes:
        with needing("a chart", "matplotlib", "event"):
            from referee.service.event.charts import DARK
            from referee.service.scoreboard.team_charts import (
                ClassCurve,
                curves_chart,
                extremes_chart,
            )

        result = self._result(number)
        names = self.contest.classes
        curves = []
        for class_id, ap in result.ap.items():
            if ap is None:
                continue
            curve = result.precision_recall(class_id)
            recall, precision = _envelope(curve.recall, curve.precision)
            curves.append(ClassCurve(names.get(class_id, str(class_id)), ap, recall, precision))
        return (curves_chart if every else extremes_chart)(curves, DARK, narrow=narrow)

    def _misses(self, number: int) -> list[Miss]:
        def make() -> list[Miss]:
            from referee.service.results.score_explanation import misses_of

            fates = self._result(number).explain()
            found = GroundTruthFile(self.truth(number))
            return [*misses_of(found, self._detections(number), fates)]

        return list(self._once(number, "misses", make))

    def _draw(self, miss: Miss) -> bytes:
        from referee.service.results.score_pictures import draw_boxes

        entry = self.contest.images[miss.image_id - 1]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "miss.png"
            size = (entry.width, entry.height)
            draw_boxes(path, Path(entry.path), size, miss.boxes, "", small=True)
            return path.read_bytes()

    def _result(self, number: int) -> IlsvrcResult:
        return evaluate(self.truth(number), self._detections(number))

    def _detections(self, number: int) -> Detections:
        session = load_session(self.contest.database.connection, number)
        answer = scored_answer(self.contest, session)
        if not isinstance(answer, Detections):
            raise Refusal("no_curves", f"The track '{session.track}' has no curves for classes.")
        return answer

    def truth(self, number: int) -> GroundTruth:
        """Return a session's ground truth; all have the same one, so it is read once."""
        in_force = proposal_in_force(self.contest.database.connection)
        if self._read is None or self._read[0] != in_force:
            self._read = None
        truth = read_truth_of_session(self.contest, number, self._read and self._read[1])
        self._read = in_force, truth
        return truth


def _require_public(view: PublicView, number: int) -> None:
    """Raise `Refusal` for a session whose result the public may not see."""
    if not any(entry.session == number and entry.verdict is not None for entry in view.entries):
        raise Refusal("session_hidden", f"Session {number} has no public result.")


def require_final(view: PublicView, number: int, what: str = "The mistakes are shown") -> None:
    """Raise `Refusal` for a session of which the public may not see everything yet."""
    _require_public(view, number)
    if view.state is not PublicState.FINAL:
        raise Refusal("not_final", f"{what} after the results are final.")


def _ran_s(session: SessionRecord) -> float:
    seconds = ran_s(session.facts)
    if seconds is None:
        raise Refusal("session_hidden", f"Session {session.session_id} has not ended.")
    return seconds


def _envelope(recall: Any, precision: Any) -> tuple[list[float], list[float]]:
    """Return at most so many points of the envelope, which falls from recall 0 to 1."""
    at = np.linspace(0.0, 1.0, _RECALLS + 1)
    if not len(recall) or np.isnan(recall).any():
        return at.tolist(), np.zeros_like(at).tolist()
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    place = np.searchsorted(recall, at, side="left")
    reached = place < len(recall)
    values = np.where(reached, highest[np.minimum(place, len(recall) - 1)], 0.0)
    return at.tolist(), values.tolist()
