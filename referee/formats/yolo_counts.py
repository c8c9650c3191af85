# SPDX-License-Identifier: Apache-2.0
"""What came in a folder of YOLO labels and what was taken of it: the facts, and their sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from referee.core.counts import counted


@dataclass(frozen=True)
class LabelCounts:
    """What came in a folder of YOLO labels, and what was taken.

    Of `images`, `labelled` have a label file, and `empty` of these files have no object. Of the
    objects that became boxes, `outlines` had one, and `beyond` reach beyond their image.
    `duplicates` are rows that said the same as another one of their file. `turned` names the images
    that EXIF data turn or flip. `other_texts` are `.txt` files that hold no labels. `names` is the
    file of the class names, or None: then the classes have no names.
    """

    images: int
    labelled: int
    empty: int
    boxes: int
    outlines: int
    duplicates: int
    beyond: int
    turned: tuple[str, ...]
    other_texts: int
    names: str | None


@dataclass(frozen=True)
class FolderCounts:
    """What came in a folder of detections: `strange` files are named like no image.

    `empty` counts the files of images that have no row: answers that found nothing.
    """

    files: int
    rows: int
    strange: tuple[str, ...]
    with_confidence: bool
    empty: int = 0


def label_warnings(counts: LabelCounts) -> list[str]:
    """Return a sentence for each thing that somebody should look at."""
    said = []
    if counts.names is None:
        said.append(
            "the labels came without class names: put data.yaml or classes.txt beside them, or the"
            " classes end with the highest that a label has"
        )
    if counts.duplicates:
        plural = "rows of the labels repeat another one and do not count"
        singular = "row of the labels repeats another one and does not count"
        said.append(counted(counts.duplicates, singular, plural))
    if counts.outlines:
        said.append(
            f"{counts.outlines} of {counts.boxes} objects are outlines: the box around each counts"
        )
    if counts.beyond:
        said.append(
            f"{counts.beyond} of {counted(counts.boxes, 'box reaches', 'boxes reach')} beyond"
            " their image"
        )
    if counts.turned:
        said.append(
            f"EXIF data turn {counted(len(counts.turned), 'image')}, the first is"
            f" {PurePosixPath(counts.turned[0]).name}: their labels count for the turned image,"
            " and a decoder that ignores EXIF sees another one"
        )
    return said


def label_line(counts: LabelCounts) -> str:
    """Return in a line what came and what was taken."""
    names = "no class names" if counts.names is None else f"class names of {counts.names}"
    without = counts.images - counts.labelled + counts.empty
    return (
        f"ground truth: {counts.boxes} boxes in {counts.labelled} label files of {counts.images}"
        f" images; {counted(without, 'image has', 'images have')} no object; {counts.other_texts}"
        f" other .txt files are not used; class index k is class k+1; {names}"
    )


def folder_line(counts: FolderCounts) -> str:
    """Return in a line what came and what was taken of detections."""
    return (
        f"detections: {counts.rows} boxes in {counts.files} files, of which"
        f" {counts.files - len(counts.strange)} belong to images of the ground truth; class index k"
        " is its class k+1 in ascending order of its class ids"
    )


def folder_warnings(counts: FolderCounts) -> list[str]:
    """Return a sentence for each thing that somebody should look at."""
    said = []
    if counts.strange:
        said.append(
            f"{len(counts.strange)} of {counts.files} files of detections belong to no image of the"
            f" ground truth, the first is {counts.strange[0]}"
        )
    if not counts.with_confidence:
        said.append("the detections have no confidence, so each has 1.0: predict with save_conf")
    return said
