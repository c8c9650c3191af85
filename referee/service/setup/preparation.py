# SPDX-License-Identifier: Apache-2.0
"""The preparation of a contest before its processes start: folder, keys, images, ground truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from power.bounded_file import file_text
from referee.errors import InputError
from referee.formats.hashed_reads import HashedReads
from referee.formats.image_ids import contest_image_ids
from referee.formats.truth_file import GroundTruthFile
from referee.formats.yolo_counts import label_line, label_warnings
from referee.service.setup.blacklist import bytes_to_keep
from referee.service.setup.config import Config
from referee.service.setup.contest_truth import input_files, read_truth
from referee.service.setup.private_files import (
    close_to_others,
    make_private,
    private_from_the_start,
)
from referee.service.setup.secrets_file import load_secrets
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.database import Database
from referee.store.images import (
    ImageEntry,
    Manifest,
    keep_blacklist,
    load_manifest,
    manifest_digest,
    note_material,
    replace_manifest,
)
from referee.store.sessions import all_sessions
from referee.tracks.camera.code import FrameLabel
from referee.tracks.loading import load_track
from referee.tracks.track import Delivery, Track

_OWN_FOLDER = (
    "Give this contest a folder of its own: 'referee practice --data DIR', or another [storage] "
    "folder in contest.toml."
)

Progress = Callable[[int, int], None]
"""A function of (done, total) that shows progress."""

_MEDIA_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png"}
_SUFFIXES = {".jpg", ".jpeg", ".png"}
_NUMBERED = re.compile(r"[1-9][0-9]*")
_LISTED = 5


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
    be used. Raises it also if the folder has sessions with other images, because their scores
    would no longer fit the images that were shown.
    """
    track = load_track(config.contest.track)
    make_private(config.storage.folder)
    close_to_others(config.path)
    database = Database(config.database)
    try:
        with private_from_the_start():
            load_secrets(config.storage.folder)
            ensure_signing_key(config.storage.folder, config.path)
            database.migrate()
            _require_track(config, database, track)
        return database, _update_manifest(config, database, track, progress, tell)
    except BaseException:
        database.close()
        raise


def _update_manifest(
    config: Config,
    database: Database,
    track: Track[Any],
    progress: Progress,
    tell: Callable[[str], object],
) -> Manifest:
    """Store what the images, the ground truth and the other inputs are now, and return it."""
    stored = load_manifest(database.connection)
    reads = HashedReads()
    inputs = input_files(config, reads)
    truth = read_truth(config, reads)
    lost = truth.unfindable()
    if lost and config.contest.mode == "practice":  # An event has a check of it.
        tell(f"{config.images.ground_truth}: {lost.words()}")
    if truth.labels is not None:
        for sentence in (label_line(truth.labels), *label_warnings(truth.labels)):
            tell(sentence)
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
        note_material(connection, file_text(config.path))
    return manifest


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


def build_images(
    folder: Path,
    truth: GroundTruthFile,
    *,
    known: Sequence[ImageEntry] = (),
    progress: Progress = lambda done, total: None,
) -> tuple[ImageEntry, ...]:
    """Return the contest's images in ascending order of image id.

    Files named 1.jpg to N.jpg keep their numbers as image ids. Otherwise image id k is the k-th
    image of the ground truth, in ascending order of the ground truth's own ids. An image in `known`
    is not read again if its file has the same size and time. Raises `InputError` for a folder
    without images, and for an image that is missing, damaged, or of another size than the ground
    truth says.
    """
    paths = _paths(folder, truth)
    reusable = {entry.path: entry for entry in known}
    entries = []
    for done, (image_id, (source_id, path)) in enumerate(sorted(paths.items())):
        progress(done, len(paths))
        entries.append(_entry(image_id, source_id, path, reusable.get(str(path)), truth))
    progress(len(paths), len(paths))
    return tuple(entries)


def _paths(folder: Path, truth: GroundTruthFile) -> dict[int, tuple[int, Path]]:
    """Return a map from image id to the ground truth's own id and the file."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Give the folder of the contest's images.")
    files = {p.name: p for p in folder.iterdir() if p.suffix.lower() in _SUFFIXES}
    if not files:
        raise InputError(f"{folder}: holds no image. The files must be JPEG or PNG.")
    stems = {p.stem: p for p in files.values()}
    own = [int(i) for i in truth.truth.image_ids]
    path_of = {i: _file_of(i, files, stems, truth.file_names) for i in own}
    missing = [truth.file_names.get(i, f"{i}.jpg") for i, path in path_of.items() if path is None]
    _require_none_missing(folder, missing, len(missing), len(own))
    of_files = {path: i for i, path in path_of.items() if path is not None}
    if all(_NUMBERED.fullmatch(stem) for stem in stems):
        numbers = {int(stem): path for stem, path in stems.items()}
        _require_one_each(folder, files, numbers)
        # Numbers with gaps count as file names, if the ground truth lists each of them.
        if max(numbers) == len(numbers) or len(of_files) < len(numbers):
            return _numbered(folder, numbers, of_files, truth)
    ids = contest_image_ids(own)
    return {ids[i]: (i, path) for path, i in of_files.items()}


def _numbered(
    folder: Path, files: Mapping[int, Path], of_files: Mapping[Path, int], truth: GroundTruthFile
) -> dict[int, tuple[int, Path]]:
    """Use the files' numbers as image ids; an image that the ground truth omits has no box."""
    count = max(files)
    gaps = (f"{k}.jpg" for k in range(1, count + 1) if k not in files)
    _require_none_missing(folder, list(islice(gaps, _LISTED)), count - len(files), count)
    unnamed = [path.name for path in files.values() if path not in of_files]
    if unnamed and truth.file_names:
        raise InputError(
            f"{folder}: the ground truth does not list {', '.join(unnamed[:_LISTED])}"
            f"{' and others' if len(unnamed) > _LISTED else ''}; it must list every image."
        )
    return {number: (of_files.get(path, number), path) for number, path in files.items()}


def _file_of(
    own_id: int,
    files: Mapping[str, Path],
    stems: Mapping[str, Path],
    file_names: Mapping[int, str],
) -> Path | None:
    """Find an image's file by the source's name for it (XML may omit .jpg), or by its id."""
    name = file_names.get(own_id)
    if name is None:
        return stems.get(str(own_id))
    return files.get(Path(name).name) or stems.get(Path(name).name)


def _require_none_missing(folder: Path, names: Sequence[str], count: int, total: int) -> None:
    if names:
        listed = ", ".join(names[:_LISTED])
        more = f" and {count - _LISTED} more" if count > _LISTED else ""
        raise InputError(
            f"{folder}: {count} of {total} images are not there: {listed}{more}. "
            "Give the folder that holds the images of this ground truth."
        )


def _require_one_each(folder: Path, files: Mapping[str, Path], numbers: Mapping[int, Path]) -> None:
    for name, path in sorted(files.items()):
        chosen = numbers[int(path.stem)].name
        if chosen != name:
            raise InputError(f"{folder}: holds {name} and {chosen}. Keep one file for each image.")


def _entry(
    image_id: int, source_id: int, path: Path, known: ImageEntry | None, truth: GroundTruthFile
) -> ImageEntry:
    stat = path.stat()
    if (
        known is not None
        and (known.image_id, known.source_id) == (image_id, source_id)
        and (known.size_bytes, known.modified_ns) == (stat.st_size, stat.st_mtime_ns)
    ):
        return known
    reads = HashedReads()
    content = reads.stored(path)
    try:
        with Image.open(BytesIO(content)) as image:
            media_type = _MEDIA_TYPES.get(image.format or "")
            width, height = image.size
            # Decode the image, a JPEG at an eighth of its size. `verify` would not decode a JPEG.
            image.draft(image.mode, (1, 1))
            image.load()
    except (OSError, UnidentifiedImageError, SyntaxError) as error:
        raise InputError(f"{path}: is not an image that can be read ({error}).") from error
    if media_type is None:
        raise InputError(f"{path}: is neither JPEG nor PNG.")
    expected = truth.sizes.get(source_id, (width, height))
    if expected != (width, height):
        raise InputError(
            f"{path}: is {width}x{height} pixels, but the ground truth says "
            f"{expected[0]}x{expected[1]}. The boxes would not fit: use the original image."
        )
    return ImageEntry(
        image_id=image_id,
        source_id=source_id,
        path=str(path),
        media_type=media_type,
        size_bytes=len(content),
        modified_ns=stat.st_mtime_ns,
        sha256=reads.sha256_of(path),
        width=width,
        height=height,
    )
