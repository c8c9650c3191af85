# SPDX-License-Identifier: Apache-2.0
"""What a score needs of a bundle, read as a stranger hands it over.

Nothing is unpacked to the disk, and no module that a bundle names is loaded. `referee verify`
proves that a bundle holds; here each member that is used must have its hash in the manifest.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.order import to_manifest_ids
from referee.errors import RefereeError
from referee.extras.season.rows import SessionFields
from referee.extras.season.told import OldScore, SessionTold
from referee.formats.faults import FormatError
from referee.service.evidence.bundle_file import (
    MANIFEST,
    NO_VALUE,
    NotABundle,
    opened_bundle,
    read_digests,
    read_some,
)
from referee.service.evidence.signature import read_envelope
from referee.tracks.loading import not_trusted, trusted_tracks
from referee.tracks.track import Track

Ints = NDArray[np.int64]

_SESSION, _IMAGES, _ROWS = "session.json", "images.csv", "detections.csv"
_SCORE, _CONFIG = "score.json", "config.toml"
_NEEDED = (MANIFEST, _SESSION, _IMAGES, _ROWS)
_MEMBERS = (*_NEEDED, _SCORE, _CONFIG)


@dataclass(frozen=True, eq=False)
class BundleRead:
    """A bundle's session, its images and its detections in time.

    `source_ids[k - 1]` is the ground truth's own id of image k. `detections` have the image ids k.
    `told` are the fields of a row that the bundle itself tells, `old` among them.
    """

    sha256: str
    told: SessionFields
    images_fetched: int
    class_ids: Ints
    source_ids: Ints
    detections: Detections


def digest_of_bundle(path: Path) -> str:
    """Return the SHA-256 of a file in hex; raise `NotABundle` if it cannot be read."""
    with opened_bundle(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_bundle(path: Path, track: str | None = None) -> BundleRead:
    """Read a bundle; raise `NotABundle`, which says what is wrong in which member.

    Its track is one of the referee's own, or that of the module `track`, which the caller names.
    """
    with opened_bundle(path) as file:
        # One descriptor, so that both see the same file where another takes its place.
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        members = read_some(file, _MEMBERS)
    for name in _NEEDED:
        if name not in members:
            raise NotABundle(name, "The member is missing.")
    stations = _require_hashes(members)
    session: SessionTold = _typed(SessionTold, _SESSION, members[_SESSION])
    rules = {it.name: it for it in trusted_tracks(track).values()}.get(session.track)
    if rules is None:
        raise NotABundle(_SESSION, not_trusted(session.track, track))
    old: OldScore | None = _typed(OldScore | None, _SCORE, members.get(_SCORE, b"null"))
    order, source_ids = _images(members[_IMAGES])
    event, station = _event(members.get(_CONFIG, b"")), min(stations, default=None)
    return BundleRead(
        sha256=digest,
        told=session.fields(event, station, old),
        images_fetched=0 if old is None else old.images_fetched,
        class_ids=_class_ids(session),
        source_ids=source_ids,
        detections=_detections(members, rules, order),
    )


def _require_hashes(members: Mapping[str, bytes]) -> list[str]:
    """Compare each member with its hash in the manifest; return the ids of the keys that signed."""
    manifest = read_digests(members)
    envelope, digests = manifest.envelope, manifest.sha256
    stations = [] if envelope is None else sorted(read_envelope(envelope).signatures)
    for name in sorted(members.keys() - {MANIFEST}):
        found = hashlib.sha256(members[name]).hexdigest()
        if found != digests.get(name):
            raise NotABundle(name, f"found SHA-256 {found}, expected {digests.get(name)}.")
    return stations


def _typed(shape: Any, member: str, content: bytes) -> Any:
    try:
        return msgspec.json.decode(content, type=shape)
    except NO_VALUE as error:
        raise NotABundle(member, f"It is not as a referee writes it: {error}.") from None


def _class_ids(session: SessionTold) -> Ints:
    try:
        return np.array(sorted(map(int, session.classes)), dtype=np.int64)
    except NO_VALUE as error:
        raise NotABundle(_SESSION, f"It has a class that is no number: {error}.") from None


def _images(content: bytes) -> tuple[Ints, Ints]:
    """Return the image id behind each number, and the ground truth's own id of each image id."""
    try:
        header, *rows = csv.reader(StringIO(content.decode("utf-8"), newline=""))
        number, image_id, source_id = (
            np.array([int(row[place]) for row in rows], dtype=np.int64)
            for place in map(header.index, ("number", "image_id", "source_id"))
        )
    except (*NO_VALUE, csv.Error) as error:
        raise NotABundle(_IMAGES, f"It is no list of images: {error}.") from None
    expected = np.arange(1, len(rows) + 1)
    if not np.array_equal(number, expected) or not np.array_equal(np.sort(image_id), expected):
        raise NotABundle(_IMAGES, "Its numbers and image ids are not 1 to N, each once.")
    return image_id, source_id[np.argsort(image_id)]


def _detections(members: Mapping[str, bytes], rules: Track[Any], order: Ints) -> Detections:
    try:
        posted = rules.from_text(members[_ROWS])
    except (RefereeError, FormatError) as error:
        raise NotABundle(_ROWS, f"{error}.") from None
    if not isinstance(posted, Detections):
        raise NotABundle(_ROWS, f"The answers of the track '{rules.name}' are no detections.")
    return posted.with_image_ids(to_manifest_ids(posted.image_id, order))


def _event(config: bytes) -> str | None:
    """Return the contest's name, or None if its configuration does not tell it."""
    try:
        name = tomllib.loads(config.decode("utf-8"))["contest"]["name"]
    except NO_VALUE:
        return None
    return name if isinstance(name, str) else None
