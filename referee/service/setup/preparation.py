# SPDX-License-Identifier: Apache-2.0
"""The preparation of a contest before its processes start: folder, keys, images, ground truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from power.bounded_file import file_text
from referee.errors import InputError
from referee.formats.answer_formats import all_formats
from referee.formats.hashed_reads import HashedReads
from referee.formats.truth_file import GroundTruthFile
from referee.formats.yolo_counts import label_line, label_warnings
from referee.service.setup.blacklist import bytes_to_keep
from referee.service.setup.config import Config
from referee.service.setup.contest_truth import read_truth
from referee.service.setup.extra import present_extras, rooms_of
from referee.service.setup.image_entries import (
    Progress,
    find_images,
    prepared_images,
    read_images,
)
from referee.service.setup.input_files import config_with, input_files
from referee.service.setup.own_folder import require_own
from referee.service.setup.private_files import (
    close_to_others,
    make_private,
    private_from_the_start,
)
from referee.service.setup.secrets_file import load_secrets
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.answers import keep_formats
from referee.store.database import Connection, Database
from referee.store.images import (
    ImageEntry,
    Manifest,
    keep_blacklist,
    load_manifest,
    manifest_digest,
    note_material,
    replace_manifest,
)
from referee.store.inputs_in_force import InForce, inputs_in_force
from referee.store.sessions import all_sessions
from referee.tracks.camera.code import FrameLabel
from referee.tracks.loading import load_track
from referee.tracks.track import Delivery, Track

_OWN_FOLDER = (
    "Give this contest a folder of its own: 'referee practice --data DIR', or another [storage] "
    "folder in contest.toml."
)


def prepare_contest(
    config: Config,
    *,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> tuple[Database, Manifest]:
    """Create or open the contest's folder and update its image manifest.

    `tell` gets sentences about the ground truth: what came in YOLO labels and what was taken of it,
    and in a rehearsal the boxes that nobody can find.

    Afterwards only this user can read the referee's files in the folder. Files that were moved or
    copied again are the same while their contents are. Raises `InputError` for inputs that cannot
    be used, and for a folder of somebody else, which stays as it is. Raises it also if the folder
    has sessions with other images, because their scores would no longer fit the images that were
    shown.
    """
    track = load_track(config.contest.track)
    require_own(config.storage.folder)
    make_private(config.storage.folder)
    close_to_others(config.path)
    database = Database(config.database)
    try:
        with private_from_the_start():
            load_secrets(config.storage.folder)
            ensure_signing_key(config.storage.folder, config.path)
            database.migrate(rooms_of(present_extras(config)))
            _require_track(config, database, track)
            _keep_formats(database)
        material = look_at_material(config, database, progress=progress, tell=tell)
        _store(config, database, material)
        return database, material.manifest
    except BaseException:
        database.close()
        raise


@dataclass(frozen=True)
class Material:
    """What a contest is made from, as its files are now, and the bytes of its blacklist if any."""

    manifest: Manifest
    blacklist: bytes | None


def look_at_material(
    config: Config,
    database: Database,
    *,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> Material:
    """Return what the images, the ground truth and the other inputs are now; nothing is stored.

    Raises `InputError` where `prepare_contest` does.
    """
    track = load_track(config.contest.track)
    _require_track(config, database, track)
    stored = load_manifest(database.connection)
    reads = HashedReads()
    listed = bytes_to_keep(config.images.blacklist, reads)
    in_force = inputs_in_force(database.connection)
    if all_sessions(database.connection):
        config = _with_known_files(config, stored, in_force, reads)
    truth = read_truth(config, reads)
    _tell_of(truth, config, tell)
    manifest = _manifest(config, stored, in_force, truth, reads, progress)
    if track.delivery is Delivery.SHOWN:
        require_showable(manifest.images)
    _require_fitting(config, database.connection, manifest, stored)
    return Material(manifest, listed)


def _require_fitting(
    config: Config, connection: Connection, manifest: Manifest, stored: Manifest
) -> None:
    """Raise `InputError` if the sessions that are stored were run with something else."""
    if manifest_digest(manifest) != manifest_digest(stored) and all_sessions(connection):
        raise InputError(
            f"{config.storage.folder}: holds sessions that were run with other images or "
            f"another ground truth. {_OWN_FOLDER}"
        )


def _store(config: Config, database: Database, material: Material) -> None:
    stored = load_manifest(database.connection)
    if material.manifest != stored:
        with database.write() as connection:
            _require_fitting(config, connection, material.manifest, stored)
            replace_manifest(connection, material.manifest)
    with database.write() as connection:
        if material.blacklist is not None:
            keep_blacklist(connection, material.blacklist)
        note_material(connection, file_text(config.path))


def _with_known_files(
    config: Config, stored: Manifest, in_force: InForce | None, reads: HashedReads
) -> Config:
    """Return the configuration with the files that the stored sessions' scores rest on.

    Raises `InputError` where they changed. It says how a correction becomes one of an event, and
    that another contest needs another folder.
    """
    try:
        return config_with(config, stored.inputs, in_force, reads)
    except InputError as error:
        raise InputError(
            f"{config.storage.folder} holds sessions, and their scores rest on other files. "
            f"{error} For another contest: {_OWN_FOLDER}"
        ) from None


def _tell_of(truth: GroundTruthFile, config: Config, tell: Callable[[str], object]) -> None:
    lost = truth.unfindable()
    if lost and config.contest.mode == "practice":  # An event has a check of it.
        tell(f"{config.images.ground_truth}: {lost.words()}")
    if truth.labels is not None:
        for sentence in (label_line(truth.labels), *label_warnings(truth.labels)):
            tell(sentence)


def _manifest(
    config: Config,
    stored: Manifest,
    in_force: InForce | None,
    truth: GroundTruthFile,
    reads: HashedReads,
    progress: Progress,
) -> Manifest:
    """Return what the contest is made of now.

    A ground truth in force may list fewer images than the contest has. So images, classes and input
    files stay those of the preparation, and the images' files are compared with it.
    """
    folder = config.images.folder
    if in_force is not None:
        prepared = prepared_images(folder, stored.images)
        images = read_images(prepared, truth.sizes, known=stored.images, progress=progress)
        return replace(stored, images=images)
    found = find_images(folder, truth)
    names = truth.truth.class_names
    return Manifest(
        images=read_images(found, truth.sizes, known=stored.images, progress=progress),
        classes={int(c): names.get(int(c), str(c)) for c in truth.truth.class_ids},
        inputs=input_files(config, reads),
        counts=found.counts(reads.paths),
    )


def require_showable(images: Sequence[ImageEntry]) -> None:
    """Raise `InputError` if the margins of a frame have no room for an image's number or size."""
    for entry in images:
        try:
            FrameLabel(entry.image_id, entry.width, entry.height, tag=0)
        except InputError as error:
            raise InputError(f"{entry.path} cannot be shown on a screen: {error}") from error


def _keep_formats(database: Database) -> None:
    """Let the database know each format in which answers may come."""
    with database.write() as connection:
        keep_formats(connection, [one.name for one in all_formats()])


def _require_track(config: Config, database: Database, track: Track[Any]) -> None:
    """Raise `InputError` if sessions of another track are stored; this one cannot read them."""
    others = {session.track for session in all_sessions(database.connection)} - {track.name}
    if others:
        raise InputError(
            f"{config.storage.folder}: holds sessions of the track '{min(others)}', but the "
            f"configuration says '{track.name}'. {_OWN_FOLDER}"
        )
