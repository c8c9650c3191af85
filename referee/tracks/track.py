# SPDX-License-Identifier: Apache-2.0
"""The interface of a track: everything in which one competition differs from another.

A track is pure: it takes bytes and arrays and returns values. It knows no clock, disk, network or
database. All tracks share the servers, the meter, the window of a session and the evidence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.core.flags import Flag
from referee.core.ground_truth import GroundTruth
from referee.core.places import shared_places
from referee.errors import Refusal
from referee.formats.answer_formats import CSV, FORM, AnswerFormat
from referee.formats.number_text import csv_lines
from referee.scoring.lpirc import behind_score
from referee.scoring.uncertainty import MapUncertainty

Answer = TypeVar("Answer", bound=Sized)
"""The content of one post, for example `Detections`; its length is its number of rows."""

_Taken = TypeVar("_Taken", contravariant=True)

Report = dict[str, Any]
"""Plain values by field, ready for JSON."""

Fields = Mapping[str, Sequence[str]]
"""The fields of an HTML form: name to values, in the order sent."""


class Delivery(Enum):
    """The way in which an input reaches the contestant."""

    FETCHED = "fetched"
    """The contestant asks for it, by `/image` and `/zipimages`."""
    SHOWN = "shown"
    """The referee shows it on a screen, and the contestant's camera sees it."""


@dataclass(frozen=True)
class Figure:
    """The presentation of a number: its field in score.json, and its name, unit and decimals.

    `unit` is '' for a number without a unit.
    """

    field: str
    label: str
    unit: str = ""
    decimals: int = 6


@dataclass(frozen=True)
class Ranking:
    """The rule that decides the places: a field of the report, and whether more is better.

    `quotient_of` names the two fields whose quotient `field` is. Then the exact quotient decides
    (`referee.scoring.lpirc.behind_score`), so that rounding neither parts a tie nor makes one.
    """

    field: str
    highest_first: bool = True
    quotient_of: tuple[str, str] | None = None

    def places(self, reports: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """Return the place of each report, 1 for the best, or None if the field has no value.

        Equal values share a place, and the next place is left out: 1, 2, 2, 4.
        """
        values = [self._value(report) for report in reports]
        return shared_places(values, highest_first=self.highest_first)

    def _value(self, report: Mapping[str, Any]) -> float | Fraction | None:
        value: float | None = report.get(self.field)
        if self.quotient_of is None:
            return value
        return behind_score(value, *(report.get(name) for name in self.quotient_of))


@dataclass(frozen=True)
class Outcome:
    """The result of a scorer for the answers so far.

    `accuracy` is None if there is nothing to score against. `rows` counts the rows so far. `report`
    makes the part of score.json that depends on the answers alone. `measure` takes a number of
    draws and a seed, and tells how sure the accuracy is, or None without one; a track whose
    accuracy is no mAP has no `measure`.
    """

    accuracy: float | None
    rows: int
    report: Callable[[], Report]
    measure: Callable[[int, int], MapUncertainty | None] | None = None


@dataclass(frozen=True, eq=False)
class SentAnswers(Generic[Answer]):
    """A session's answers in time, each with its format, and the meaning of the image numbers.

    `order[n - 1]` is the manifest's image id behind number n. `source_ids[k - 1]` is the id of
    image k in the ground truth's file. `sizes[k]` is the width and height of image k in pixels.
    """

    answers: Sequence[tuple[str, Answer]]
    order: NDArray[np.int64]
    source_ids: NDArray[np.int64]
    sizes: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Remarks:
    """The remarks to a contestant about its answers, shown after a rehearsal.

    `images_answered` is None if the track does not count it. `lines` are pairs of a label, eleven
    letters at most, and a text. `warnings` say what is probably wrong, and what to do.
    """

    images_answered: int | None = None
    lines: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Champion:
    """A winner of a past year, as published: accuracy, energy and score in the track's units."""

    accuracy: float
    energy_wh: float
    score: float


class Scorer(Protocol[_Taken]):
    """A running score of answers; it must not depend on how rows are split into answers."""

    def add(self, answer: _Taken) -> None:
        """Add the rows of one answer; its image ids are the manifest's."""

    def outcome(self) -> Outcome:
        """Return the score of the rows so far."""


class Track(ABC, Generic[Answer]):
    """One competition's rules; the track's module holds its one instance as `TRACK`."""

    name: str
    """The track's name in `contest.toml` and in the database."""
    accuracy: Figure
    """The presentation of the accuracy, the number that a scorer computes."""
    score: Figure
    """The presentation of the score, which follows from accuracy and energy."""
    delivery: Delivery = Delivery.FETCHED
    ranking: Ranking = Ranking("score")
    """The places. A track whose score is accuracy / energy names both, so that ties are exact."""
    champions: Mapping[int, Champion] = {}
    """The winners of past years, as reference lines beside a ranking."""
    sigma_prizes: bool = False
    """Whether the extra prizes of 2015-16 belong to the rules."""
    form_fields: tuple[str, ...] = ()
    """The fields of an HTML form that make an answer."""

    def parse_form(self, fields: Fields) -> Answer:
        """Parse the fields of an HTML form; the caller passes only `form_fields`.

        This method and `parse` take a post whole or raise `Refusal`. The default refuses.
        """
        raise self._not_taken(FORM)

    def parse(self, answer_format: AnswerFormat, body: bytes) -> Answer:
        """Parse a body of a format of `referee.formats.answer_formats`.

        By default a method of the track takes it, for example `parse_csv(body)` takes the format
        `csv`. A track without the method refuses the format.
        """
        method = getattr(self, f"parse_{answer_format.name}", None)
        if method is None:
            raise self._not_taken(answer_format.name)
        answer: Answer = method(body)
        return answer

    @abstractmethod
    def flag(
        self, answer: Answer, image_count: int, class_ids: NDArray[np.int64], /
    ) -> tuple[Flag, ...]:
        """Return the rows that can never count, each with its reason, by ascending row.

        Image ids are the contestant's numbers, 1…image_count. `class_ids` is ascending.
        """

    def lacks(self, answer: Answer, answer_format: str) -> tuple[str, ...]:
        """Return what a post of this format lacks, a sentence each.

        The referee has filled it in, or has taken it as it is.
        """
        return ()

    @abstractmethod
    def pack(self, answer: Answer, /) -> bytes:
        """Return an answer as bytes for the database."""

    @abstractmethod
    def unpack(self, content: bytes, /) -> Answer:
        """Return the answer that `pack` made into bytes, equal to the last bit."""

    @abstractmethod
    def join(self, answers: Sequence[Answer], /) -> Answer:
        """Return the rows of all answers in the order given; no answers give no rows."""

    def unpack_all(self, contents: Sequence[bytes], /) -> Answer:
        """Return the rows of many packed answers, in the order given."""
        return self.join([self.unpack(content) for content in contents])

    @abstractmethod
    def in_manifest_ids(self, answer: Answer, order: NDArray[np.int64]) -> Answer:
        """Replace image numbers by manifest ids, see `referee.core.order.to_manifest_ids`."""

    @abstractmethod
    def rows(self, answer: Answer, /) -> Iterator[Sequence[object]]:
        """Yield the rows of the bundle's detections.csv; from them anybody can score again."""

    def text(self, answer: Answer, /) -> bytes:
        """Return the rows as the lines of detections.csv; a track of many rows has a faster way."""
        return csv_lines(self.rows(answer))

    def from_text(self, text: bytes, /) -> Answer:
        """Return the answer that `text` made into lines, equal to the last bit.

        Raises `Refusal` for other lines. A track whose posts look different overrides it.
        """
        return self.parse(CSV, text)

    def answers_from_text(self, text: bytes, counts: Sequence[int]) -> Iterator[Answer]:
        """Yield the answers whose lines follow each other in a text; `counts` are their rows.

        Raises `Refusal` or `FormatError` for lines that are no answer.
        """
        lines = text.splitlines(keepends=True)
        start = 0
        for count in counts:
            yield self.from_text(b"".join(lines[start : start + count]))
            start += count

    @abstractmethod
    def scorer(self, truth: GroundTruth) -> Scorer[Answer]:
        """Return a scorer without answers; live and final score both use it."""

    @abstractmethod
    def score_of(self, accuracy: float | None, energy_wh: float | None, /) -> float | None:
        """Return the score, or None if there is none."""

    def images_answered(self, answer: Answer) -> NDArray[np.int64] | None:
        """Return the image ids of an answer, or None for a track whose answers name no images."""
        return None

    def report(self, outcome: Outcome, energy_wh: float | None, images_processed: int) -> Report:
        """Return the content of score.json, except for the session's own fields.

        It must contain the fields of `accuracy` and `score`. `energy_wh` is None if the energy is
        missing or INVALID. `images_processed` counts the images answered, or those fetched where
        the track does not tell which were answered.
        """
        score = self.score_of(outcome.accuracy, energy_wh)
        return outcome.report() | {self.accuracy.field: outcome.accuracy, self.score.field: score}

    def remarks(
        self, sent: SentAnswers[Answer], truth: GroundTruth, accuracy: float | None
    ) -> Remarks:
        """Return the remarks to a contestant about answers that scored `accuracy`."""
        return Remarks()

    def _not_taken(self, name: str) -> Refusal:
        return Refusal(
            "media_type_unknown",
            f"Nothing was stored: the track '{self.name}' takes no answers as {name}.",
        )
