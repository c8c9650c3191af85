# SPDX-License-Identifier: Apache-2.0
"""What a track is: everything in which one competition differs from another.

A track is pure: it is given bytes and arrays, and returns values. It knows no clock, disk,
network or database. The servers, the meter, the window of a session and the evidence are the
same for every track.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.core.flags import Flag
from referee.core.ground_truth import GroundTruth
from referee.errors import Refusal
from referee.formats.answers import AnswerFormat

Answer = TypeVar("Answer", bound=Sized)
"""What one post holds, for example `Detections`; its length is its number of rows."""

_Taken = TypeVar("_Taken", contravariant=True)

Report = dict[str, Any]
"""Plain values by field, ready for JSON."""

Fields = Mapping[str, Sequence[str]]
"""The fields of an HTML form: name to values, in the order sent."""


class Delivery(Enum):
    """How an input reaches the contestant."""

    FETCHED = "fetched"
    """The contestant asks for it, by `/image` and `/zipimages`."""
    SHOWN = "shown"
    """The referee shows it on a screen, and the contestant's camera sees it."""


@dataclass(frozen=True)
class Figure:
    """How a number is told: its field in score.json and, for people, name, unit and decimals.

    The unit is '' for a number without one.
    """

    field: str
    label: str
    unit: str = ""
    decimals: int = 6


@dataclass(frozen=True)
class Ranking:
    """What decides the places: a field of the report, and whether more of it is better."""

    field: str
    highest_first: bool = True

    def places(self, reports: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """Return the place of each report, 1 for the best; None for one without the field's value.

        Equal values share a place and the next is left out: 1, 2, 2, 4.
        """
        sign = -1.0 if self.highest_first else 1.0
        values = [report.get(self.field) for report in reports]
        known = [sign * value for value in values if value is not None]
        return [
            None if value is None else 1 + sum(other < sign * value for other in known)
            for value in values
        ]


@dataclass(frozen=True)
class Outcome:
    """What a scorer says of the answers so far.

    `accuracy` is None where there is nothing to score against. `report` makes the part of
    score.json that the answers alone decide.
    """

    accuracy: float | None
    rows: int
    report: Callable[[], Report]


@dataclass(frozen=True, eq=False)
class SentAnswers(Generic[Answer]):
    """A session's answers in time, each with its format, and what the image numbers mean.

    `order[n - 1]` is the manifest's image id under number n. `source_ids[k - 1]` is the id that the
    ground truth's file gives to image id k, `sizes[k]` its width and height in pixels.
    """

    answers: Sequence[tuple[str, Answer]]
    order: NDArray[np.int64]
    source_ids: NDArray[np.int64]
    sizes: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Remarks:
    """What a contestant is told about its answers after a rehearsal.

    `images_answered` is None where a track does not count it. `lines` are pairs of a label, of
    eleven letters at most, and a text. `warnings` say what is probably wrong, and what to do.
    """

    images_answered: int | None = None
    lines: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


class Scorer(Protocol[_Taken]):
    """The score of the answers so far; it must not depend on how the rows were split."""

    def add(self, answer: _Taken) -> None:
        """Take the rows of one answer, in manifest image ids."""

    def outcome(self) -> Outcome:
        """Return the score of the rows so far."""


class Track(ABC, Generic[Answer]):
    """One competition's rules. A module of a track names its only one `TRACK`."""

    name: str
    """What `contest.toml` and the database call it."""
    accuracy: Figure
    """How the accuracy is shown, which a scorer computes."""
    score: Figure
    """How the score is shown, which accuracy and energy make."""
    delivery: Delivery = Delivery.FETCHED
    ranking: Ranking = Ranking("score")
    form_fields: tuple[str, ...] = ()
    """The fields of an HTML form that make an answer."""

    def parse_form(self, fields: Fields) -> Answer:
        """Parse an HTML form's fields, of which only `form_fields` are given.

        This and the two below raise `Refusal`, by themselves where a track does not take the
        format: a post is taken whole or refused whole.
        """
        raise self._not_taken("form")

    def parse_json(self, body: bytes) -> Answer:
        """Parse a body of JSON."""
        raise self._not_taken("json")

    def parse_csv(self, body: bytes) -> Answer:
        """Parse a body of lines."""
        raise self._not_taken("csv")

    @abstractmethod
    def flag(
        self, answer: Answer, image_count: int, class_ids: NDArray[np.int64]
    ) -> tuple[Flag, ...]:
        """Return the rows that can never count, each with its reason, by ascending row.

        Image ids are those that the contestant sees, 1…image_count; `class_ids` is ascending.
        """

    @abstractmethod
    def pack(self, answer: Answer) -> bytes:
        """Return an answer as bytes for the database."""

    @abstractmethod
    def unpack(self, content: bytes) -> Answer:
        """Return what `pack` was given, to the last bit."""

    @abstractmethod
    def join(self, answers: Sequence[Answer]) -> Answer:
        """Return the rows of all answers in the order given; none for no answers."""

    @abstractmethod
    def in_manifest_ids(self, answer: Answer, order: NDArray[np.int64]) -> Answer:
        """Replace the contestant's image numbers, see `referee.core.order.to_manifest_ids`."""

    @abstractmethod
    def rows(self, answer: Answer) -> Iterator[Sequence[object]]:
        """Yield the rows of detections.csv in the bundle, from which anybody can score again."""

    @abstractmethod
    def scorer(self, truth: GroundTruth) -> Scorer[Answer]:
        """Return a scorer that has seen no answer; it serves the live and the final score."""

    @abstractmethod
    def score_of(self, accuracy: float | None, energy_wh: float | None) -> float | None:
        """Return the score, or None where there is none."""

    def report(self, outcome: Outcome, energy_wh: float | None, images_fetched: int) -> Report:
        """Return score.json but for the session's own fields.

        The fields of `accuracy` and `score` must be among them.

        `energy_wh` is None where the energy is missing or INVALID.
        """
        score = self.score_of(outcome.accuracy, energy_wh)
        return outcome.report() | {self.accuracy.field: outcome.accuracy, self.score.field: score}

    def remarks(
        self, sent: SentAnswers[Answer], truth: GroundTruth, accuracy: float | None
    ) -> Remarks:
        """Return what a contestant should know about its answers, which scored `accuracy`."""
        return Remarks()

    def _not_taken(self, answer_format: AnswerFormat) -> Refusal:
        return Refusal(
            "media_type_unknown",
            f"Nothing was stored: the track '{self.name}' takes no answers as {answer_format}.",
        )


def parse_answer(
    track: Track[Answer], answer_format: AnswerFormat, body: bytes, fields: Callable[[], Fields]
) -> Answer:
    """Parse a post in the format that it came in; `fields` takes a form's body apart."""
    if answer_format == "json":
        return track.parse_json(body)
    if answer_format == "csv":
        return track.parse_csv(body)
    return track.parse_form(fields())
