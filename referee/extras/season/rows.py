# SPDX-License-Identifier: Apache-2.0
"""The file of a season: a line of JSON for each bundle, ground truth and set of rules.

Equal rows give equal bytes, whoever computed them and in which order. `docs/season.md` explains
each field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NotRequired, TypedDict, cast

from referee import __version__
from referee.core.conditions import Value
from referee.errors import InputError
from referee.formats.text import read_bytes
from referee.scoring import Rules
from referee.tracks.loading import not_trusted, trusted_tracks

FORMAT = 1
"""The version of the rows; a field that changes its meaning makes another."""

SCORED: Final = "scored"
BROKEN: Final = "broken"
"""The values of `status`."""


class OldResult(TypedDict):
    """What a bundle's `score.json` says; `reason` is the first one of the verdict.

    A file may lack some of it.
    """

    mean_ap: float | None
    score: float | None
    rules: str | None
    rules_version: str | None
    energy_wh: float | None
    uncertainty_wh: float | None
    verdict: str | None
    reason: NotRequired[str | None]
    images_fetched: int
    images_answered: NotRequired[int | None]
    detections: int
    normalized_accuracy: float | None
    emulated: NotRequired[bool | None]
    inputs: NotRequired[dict[str, str]]
    mean_ap_interval: list[float] | None
    score_interval: list[float] | None


class NewResult(TypedDict):
    """The result under the new rules, with the counts of the evaluation."""

    mean_ap: float | None
    mean_ap_interval: list[float] | None
    mean_ap_standard_error: float | None
    score: float | None
    score_interval: list[float] | None
    score_from_images: list[float] | None
    score_from_energy: list[float] | None
    normalized_accuracy: float | None
    classes_with_ground_truth: int
    images: int
    truth_boxes: int
    detections: int
    scored: int
    ignored: dict[str, int]
    true_positives: int
    duplicates: int
    inverted: int
    coordinate_not_finite: int


class JointDraws(TypedDict):
    """The draws that all bundles of one ground truth share; see `joint.py`.

    `weight` and `deciding` are those of `RareImages`; rows of earlier versions lack them.
    """

    key: str
    seed: int
    draws: int
    with_truth: int
    halves: str
    quarters: str
    parts: str
    weight: NotRequired[float]
    deciding: NotRequired[float]


class _Told(TypedDict, total=False):
    """How a session was run and scored; rows of an early version lack it."""

    conditions: dict[str, Value] | None


class SessionFields(_Told):
    """The fields of a row that the bundle itself tells."""

    event: str | None
    station: str | None
    session: int
    lane: int
    team: str
    track: str
    started_utc: str | None
    voided_utc: str | None
    old: OldResult | None


class BundleFields(SessionFields):
    """The fields that a broken row leaves null."""

    new: NewResult
    reproduces: bool | None
    joint: JointDraws | None


class _AnyRow(TypedDict):
    format: int
    reason: str | None
    file: str
    copies: list[str]
    bundle_sha256: str | None
    truth_sha256: str
    rules: str
    rules_version: str
    referee_version: str
    seed: int
    resamples: int


class ScoredRow(_AnyRow, BundleFields):
    """A line of the file: a bundle under one ground truth and one set of rules."""

    status: Literal["scored"]


class BrokenRow(_AnyRow):
    """The line of a bundle that could not be scored; `reason` says why."""

    status: Literal["broken"]
    event: None
    station: None
    session: None
    lane: None
    team: None
    track: None
    started_utc: None
    voided_utc: None
    old: None
    conditions: None
    new: None
    reproduces: None
    joint: None


Row = ScoredRow | BrokenRow

OF_BUNDLE = tuple(BundleFields.__annotations__)
"""The fields that a broken row leaves null."""


class RowKey(NamedTuple):
    """What tells apart the rows of one bundle: all that a number in a row depends on."""

    truth_sha256: str
    rules: str
    rules_version: str
    referee_version: str
    seed: int
    resamples: int


def asked_key(truth_sha256: str, rules: Rules, seed: int, resamples: int) -> RowKey:
    """Return the key of the rows that this program writes."""
    return RowKey(truth_sha256, rules.name, rules.version, __version__, seed, resamples)


def key_of(row: Row) -> RowKey:
    """Return the key of a row."""
    return RowKey(
        row["truth_sha256"],
        row["rules"],
        row["rules_version"],
        row["referee_version"],
        row["seed"],
        row["resamples"],
    )


def new_row(key: RowKey, bundle_sha256: str, fields: BundleFields, file: str = "") -> ScoredRow:
    """Return a scored row."""
    return {**_any_row(key, bundle_sha256, None, file), **fields, "status": SCORED}


def broken_row(key: RowKey, bundle_sha256: str | None, reason: str, file: str = "") -> BrokenRow:
    """Return the row of a bundle that could not be scored; `reason` is a sentence."""
    row = {**_any_row(key, bundle_sha256, reason, file), **dict.fromkeys(OF_BUNDLE)}
    return cast(BrokenRow, row | {"status": BROKEN})


def _any_row(key: RowKey, bundle_sha256: str | None, reason: str | None, file: str) -> _AnyRow:
    return {
        "format": FORMAT,
        "reason": reason,
        "file": file,
        "copies": [],
        "bundle_sha256": bundle_sha256,
        "truth_sha256": key.truth_sha256,
        "rules": key.rules,
        "rules_version": key.rules_version,
        "referee_version": key.referee_version,
        "seed": key.seed,
        "resamples": key.resamples,
    }


def rules_of(row: Row) -> str:
    """Return the name and the version of the new rules."""
    return f"{row['rules']} {row['rules_version']}"


def reproduced(rows: Iterable[Row]) -> dict[tuple[str | None, str], bool]:
    """Return by bundle and ground truth whether the bundle's own rules gave its own mAP.

    A bundle without a row under its own rules is left out. One row that differs is enough.
    """
    by_key: dict[tuple[str | None, str], bool] = {}
    for row in rows:
        if row["reproduces"] is not None:
            key = (row["bundle_sha256"], row["truth_sha256"])
            by_key[key] = by_key.get(key, True) and row["reproduces"]
    return by_key


def of_trusted_tracks(rows: Iterable[Row], track: str | None = None) -> list[Row]:
    """Return the rows; one of a track that nobody trusts is broken, and says so.

    Trusted are the referee's own tracks, and that of the module `track`, which the caller names.
    """
    known = {known_track.name for known_track in trusted_tracks(track).values()}

    def trusted(row: Row) -> Row:
        if row["status"] == BROKEN or row["track"] in known:
            return row
        why = not_trusted(row["track"], track)
        return broken_row(key_of(row), row["bundle_sha256"], why, row["file"])

    return [trusted(row) for row in rows]


def row_line(row: Row) -> bytes:
    """Return the bytes of a row."""
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii") + b"\n"


def season_bytes(rows: Iterable[Row]) -> bytes:
    """Return the whole file: the rows in the order of file names, truths and rules."""
    return b"".join(map(row_line, sorted(rows, key=_place)))


def _place(row: Row) -> tuple[Any, ...]:
    return (row["file"], row["bundle_sha256"] or "", *map(str, key_of(row)))


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a season's file; raise `InputError`, which names the line."""
    return [
        read_row(path, number, line)
        for number, line in enumerate(read_bytes(path).splitlines(), start=1)
    ]


def read_row(path: Path, number: int, line: bytes) -> Row:
    """Return the row in a line; raise `InputError` with the line's number."""
    try:
        row = json.loads(line)
        missing = ScoredRow.__required_keys__ - row.keys()
        newer = row.get("format") != FORMAT
    except (ValueError, RecursionError, AttributeError):
        raise InputError(
            f"{path}, line {number}: is no row of a season. Name a file that 'referee rescore'"
            " wrote"
        ) from None
    if newer:
        raise InputError(
            f"{path}, line {number}: has the format {row.get('format')!r}, and this program knows "
            f"{FORMAT}: use the version of the referee that wrote the file"
        )
    if missing:
        raise InputError(f"{path}, line {number}: lacks the field {min(missing)!r}")
    return cast(Row, row)
