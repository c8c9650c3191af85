# SPDX-License-Identifier: Apache-2.0
"""What a score needs of a bundle, read as a stranger hands it over.

Nothing is unpacked to the disk, and no module that a bundle names is loaded. `referee verify`
proves that a bundle holds; here it must be what was signed (`as_signed.py`).
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.core.conditions import Value
from referee.core.order import to_manifest_ids
from referee.errors import RefereeError
from referee.extras.season.rows import OldResult, SessionFields
from referee.formats.faults import FormatError
from referee.scoring import Detections
from referee.scoring.uncertainty import gives_interval
from referee.service.event.told_conditions import TELLING_MEMBERS, conditions_in_bundle
from referee.service.evidence.as_signed import AsSigned, read_as_signed
from referee.service.evidence.bundle_file import (
    NO_VALUE,
    SESSION_MOST,
    NotABundle,
    opened_bundle,
)
from referee.tracks.loading import not_trusted, trusted_tracks
from referee.tracks.track import Track

Ints = NDArray[np.int64]

_SESSION, _IMAGES, _ROWS = "session.json", "images.csv", "detections.csv"
_SCORE, _CONFIG = "score.json", "config.toml"
_NEEDED = (_SESSION, _IMAGES, _ROWS)
_MEMBERS = tuple(dict.fromkeys([*_NEEDED, _SCORE, _CONFIG, *TELLING_MEMBERS]))


Words = Annotated[str, msgspec.Meta(max_length=1000)]
"""A name or a word; a stranger's megabyte would stand in every row."""

_REASON_MOST = 300


class BundleMoment(msgspec.Struct):
    """A moment of a session."""

    utc: Words


class BundleInput(msgspec.Struct):
    """A file that a session was prepared with."""

    sha256: Words


Count = Annotated[int, msgspec.Meta(ge=0, le=SESSION_MOST)]


class SessionTold(msgspec.Struct):
    """What `session.json` tells of a session."""

    session: Count
    team: Words
    lane: Count
    track: Words
    moments: dict[str, BundleMoment | None]
    classes: dict[str, str]
    inputs: dict[Words, BundleInput]

    def fields(
        self,
        event: str | None,
        station: str | None,
        old: OldScore | None,
        conditions: dict[str, Value] | None,
    ) -> SessionFields:
        """Return the fields of a row: those of the session, with what other members tell."""
        started, voided = self.moments.get("started"), self.moments.get("voided")
        return {
            "event": event,
            "station": station,
            "session": self.session,
            "team": self.team,
            "lane": self.lane,
            "track": self.track,
            "started_utc": None if started is None else started.utc,
            "voided_utc": None if voided is None else voided.utc,
            "old": None if old is None else old.fields(self),
            "conditions": conditions,
        }


class OldIntervals(msgspec.Struct):
    """The ends of the 95 % intervals in `score.json`."""

    mean_ap: tuple[float, float] | None = None
    score: tuple[float, float] | None = None


class OldScore(msgspec.Struct):
    """The score that a bundle was exported with; later versions of the referee told more of it.

    `uncertainty_wh` is a limit of error, no standard uncertainty.
    """

    mean_ap: float | None
    score: float | None
    energy_wh: float | None
    verdict: Words | None
    images_fetched: Count
    detections: Count
    images_answered: Count | None = None
    rules: Words | None = None
    rules_version: Words | None = None
    uncertainty_wh: float | None = None
    normalized_accuracy: float | None = None
    emulated: bool | None = None
    uncertainty: OldIntervals | None = None
    inputs: dict[Words, Words] | None = None
    reasons: list[str] | None = None

    def fields(self, session: SessionTold) -> OldResult:
        """Return the field `old` of a row.

        A score by other files than the session's names them itself. Of the reasons of the verdict
        the first one is kept.
        """
        intervals = self.uncertainty or OldIntervals()
        return {
            "mean_ap": self.mean_ap,
            "score": self.score,
            "rules": self.rules,
            "rules_version": self.rules_version,
            "energy_wh": self.energy_wh,
            "uncertainty_wh": self.uncertainty_wh,
            "verdict": self.verdict,
            "reason": self.reasons[0][:_REASON_MOST] if self.reasons else None,
            "images_fetched": self.images_fetched,
            "images_answered": self.images_answered,
            "detections": self.detections,
            "normalized_accuracy": self.normalized_accuracy,
            "emulated": self.emulated,
            "inputs": self.inputs or {name: facts.sha256 for name, facts in session.inputs.items()},
            "mean_ap_interval": _ends(intervals.mean_ap),
            "score_interval": _ends(intervals.score if gives_interval(self.verdict) else None),
        }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


@dataclass(frozen=True, eq=False)
class BundleRead:
    """A bundle's session, its images and its detections in time.

    `source_ids[k - 1]` is the ground truth's own id of image k. `detections` have the image ids k.
    `told` are the fields of a row that the bundle itself tells, `old` among them.
    `images_answered` are those of the score; without one, or in one of an early version, they are
    the images with a detection.
    """

    sha256: str
    told: SessionFields
    images_answered: int
    class_ids: Ints
    source_ids: Ints
    detections: Detections


def digest_of_bundle(path: Path) -> str:
    """Return the SHA-256 of a file in hex; raise `NotABundle` if it cannot be read."""
    with opened_bundle(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_signed(path: Path, any_of: Sequence[Path]) -> None:
    """Raise `NotABundle` unless one of these public keys has signed a bundle's manifest."""
    with opened_bundle(path) as file:
        read_as_signed(file, (), any_of)


def read_bundle(path: Path, track: str | None = None, any_of: Sequence[Path] = ()) -> BundleRead:
    """Read a bundle; raise `NotABundle`, which says what is wrong in which member.

    Its track is one of the referee's own, or that of the module `track`, which the caller names.
    With `any_of` one of these public keys must have signed it.
    """
    with opened_bundle(path) as file:
        # One descriptor, so that both see the same file where another takes its place.
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        bundle = read_as_signed(file, _MEMBERS, any_of)
    return _read(bundle, digest, track)


def _read(bundle: AsSigned, digest: str, track: str | None) -> BundleRead:
    members = bundle.members
    for name in _NEEDED:
        if name not in members:
            raise NotABundle(name, "The member is missing.")
    session: SessionTold = _typed(SessionTold, _SESSION, members[_SESSION])
    rules = {known.name: known for known in trusted_tracks(track).values()}.get(session.track)
    if rules is None:
        raise NotABundle(_SESSION, not_trusted(session.track, track))
    old: OldScore | None = _typed(OldScore | None, _SCORE, members.get(_SCORE, b"null"))
    order, source_ids = _images(members[_IMAGES])
    event, station = _event(members.get(_CONFIG, b"")), min(bundle.signers, default=None)
    detections = _detections(members, rules, order)
    answered = None if old is None else old.images_answered
    return BundleRead(
        sha256=digest,
        told=session.fields(event, station, old, _conditions(rules, members)),
        images_answered=_answered(detections, len(order)) if answered is None else answered,
        class_ids=_class_ids(session),
        source_ids=source_ids,
        detections=detections,
    )


def _conditions(rules: Track[Any], members: Mapping[str, bytes]) -> dict[str, Value] | None:
    """Return how the session was run and scored; None if the members tell it in no known form."""
    try:
        return asdict(conditions_in_bundle(rules, members))
    except NO_VALUE:
        return None


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


def _answered(detections: Detections, count: int) -> int:
    """Count the contest's images that have a detection, good or bad."""
    return len(np.intersect1d(detections.image_id, np.arange(1, count + 1)))


def _event(config: bytes) -> str | None:
    """Return the contest's name, or None if its configuration does not tell it."""
    try:
        name = tomllib.loads(config.decode("utf-8"))["contest"]["name"]
    except NO_VALUE:
        return None
    return name if isinstance(name, str) else None
