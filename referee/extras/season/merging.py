# SPDX-License-Identifier: Apache-2.0
"""The rows of a season that were there and those that came, as one set of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.extras.season.rows import Row


@dataclass(frozen=True)
class Present:
    """The bundles that are there now: their names, and the hashes that are known by name."""

    names: set[str]
    digests: dict[str, str | None]


_Identity = tuple[str, str, str, str]


def merged(before: Sequence[Row], fresh: Sequence[Row], present: Present) -> list[Row]:
    """Return one row for each bundle, ground truth and set of rules; the newest takes the place.

    A row has every name of its bundle's bytes: the first as `file`, the others as `copies`. A name
    that belongs to other bytes by now is taken from the row, and a row without a name is dropped.
    Rows of bundles that are not there any more stay.
    """
    named: dict[str, set[str]] = {}
    for name, digest in present.digests.items():
        if digest is not None:
            named.setdefault(digest, set()).add(name)
    rows: dict[_Identity, Row] = {}
    unread = [row for row in before if _is_unread(row) and row["file"] not in present.names]
    for row in (*unread, *filter(_is_unread, fresh)):
        rows[_identity(row["file"], row)] = row
    for row in (*before, *fresh):
        digest = row["bundle_sha256"]
        if digest is None:
            continue
        names = ({row["file"], *row["copies"]} - present.names) | named.get(digest, set())
        if names:
            first, *others = sorted(names)
            rows[_identity(digest, row)] = row | {"file": first, "copies": others}
    return list(rows.values())


def _is_unread(row: Row) -> bool:
    """Tell whether not even the bundle's hash is known."""
    return row["bundle_sha256"] is None


def _identity(bundle: str, row: Row) -> _Identity:
    return (bundle, row["truth_sha256"], row["rules"], row["rules_version"])
