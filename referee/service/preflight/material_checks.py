# SPDX-License-Identifier: Apache-2.0
"""The slow checks of images and ground truth: boxes that nobody finds, images that are turned."""

from __future__ import annotations

import struct
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from PIL import ExifTags, Image

from referee.core.counts import counted
from referee.formats.hashed_reads import HashedReads
from referee.service.preflight.finding import CheckResult, ok, warn
from referee.service.preflight.slow import TRUTH, TURNED
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth
from referee.service.setup.input_files import config_in_force

_LISTED = 5
# What a decoder that follows EXIF does with the stored pixels.
_TURNS = {
    2: "mirrored",
    3: "turned by 180°",
    4: "mirrored upside down",
    5: "turned by 90° and mirrored",
    6: "turned by 90°",
    7: "turned by 270° and mirrored",
    8: "turned by 270°",
}


def check_truth(contest: Contest) -> CheckResult:
    """Count the truth boxes that nobody can find, by the sizes of the images themselves."""
    reads = HashedReads()
    source = read_truth(config_in_force(contest, reads), reads)
    sizes = {entry.source_id: (entry.width, entry.height) for entry in contest.images}
    lost = source.unfindable(sizes)
    if lost:
        remedy = "Correct these boxes in the ground truth before the first session, or leave them."
        return warn(*TRUTH, lost.words(), remedy)
    return ok(*TRUTH, f"each of {len(source.truth.box)} has an extent, and lies in its image")


def check_turned(contest: Contest) -> CheckResult:
    """Name the images that some decoders turn, and others do not."""
    turned = turned_images(Path(entry.path) for entry in contest.images)
    if not turned:
        return ok(*TURNED, f"EXIF turns none of {counted(len(contest.images), 'image')}")
    first = [f"{path.name} ({_TURNS[how]})" for path, how in list(turned.items())[:_LISTED]]
    more = f" and {len(turned) - _LISTED} more" if len(turned) > _LISTED else ""
    kinds = Counter(_TURNS[how] for how in turned.values())
    counts = ", ".join(f"{count} {words}" for words, count in kinds.most_common())
    text = (
        f"EXIF turns {len(turned)} of {counted(len(contest.images), 'image')}: "
        f"{', '.join(first)}{more}"
        f"{f' ({counts})' if len(turned) > _LISTED else ''}. Some contestants' decoders will turn "
        "them, and others will not"
    )
    remedy = (
        "The boxes belong to the pixels as stored, whose width and height the referee compares. "
        "Take the orientation out of copies of these files: exiftool -Orientation= FILE. If the "
        "boxes were drawn on the turned image, turn the pixels: exiftran -ai FILE."
    )
    return warn(*TURNED, text, remedy)


def turned_images(paths: Iterable[Path]) -> dict[Path, int]:
    """Return the files whose EXIF orientation is not the upright one, each with its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow tells of damaged EXIF, which turns nothing.
        found = ((path, _orientation(path)) for path in paths)
        return {path: how for path, how in found if how in _TURNS}


def _orientation(path: Path) -> int:
    """Return an image's orientation by EXIF; 1 without one, or with EXIF that no decoder reads."""
    try:
        with Image.open(path) as image:
            return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except (OSError, SyntaxError, ValueError, TypeError, KeyError, struct.error):
        return 1
