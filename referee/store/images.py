# SPDX-License-Identifier: Apache-2.0
"""Queries for the contest's material: the image manifest, the classes and the input files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ImageEntry:
    """One image of the contest.

    `image_id` counts from 1 without gaps. `source_id` is the image's id in the ground truth.
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


@dataclass(frozen=True)
class InputFile:
    """A file or folder from which the contest was made, with its SHA-256 digest."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The images in order of their ids, the class names by id, and the input files by name."""

    images: tuple[ImageEntry, ...]
    classes: Mapping[int, str]
    inputs: Mapping[str, InputFile]


def load_manifest(connection: sqlite3.Connection) -> Manifest:
    """Return the stored manifest; it is empty before the first preparation."""
    images = connection.execute(
        "select image_id, source_id, path, media_type, size_bytes, modified_ns, sha256, width,"
        " height from images order by image_id"
    )
    classes = connection.execute("select class_id, name from classes order by class_id")
    inputs = connection.execute("select name, path, sha256 from inputs order by name")
    return Manifest(
        images=tuple(ImageEntry(*row) for row in images),
        classes={row["class_id"]: row["name"] for row in classes},
        inputs={row["name"]: InputFile(row["path"], row["sha256"]) for row in inputs},
    )


def replace_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Replace the stored manifest.

    The caller must make sure that no session depends on the manifest that is replaced.
    """
    for table in ("images", "classes", "inputs"):
        connection.execute(f"delete from {table}")
    connection.executemany(
        "insert into images values (:image_id, :source_id, :path, :media_type, :size_bytes,"
        " :modified_ns, :sha256, :width, :height)",
        [vars(entry) for entry in manifest.images],
    )
    connection.executemany("insert into classes values (?, ?)", manifest.classes.items())
    connection.executemany(
        "insert into inputs values (?, ?, ?)",
        [(name, file.path, file.sha256) for name, file in manifest.inputs.items()],
    )
