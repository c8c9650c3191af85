# SPDX-License-Identifier: Apache-2.0
"""The ground truth of a contest, as its configuration or an operator names the files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.hashed_reads import HashedReads
from referee.formats.image_ids import renumber
from referee.formats.truth_file import GroundTruthFile, KnownImage
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.store.images import InputFile, load_manifest


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
    return _in_contest_ids(contest, read_truth(contest.config, reads, contest))


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
        return read_contest_truth(contest, reads), {
            name: file.sha256 for name, file in stored.items()
        }
    images = contest.config.images
    images = replace(
        images,
        ground_truth=ground_truth or images.ground_truth,
        blacklist=blacklist or images.blacklist,
    )
    config = replace(contest.config, images=images)
    reads = reads or HashedReads()
    inputs = {name: file.sha256 for name, file in input_files(config, reads).items()}
    read = read_truth(config, reads, contest)
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


def read_truth(
    config: Config, reads: HashedReads, contest: Contest | None = None
) -> GroundTruthFile:
    """Return the ground truth of a configuration, with the ids of its file.

    What a folder of YOLO labels does not say of images and classes is that of the `contest`, if it
    is prepared already. Raises `InputError` for labels of images that EXIF data turn.
    """
    source = read_ground_truth(
        config.images.ground_truth,
        images=config.images.sizes,
        blacklist=config.images.blacklist,
        classes=config.images.classes,
        pictures=config.images.folder if contest is None else _known_images(contest),
        class_names=None if contest is None else contest.classes,
        read=reads.read,
    )
    if source.labels is not None and source.labels.turned:
        raise InputError(
            f"{config.images.folder / source.labels.turned[0]}: its EXIF data turn it, and the"
            " labels are those of the turned image. Contestants get the stored one: store it"
            f" turned. {len(source.labels.turned)} of {source.labels.images} images are like this."
        )
    return source


def _known_images(contest: Contest) -> list[KnownImage]:
    """Return the contest's images, by their paths in its folder."""
    folder = contest.config.images.folder
    return [
        KnownImage(
            str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path),
            entry.source_id,
            entry.width,
            entry.height,
        )
        for entry in contest.images
        for path in [Path(entry.path)]
    ]


def _input_paths(config: Config) -> dict[str, Path]:
    paths: dict[str, Path | None] = {
        "ground_truth": config.images.ground_truth,
        "sizes": config.images.sizes,
        "blacklist": config.images.blacklist,
    }
    return {name: path for name, path in paths.items() if path is not None}


def input_files(config: Config, reads: HashedReads) -> dict[str, InputFile]:
    """Return the files of a configuration that make its ground truth, by role."""
    return {
        name: InputFile(str(path), reads.sha256_of(path))
        for name, path in _input_paths(config).items()
    }
