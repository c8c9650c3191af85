# SPDX-License-Identifier: Apache-2.0
"""The ground truth of a contest, as its configuration or an operator names the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from referee.core.counts import counted
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError, Refusal
from referee.formats.ground_truth import read_ground_truth
from referee.formats.hashed_reads import HashedReads
from referee.formats.image_ids import renumber
from referee.formats.truth_file import GroundTruthFile, KnownImage
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.input_files import config_in_force, input_files
from referee.store.images import InputFile
from referee.store.inputs_in_force import inputs_in_force
from referee.store.scores import inputs_of, newest_scoring_run


def read_contest_truth(contest: Contest, reads: HashedReads | None = None) -> GroundTruth:
    """Return the ground truth with the contest's image ids, of the files that are in force.

    `reads` may have read some of the files already. Raises `InputError` if a file has changed.
    """
    reads = reads or HashedReads()
    config = config_in_force(contest, reads)
    return _in_contest_ids(contest, read_truth(config, reads, contest))


def read_truth_of_session(
    contest: Contest, session_id: int, known: GroundTruth | None = None
) -> GroundTruth:
    """Return the ground truth that a session was scored with, as `read_contest_truth` does.

    `known` is the one in force, if somebody has read it already.
    Raises `Refusal` (code `other_files`) for a session that was scored with files that are no
    longer in force: what they would show is not what its score says.
    """
    connection = contest.database.connection
    run = newest_scoring_run(connection, session_id)
    in_force = inputs_in_force(connection)
    now = inputs_of(connection, None) if in_force is None else in_force.sha256
    if run is not None and inputs_of(connection, run) != now:
        raise Refusal(
            "other_files",
            f"Session {session_id} was scored with other files than those in force. Score it again "
            "first: 'referee proposal make'.",
        )
    return read_contest_truth(contest) if known is None else known


class ReadTruth(NamedTuple):
    """A ground truth with the contest's image ids, and the files that it was read from, by role."""

    truth: GroundTruth
    inputs: Mapping[str, InputFile]


def read_truth_with(
    contest: Contest,
    ground_truth: Path | None,
    blacklist: Path | None,
    reads: HashedReads | None = None,
    *,
    no_blacklist: bool = False,
) -> ReadTruth:
    """Return a ground truth with the contest's image ids, and its files.

    `ground_truth` and `blacklist` take the place of the files in force; None keeps those, and
    `no_blacklist` leaves the blacklist out. `reads` may have read some of the files already. Raises
    `InputError` for files that cannot be used, and for a ground truth of other images or classes.
    A ground truth of other sizes is refused, too: with it in force no start would succeed.
    """
    instead: dict[str, Path | None] = {"blacklist": None} if no_blacklist else {}
    instead |= {} if ground_truth is None else {"ground_truth": ground_truth}
    instead |= {} if blacklist is None else {"blacklist": blacklist}
    reads = reads or HashedReads()
    config = config_in_force(contest, reads, instead)
    read = _comparable(contest, config, reads)
    _require_sizes(contest, config, read)
    return ReadTruth(_in_contest_ids(contest, read), input_files(config, reads))


def read_truth_of(contest: Contest, config: Config, reads: HashedReads) -> ReadTruth:
    """Return the ground truth of any configuration with the contest's image ids, and its files.

    Raises `InputError` as `read_truth_with` does.
    """
    inputs = input_files(config, reads)
    return ReadTruth(_in_contest_ids(contest, _comparable(contest, config, reads)), inputs)


def _comparable(contest: Contest, config: Config, reads: HashedReads) -> GroundTruthFile:
    """Return a ground truth; raise `InputError` unless its images and classes are the contest's."""
    read = read_truth(config, reads, contest)
    names = {int(class_id) for class_id in read.truth.class_ids}
    known = {entry.source_id for entry in contest.images}
    strange = set(read.truth.image_ids.tolist()) - known
    if strange or names != set(contest.classes):
        what = f"the image {min(strange)}" if strange else "other classes"
        raise InputError(
            f"{config.images.ground_truth}: has {what}, and the contest has not. A score from it "
            "could not be compared."
        )
    return read


def _require_sizes(contest: Contest, config: Config, truth: GroundTruthFile) -> None:
    for entry in contest.images:
        listed, size = truth.sizes.get(entry.source_id), (entry.width, entry.height)
        if listed is not None and listed != size:
            raise InputError(
                f"{config.images.ground_truth}: says that image {entry.source_id} has "
                f"{listed[0]}x{listed[1]} pixels, but {entry.path} has {size[0]}x{size[1]}. "
                "Correct the size there."
            )


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
            f" turned. Such are {len(source.labels.turned)} of"
            f" {counted(source.labels.images, 'image')}."
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
