# SPDX-License-Identifier: Apache-2.0
"""The network track, held since 2015: object detection over HTTP, scored by mAP per watt-hour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections, pack, unpack, unpack_all
from referee.core.flags import Flag, flag_rows
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.formats import answers
from referee.formats.answer_formats import AnswerFormat
from referee.formats.detection_lines import parse_lines
from referee.formats.number_text import detection_lines, detection_rows
from referee.scoring import lpirc
from referee.scoring.live import LiveScore
from referee.scoring.score_report import energy_report, ilsvrc_report
from referee.scoring.uncertainty import measure_uncertainty
from referee.tracks.network_remarks import network_remarks
from referee.tracks.track import (
    Champion,
    Fields,
    Figure,
    Outcome,
    Remarks,
    Report,
    SentAnswers,
    Track,
)

_NO_CONFIDENCE = (
    "confidence missing: each row was read as image, class, xmin, ymin, xmax, ymax, and counts "
    "with confidence 1.0"
)


class _Scorer:
    """The ILSVRC score of detections as they arrive."""

    def __init__(self, truth: GroundTruth) -> None:
        self._live = LiveScore(truth)

    def add(self, answer: Detections) -> None:
        """Add the rows of one answer."""
        self._live.add(answer)

    def outcome(self) -> Outcome:
        """Return mAP, and every number that explains it."""
        result = self._live.result()
        return Outcome(
            result.mean_ap,
            result.detections,
            partial(ilsvrc_report, result),
            partial(measure_uncertainty, result),
        )


class NetworkTrack(Track[Detections]):
    """The track of object detection: contestants fetch images and post boxes."""

    name = "network"
    accuracy = Figure("mean_ap", "mAP")
    score = Figure("score", "score", "mAP/Wh")
    champions = {
        year: Champion(it.mean_ap or 0.0, it.energy_wh or 0.0, it.score or 0.0)
        for year, it in lpirc.CHAMPIONS.items()
    }
    sigma_prizes = True
    form_fields = answers.FORM_FIELDS

    def parse_form(self, fields: Fields) -> Detections:
        """Parse the parallel lists that the clients of 2015-2019 send."""
        return answers.parse_form(fields)

    def parse(self, answer_format: AnswerFormat, body: bytes) -> Detections:
        """Parse detections in any of the formats."""
        return answer_format.parse(body)

    def flag(
        self, answer: Detections, image_count: int, class_ids: NDArray[np.int64]
    ) -> tuple[Flag, ...]:
        """Flag boxes that no ground truth can match."""
        return flag_rows(answer, image_count, class_ids)

    def lacks(self, answer: Detections) -> tuple[str, ...]:
        """Say that no row has a confidence: perhaps a column was lost on the way."""
        return (_NO_CONFIDENCE,) if answer.without_confidence and len(answer) else ()

    def pack(self, answer: Detections) -> bytes:
        """Return the rows as bytes, 56 a row."""
        return pack(answer)

    def unpack(self, content: bytes) -> Detections:
        """Return the rows that `pack` made into bytes."""
        return unpack(content)

    def join(self, answers: Sequence[Detections]) -> Detections:
        """Return the rows of all answers in the order given."""
        return Detections.concatenate(answers)

    def unpack_all(self, contents: Sequence[bytes]) -> Detections:
        """Return the rows of many packed answers, with one step for all of them."""
        return unpack_all(contents)

    def in_manifest_ids(self, answer: Detections, order: NDArray[np.int64]) -> Detections:
        """Replace the contestant's image numbers by the manifest's image ids."""
        return answer.with_image_ids(to_manifest_ids(answer.image_id, order))

    def rows(self, answer: Detections) -> Iterator[Sequence[object]]:
        """Yield image id, class id, confidence and corners, as a file of detections has them."""
        return detection_rows(answer)

    def text(self, answer: Detections) -> bytes:
        """Return these rows as lines, a million in a second."""
        return detection_lines(answer)

    def from_text(self, text: bytes) -> Detections:
        """Return the rows of such lines."""
        return parse_lines(text)

    def answers_from_text(self, text: bytes, counts: Sequence[int]) -> Iterator[Detections]:
        """Yield the answers in a text, which is read as a whole."""
        rows, start = self.from_text(text), 0
        for count in counts:
            yield rows.select(slice(start, start + count))
            start += count

    def scorer(self, truth: GroundTruth) -> _Scorer:
        """Return a scorer by the rules of the ILSVRC development kit."""
        return _Scorer(truth)

    def score_of(self, accuracy: float | None, energy_wh: float | None) -> float | None:
        """Return mAP per watt-hour."""
        return lpirc.score(accuracy, energy_wh)

    def report(self, outcome: Outcome, energy_wh: float | None, images_fetched: int) -> Report:
        """Return the numbers that explain the mAP, then energy, score and normalised accuracy."""
        report = outcome.report()
        return report | energy_report(outcome.accuracy, report["images"], energy_wh, images_fetched)

    def remarks(
        self, sent: SentAnswers[Detections], truth: GroundTruth, accuracy: float | None
    ) -> Remarks:
        """Return counts of the boxes, and likely mistakes of the contestant's program."""
        return network_remarks(sent, truth, accuracy)


TRACK = NetworkTrack()
