# SPDX-License-Identifier: Apache-2.0
"""Image classification over the same servers: a track in one module, as docs/tracks.md tells it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from referee.core.flags import Flag
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.formats.answers import refused
from referee.formats.faults import Faults, quoted
from referee.formats.lines import plain_lines, split_cells
from referee.formats.numbers import class_number, image_number, number
from referee.scoring.lpirc import score
from referee.tracks.track import Figure, Outcome, Report, Track


@dataclass(frozen=True, eq=False)
class Guesses:
    """The guesses of one post: class `class_id[k]` is in image `image_id[k]`, with a confidence."""

    image_id: NDArray[np.int64]
    class_id: NDArray[np.int64]
    confidence: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.image_id)


class Top1Scorer:
    """The share of images whose most confident guess is right; the first of equal ones counts."""

    def __init__(self, truth: GroundTruth) -> None:
        pairs = zip(truth.box_image_id.tolist(), truth.box_class_id.tolist(), strict=True)
        self._right = set(pairs)
        self._images = truth.image_ids.tolist()
        self._best: dict[int, tuple[float, int]] = {}
        self._rows = 0

    def add(self, answer: Guesses) -> None:
        """Take the rows of one answer."""
        self._rows += len(answer)
        for image, klass, confidence in _rows(answer):
            if image not in self._best or confidence > self._best[image][0]:
                self._best[image] = (confidence, klass)

    def outcome(self) -> Outcome:
        """Return the accuracy over all images, those without a guess included."""
        guesses = ((image, self._best[image][1]) for image in self._images if image in self._best)
        right = sum(guess in self._right for guess in guesses)
        accuracy = right / len(self._images) if self._images else None
        return Outcome(accuracy, self._rows, partial(self._report, right))

    def _report(self, right: int) -> Report:
        return {"metric": "top1", "images": len(self._images), "rows": self._rows, "right": right}


class Top1Track(Track[Guesses]):
    """Rows `image_id,class_id[,confidence]`, scored by top-1 accuracy per watt-hour."""

    name = "top1"
    accuracy = Figure("top1", "top-1", decimals=4)
    score = Figure("score", "score", "top-1/Wh")

    def parse_csv(self, body: bytes) -> Guesses:
        """Parse lines of two or three numbers; without a confidence it is 1.0."""
        faults = Faults()
        rows = []
        for place, line in enumerate(plain_lines(body).decode("ascii", "replace").split("\n"), 1):
            cells = split_cells(line)
            try:
                if cells:
                    image, klass, *confidence = cells
                    (sure,) = confidence or ["1.0"]
                    rows.append((image_number(image), class_number(klass), number(sure)))
            except ValueError:
                faults.add(f"line {place}: {quoted(line)} is not image_id,class_id[,confidence]")
        with refused("csv_invalid"):
            faults.raise_if_any()
        return _guesses(rows)

    def flag(
        self, answer: Guesses, image_count: int, class_ids: NDArray[np.int64]
    ) -> tuple[Flag, ...]:
        """Flag guesses of unknown images and unknown classes."""
        known = (answer.image_id >= 1) & (answer.image_id <= image_count)
        listed = np.isin(answer.class_id, class_ids)
        return tuple(
            Flag(row, "class out of range" if known[row] else "unknown image")
            for row in np.flatnonzero(~(known & listed)).tolist()
        )

    def pack(self, answer: Guesses) -> bytes:
        """Return 24 bytes a row."""
        columns = (answer.image_id, answer.class_id, answer.confidence)
        return b"".join(
            column.astype(column.dtype.newbyteorder("<")).tobytes() for column in columns
        )

    def unpack(self, content: bytes) -> Guesses:
        """Return the guesses that `pack` was given."""
        n = len(content) // 24
        image_id, class_id = np.frombuffer(content, "<i8", 2 * n).reshape(2, n)
        return Guesses(image_id, class_id, np.frombuffer(content, "<f8", n, 16 * n))

    def join(self, answers: Sequence[Guesses]) -> Guesses:
        """Return the rows of all answers in the order given."""
        return _guesses([row for answer in answers for row in _rows(answer)])

    def in_manifest_ids(self, answer: Guesses, order: NDArray[np.int64]) -> Guesses:
        """Replace the contestant's image numbers."""
        return replace(answer, image_id=to_manifest_ids(answer.image_id, order))

    def rows(self, answer: Guesses) -> Iterator[Sequence[object]]:
        """Yield the rows in the order of the post."""
        return _rows(answer)

    def scorer(self, truth: GroundTruth) -> Top1Scorer:
        """Return a scorer that has seen no answer."""
        return Top1Scorer(truth)

    def score_of(self, accuracy: float | None, energy_wh: float | None) -> float | None:
        """Return accuracy per watt-hour."""
        return score(accuracy, energy_wh)


def _guesses(rows: Sequence[tuple[int, int, float]]) -> Guesses:
    ids = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    return Guesses(ids[:, 0], ids[:, 1], np.array([row[2] for row in rows], np.float64))


def _rows(answer: Guesses) -> Iterator[tuple[int, int, float]]:
    columns = (answer.image_id.tolist(), answer.class_id.tolist(), answer.confidence.tolist())
    return zip(*columns, strict=True)


TRACK = Top1Track()
