# SPDX-License-Identifier: Apache-2.0
"""Rows of the image manifest: which file is which image id, and what it must contain."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass

__all__ = ["ImageEntry", "load_manifest", "replace_manifest"]


@dataclass(frozen=True)
class ImageEntry:
    """Describe one image of the contest.

    `image_id` runs from 1 without a hole; `source_id` is the image's id in the ground truth.
    """

    image_id: int
    source_id: int
    path: str
    media_type: str
    size_bytes: int
    modified_ns: int
    sha256: str
    width: int
    height: int


def load_manifest(connection: sqlite3.Connection) -> list[ImageEntry]:
    """Return the images by ascending image id."""
    return [
        ImageEntry(*row)
        for row in connection.execute(
            "select image_id, source_id, path, media_type, size_bytes, modified_ns, sha256, width,"
            " height from images order by image_id"
        )
    ]


def replace_manifest(connection: sqlite3.Connection, entries: Sequence[ImageEntry]) -> None:
    """Store the images; the caller has made sure that no session relies on other ones."""
    connection.execute("delete from images")
    connection.executemany(
        "insert into images values (:image_id, :source_id, :path, :media_type, :size_bytes,"
        " :modified_ns, :sha256, :width, :height)",
        [asdict(entry) for entry in entries],
    )
