# SPDX-License-Identifier: Apache-2.0
"""A prepared contest, and its preparation before the processes start."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.core.order import image_order
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.hashed_reads import HashedReads
from referee.formats.image_ids import renumber
from referee.formats.truth_file import GroundTruthFile
from referee.service.setup.blacklist import bytes_to_keep
from referee.service.setup.clock import Clock, SystemClock
from referee.service.setup.config import Config
from referee.service.setup.manifest import Progress, build_images
from referee.service.setup.private_files import (
    close_to_others,
    make_private,
    private_from_the_start,
)
from referee.service.setup.secrets_file import Secrets, load_secrets
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.database import Database
from referee.store.images import (
    ImageEntry,
    InputFile,
    Manifest,
    keep_blacklist,
    load_manifest,
    manifest_digest,
    note_material,
    replace_manifest,
)
from referee.store.sessions import SessionRecord, all_sessions
from referee.tracks.camera.code import FrameLabel, session_tag
from referee.tracks.loading import load_track
from referee.tracks.track import Delivery, Track


@dataclass(frozen=True)
class Contest:
    """A prepared contest: configuration, clock, database, keys, track, images and classes.

    `images[k-1]` has image id k. `class_ids` is in ascending order.
    """

    config: Config
    clock: Clock
    database: Database
    secrets: Secrets
    track: Track[Any]
    images: tuple[ImageEntry, ...]
    classes: Mapping[int, str]
    class_ids: NDArray[np.int64]

    @property
    def image_count(self) -> int:
        """Return the number of images N; contestants number them 1 to N."""
        return len(self.images)


_OWN_FOLDER = (
    "Give this contest a folder of its own: 'referee practice --data DIR', or another [storage] "
    "folder in contest.toml."
)


def prepare_contest(
    config: Config, *, progress: Progress = lambda done, total: None
) -> tuple[Database, Manifest]:
    """Create or open the contest's folder and update its image manifest.

    Afterwards only this user can read the referee's files in the folder. Files that were moved or
    copied again are the same while their contents are. Raises `InputError` for inputs that cannot
    be used. Raises it also if the folder has sessions with other images, because their scores
    would no longer fit the images that were shown.
    """
    track = load_track(config.contest.track)
    make_private(config.storage.folder)
    close_to_others(config.path)
    with private_from_the_start():
        load_secrets(config.storage.folder)
        ensure_signing_key(config.storage.folder, config.path)
        database = Database(config.database)
        database.migrate()
        _require_track(config, database, track)
    stored = load_manifest(database.connection)
    reads = HashedReads()
    inputs = _input_files(config, reads)
    truth = _read_truth(config, reads)
    images = build_images(config.images.folder, truth, known=stored.images, progress=progress)
    if track.delivery is Delivery.SHOWN:
        require_showable(images)
    names = truth.truth.class_names
    manifest = Manifest(
        images=images,
        classes={int(c): names.get(int(c), str(c)) for c in truth.truth.class_ids},
        inputs=inputs,
    )
    listed = bytes_to_keep(config.images.blacklist, reads)
    if manifest != stored:
        with database.write() as connection:
            same = manifest_digest(manifest) == manifest_digest(stored)
            if not same and all_sessions(connection):
                raise InputError(
                    f"{config.storage.folder}: holds sessions that were run with other images or "
                    f"another ground truth. {_OWN_FOLDER}"
                )
            replace_manifest(connection, manifest)
    with database.write() as connection:
        if listed is not None:
            keep_blacklist(connection, listed)
        note_material(connection, config.path.read_text(encoding="utf-8"))
    return database, manifest


def require_showable(images: Sequence[ImageEntry]) -> None:
    """Raise `InputError` if the margins of a frame have no room for an image's number or size."""
    for entry in images:
        try:
            FrameLabel(entry.image_id, entry.width, entry.height, tag=0)
        except InputError as error:
            raise InputError(f"{entry.path} cannot be shown on a screen: {error}") from error


def _require_track(config: Config, database: Database, track: Track[Any]) -> None:
    """Raise `InputError` if sessions of another track are stored; this one cannot read them."""
    others = {session.track for session in all_sessions(database.connection)} - {track.name}
    if others:
        raise InputError(
            f"{config.storage.folder}: holds sessions of the track '{min(others)}', but the "
            f"configuration says '{track.name}'. {_OWN_FOLDER}"
        )


def open_contest(
    config: Config,
    clock: Clock | None = None,
    *,
    read_only: bool = False,
    copy: Path | None = None,
) -> Contest:
    """Open a contest after `prepare_contest` has prepared it; `read_only` refuses every write.

    `copy` is opened in place of the database: see `referee.store.readable`.
    """
    database = Database(config.database, read_only=read_only, copy=copy)
    manifest = load_manifest(database.connection)
    return Contest(
        config=config,
        clock=clock or SystemClock(),
        database=database,
        secrets=load_secrets(config.storage.folder),
        track=load_track(config.contest.track),
        images=manifest.images,
        classes=manifest.classes,
        class_ids=np.fromiter(manifest.classes, dtype=np.int64),
    )


def read_contest_truth(contest: Contest, reads: HashedReads | None = None) -> GroundTruth:
    """Return the ground truth with the contest's image ids.

    `reads` may have read some of the files already. Raises `InputError` if a file has changed since
    the contest was prepared.
    """
    stored = load_manifest(contest.database.connection).inputs
    reads = reads or HashedReads()
    for name, path in _input_paths(contest.config).items():
        is_there = name in stored and path.exists()
        if not is_there or stored[name].sha256 != reads.sha256_of(path):
            raise InputError(
                f"{path}: has changed since the contest was prepared; put the original back."
            )
    return _in_contest_ids(contest, _read_truth(contest.config, reads))


def read_truth_with(
    contest: Contest,
    ground_truth: Path | None,
    blacklist: Path | None,
    reads: HashedReads | None = None,
) -> tuple[GroundTruth, dict[str, str]]:
    """Return a ground truth with the contest's image ids, and the SHA-256 of its files by role.

    `ground_truth` and `blacklist` take the place of the contest's files; with None for both this is
    `read_contest_truth`. `reads` may have read some of the files already. Raises `InputError` for
    files that cannot be used, and for a ground truth of other images or classes.
    """
    if ground_truth is None and blacklist is None:
        stored = load_manifest(contest.database.connection).inputs
        return read_contest_truth(contest, reads), {name: it.sha256 for name, it in stored.items()}
    images = contest.config.images
    images = replace(
        images,
        ground_truth=ground_truth or images.ground_truth,
        blacklist=blacklist or images.blacklist,
    )
    config = replace(contest.config, images=images)
    reads = reads or HashedReads()
    inputs = {name: file.sha256 for name, file in _input_files(config, reads).items()}
    read = _read_truth(config, reads)
    names = {int(class_id) for class_id in read.truth.class_ids}
    known = {entry.source_id for entry in contest.images}
    strange = set(read.truth.image_ids.tolist()) - known
    if strange or names != set(contest.classes):
        what = f"the image {min(strange)}" if strange else "other classes"
        raise InputError(
            f"{images.ground_truth}: has {what}, and the contest has not. A score from it could "
            "not be compared."
        )
    return _in_contest_ids(contest, read), inputs


def _in_contest_ids(contest: Contest, truth: GroundTruthFile) -> GroundTruth:
    """Return the ground truth of a file with the contest's image ids."""
    mapping = {entry.source_id: entry.image_id for entry in contest.images}
    # Some sources name only images that have a box. The folder has all images.
    complete = replace(truth.truth, image_ids=np.asarray(sorted(mapping), dtype=np.int64))
    return renumber(complete, mapping)


@lru_cache(maxsize=64)
def order_of(image_count: int, seed: int | None) -> NDArray[np.int64]:
    """Return a session's image order (see `referee.core.order.image_order`), with a cache."""
    order = image_order(image_count, seed)
    order.setflags(write=False)
    return order


def image_behind(contest: Contest, session: SessionRecord, number: int) -> ImageEntry:
    """Return the image that has a number in a session's order; the number must be 1 to N."""
    order = order_of(contest.image_count, session.order_seed)
    return contest.images[int(order[number - 1]) - 1]


def frame_tag_of(contest: Contest, session_id: int) -> int:
    """Return the tag in the margins of a session's frames, from 0 to 65,535.

    Another session has another tag, but for one pair in 65,536, and so has another contest's.
    """
    text = f"frames of session {session_id}".encode("ascii")
    return session_tag(hmac.digest(contest.secrets.token_key, text, "sha256").hex())


def _read_truth(config: Config, reads: HashedReads) -> GroundTruthFile:
    return read_ground_truth(
        config.images.ground_truth,
        images=config.images.sizes,
        blacklist=config.images.blacklist,
        classes=config.images.classes,
        read=reads.read,
    )


def _input_paths(config: Config) -> dict[str, Path]:
    paths: dict[str, Path | None] = {
        "ground_truth": config.images.ground_truth,
        "sizes": config.images.sizes,
        "blacklist": config.images.blacklist,
    }
    return {name: path for name, path in paths.items() if path is not None}


def _input_files(config: Config, reads: HashedReads) -> dict[str, InputFile]:
    return {
        name: InputFile(str(path), reads.sha256_of(path))
        for name, path in _input_paths(config).items()
    }
