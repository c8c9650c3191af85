# SPDX-License-Identifier: Apache-2.0
"""The file of a season: a line of JSON for each bundle, ground truth and set of rules.

Equal rows give equal bytes, whoever computed them and in which order. `docs/season.md` explains
each field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from referee import __version__
from referee.errors import InputError
from referee.formats.text import read_bytes
from referee.scoring.rules import Rules
from referee.tracks.loading import not_trusted, trusted_tracks

Row = dict[str, Any]
"""A line of the file: plain values by field."""

FORMAT = 1
"""The version of the rows; a field that changes its meaning makes another."""

SCORED, BROKEN = "scored", "broken"
"""The values of `status`."""

OF_BUNDLE = (
    *("event", "station", "session", "lane", "team", "track", "started_utc", "voided_utc"),
    *("old", "new", "reproduces", "joint"),
)
"""The fields that a broken row leaves null."""

_KEY = ("truth_sha256", "rules", "rules_version", "referee_version", "seed", "resamples")
_FIELDS = {"format", "status", "reason", "file", "copies", "bundle_sha256", *_KEY, *OF_BUNDLE}

Key = tuple[Any, ...]


def asked_key(truth_sha256: str, rules: Rules, seed: int, resamples: int) -> Key:
    """Return what tells apart the rows of one bundle: all that a number in a row depends on."""
    return (truth_sha256, rules.name, rules.version, __version__, seed, resamples)


def key_of(row: Row) -> Key:
    """Return the same of a row."""
    return tuple(row[field] for field in _KEY)


def new_row(key: Key, bundle_sha256: str | None, told: Mapping[str, Any]) -> Row:
    """Return a scored row; `told` has the fields of `OF_BUNDLE`."""
    fields = dict.fromkeys(OF_BUNDLE) | dict(told)
    fields |= {"format": FORMAT, "status": SCORED, "reason": None, "file": "", "copies": []}
    return fields | {"bundle_sha256": bundle_sha256} | dict(zip(_KEY, key, strict=True))


def broken_row(key: Key, bundle_sha256: str | None, reason: str) -> Row:
    """Return the row of a bundle that could not be scored; `reason` is a sentence."""
    return new_row(key, bundle_sha256, {}) | {"status": BROKEN, "reason": reason}


def rules_of(row: Row) -> str:
    """Return the name and the version of the new rules."""
    return f"{row['rules']} {row['rules_version']}"


def reproduced(rows: Iterable[Row]) -> dict[tuple[str | None, str], bool]:
    """Return by bundle and ground truth whether the bundle's own rules gave its own mAP.

    A bundle without a row under its own rules is left out. One row that differs is enough.
    """
    found: dict[tuple[str | None, str], bool] = {}
    for row in rows:
        if row["reproduces"] is not None:
            key = (row["bundle_sha256"], row["truth_sha256"])
            found[key] = found.get(key, True) and row["reproduces"]
    return found


def of_trusted_tracks(rows: Iterable[Row], track: str | None = None) -> list[Row]:
    """Return the rows; one of a track that nobody trusts is broken, and says so.

    Trusted are the referee's own tracks, and that of the module `track`, which the caller names.
    """
    known = {it.name for it in trusted_tracks(track).values()}
    return [
        broken_row(key_of(row), row["bundle_sha256"], not_trusted(str(row["track"]), track))
        | {"file": row["file"]}
        if row["status"] == SCORED and row["track"] not in known
        else row
        for row in rows
    ]


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
        missing = _FIELDS - row.keys()
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
    return dict(row)
