# SPDX-License-Identifier: Apache-2.0
"""Queries for the contest's material: the image manifest, the classes and the input files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256


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
class ImageCounts:
    """What came and what was taken when the images were prepared.

    `listed` is the number of images in the ground truth, `used` that of the contest's images.
    `used_listed` of them are in the ground truth. `other_files` are in the folder and not used.
    """

    listed: int
    used: int
    used_listed: int
    other_files: int


@dataclass(frozen=True)
class Manifest:
    """The images in order of their ids, the class names by id, and the input files by name.

    `counts` is None in a database that a referee without counts has prepared.
    """

    images: tuple[ImageEntry, ...]
    classes: Mapping[int, str]
    inputs: Mapping[str, InputFile]
    counts: ImageCounts | None = None


def load_manifest(connection: sqlite3.Connection) -> Manifest:
    """Return the stored manifest; it is empty before the first preparation."""
    images = connection.execute(
        "select image_id, source_id, path, media_type, size_bytes, modified_ns, sha256, width,"
        " height from images order by image_id"
    )
    classes = connection.execute("select class_id, name from classes order by class_id")
    return Manifest(
        images=tuple(ImageEntry(*row) for row in images),
        classes={row["class_id"]: row["name"] for row in classes},
        inputs=load_inputs(connection),
        counts=load_counts(connection),
    )


def load_counts(connection: sqlite3.Connection) -> ImageCounts | None:
    """Return what was counted when the images were prepared last; None if nothing was."""
    row = connection.execute(
        "select listed, used, used_listed, other_files from image_counts"
    ).fetchone()
    return None if row is None else ImageCounts(*row)


def load_inputs(connection: sqlite3.Connection) -> dict[str, InputFile]:
    """Return the input files of the stored manifest by name."""
    inputs = connection.execute("select name, path, sha256 from inputs order by name")
    return {row["name"]: InputFile(row["path"], row["sha256"]) for row in inputs}


def manifest_digest(manifest: Manifest) -> str:
    """Return the SHA-256, in hex, of what the images, classes and input files are.

    It is that of a JSON text: for each image its ids, bytes, SHA-256 and size in pixels, then the
    classes, then the SHA-256 of each input file. Names of files and folders do not count.
    """
    content = {
        "images": [
            [e.image_id, e.source_id, e.size_bytes, e.sha256, e.width, e.height]
            for e in manifest.images
        ],
        "classes": {str(class_id): name for class_id, name in manifest.classes.items()},
        "inputs": {name: file.sha256 for name, file in manifest.inputs.items()},
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("ascii")).hexdigest()


def note_material(connection: sqlite3.Connection, configuration: str) -> None:
    """Store what the sessions from now on are run with, unless the newest row says the same."""
    images = manifest_digest(load_manifest(connection))
    if newest_material(connection) != (images, configuration):
        connection.execute(
            "insert into materials (images, configuration) values (:images, :configuration)",
            {"images": images, "configuration": configuration},
        )


def newest_material(connection: sqlite3.Connection) -> tuple[str, str] | None:
    """Return the digest of images and ground truth, and contest.toml, as they are since a start."""
    newest = connection.execute(
        "select images, configuration from materials order by material_id desc limit 1"
    ).fetchone()
    return None if newest is None else (newest[0], newest[1])


def configuration_of(connection: sqlite3.Connection, session_id: int) -> str | None:
    """Return the text of contest.toml that a session was made under; None if none was noted."""
    row = connection.execute(
        "select configuration from chain join materials on material_id = row_id"
        " where session_id = :session and subject = 'materials' order by link_id limit 1",
        {"session": session_id},
    ).fetchone()
    return None if row is None else str(row[0])


def keep_blacklist(connection: sqlite3.Connection, content: bytes) -> None:
    """Store the bytes of a blacklist, unless they are stored already."""
    digest = sha256(content).hexdigest()
    if blacklist_of(connection, digest) is None:
        connection.execute(
            "insert into blacklists (sha256, content) values (:sha256, :content)",
            {"sha256": digest, "content": content},
        )


def blacklist_of(connection: sqlite3.Connection, digest: str) -> bytes | None:
    """Return the bytes of a stored blacklist by their SHA-256, or None."""
    row = connection.execute(
        "select content from blacklists where sha256 = :sha256", {"sha256": digest}
    ).fetchone()
    return None if row is None else bytes(row[0])


def strange_manifest(connection: sqlite3.Connection) -> bool:
    """Tell whether images, classes or input files are others than the newest `materials` says."""
    newest = connection.execute(
        "select images from materials order by material_id desc limit 1"
    ).fetchone()
    return newest is not None and newest[0] != manifest_digest(load_manifest(connection))


def replace_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Replace the stored manifest; of equal contents only places and counts are updated.

    The database refuses other contents while there are sessions, so the caller asks before.
    """
    _replace_counts(connection, manifest.counts)
    if manifest_digest(load_manifest(connection)) == manifest_digest(manifest):
        _move_files(connection, manifest)
        return
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


def _replace_counts(connection: sqlite3.Connection, counts: ImageCounts | None) -> None:
    connection.execute("delete from image_counts")
    if counts is not None:
        connection.execute(
            "insert into image_counts values (1, :listed, :used, :used_listed, :other_files)",
            vars(counts),
        )


def _move_files(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Store where the files of the same contents lie now."""
    connection.executemany(
        "update images set path = :path, modified_ns = :modified_ns where image_id = :image_id",
        [vars(entry) for entry in manifest.images],
    )
    connection.executemany(
        "update inputs set path = ? where name = ?",
        [(file.path, name) for name, file in manifest.inputs.items()],
    )
