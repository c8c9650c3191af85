# SPDX-License-Identifier: Apache-2.0
"""Ground truth as a folder of YOLO labels, one `.txt` for each image.

A label file has neither the size of its image nor the names of its classes. The sizes come from the
images, as a viewer shows them: the tools that write such files turn an image as its EXIF data say.
The names come from `data.yaml`, `classes.txt` and their like (`yolo_names`). Class index k is class
k+1 of the contest. An image without a label file has no objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from referee.core.box_formats import in_pixels, to_corners
from referee.core.counts import counted
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.csv_truth import MAX_CLASS, read_image_list
from referee.formats.faults import Faults, FormatError, quoted
from referee.formats.image_file import shown_size
from referee.formats.image_ids import ids_of_names
from referee.formats.text import Read
from referee.formats.truth_file import NO_BLACKLIST, GroundTruthFile, KnownImage
from referee.formats.yolo_counts import LabelCounts
from referee.formats.yolo_layout import (
    Pairing,
    images_beside,
    key_of,
    label_texts,
    paired,
    pictures_under,
)
from referee.formats.yolo_names import DataSet, find_data_set
from referee.formats.yolo_rows import SLACK, LabelRows, is_label_text, read_label_rows

Floats = NDArray[np.float64]

Images = Path | Sequence[KnownImage]
"""The images of labels: their folder, a list `image_id,width,height`, or what is known of them."""


@dataclass(frozen=True)
class _Pictures:
    """The images by path: their ids and sizes as they are shown.

    `turned` have EXIF data that turn or flip them; `swapped` are stored with their sides the other
    way round. `where` names them in a message.
    """

    ids: Mapping[str, int]
    sizes: Mapping[str, tuple[int, int]]
    where: str
    turned: tuple[str, ...] = ()
    swapped: frozenset[str] = frozenset()


def read_yolo_truth(
    folder: Path,
    images: Images | None,
    read: Read,
    *,
    classes: int | None = None,
    class_names: Mapping[int, str] | None = None,
) -> GroundTruthFile:
    """Read the labels of a folder and of the folders in it.

    Without `images` they are looked for beside the labels, as the tools lay a data set out.
    `class_names` are those of a contest by class id, for a folder that came without its names;
    names that are there must be the same. Without any, the classes are 1 to `classes`, or to the
    highest of a label. If all images are named by whole numbers, these are their ids; otherwise the
    ids are 1…N in ascending order of their paths. Raises InputError, which names every fault.
    """
    texts = label_texts(folder)
    pictures = _pictures(folder, texts, images, read)
    pairing = paired(
        texts,
        pictures.ids,
        str(folder),
        pictures.where,
        lambda text: is_label_text(folder / text, read(folder / text)),
    )
    data_set = _with_names_of(class_names, find_data_set(folder, read))
    rows = _rows(folder, pairing, data_set, classes, read)
    truth, beyond = _truth(folder, rows, pictures, data_set)
    counts = LabelCounts(
        images=len(pictures.ids),
        labelled=len(rows),
        empty=sum(not len(one.table) for one in rows.values()),
        boxes=len(truth.box),
        outlines=sum(one.outlines for one in rows.values()),
        duplicates=sum(one.duplicates for one in rows.values()),
        beyond=beyond,
        turned=pictures.turned,
        other_texts=pairing.others,
        names=None if data_set.source is None else str(data_set.source),
    )
    names = {own: path for path, own in pictures.ids.items()}
    # A size that the file does not have would be held against it.
    sizes = {
        pictures.ids[path]: size
        for path, size in pictures.sizes.items()
        if path not in pictures.swapped
    }
    return GroundTruthFile(truth, file_names=names, sizes=sizes, labels=counts)


def _pictures(folder: Path, texts: Sequence[str], images: Images | None, read: Read) -> _Pictures:
    if images is None:
        images = images_beside(folder)
        if images is None:
            raise InputError(
                f"{folder} has labels, and the sizes of their images are not known: give the"
                " folder of the images too"
            )
    if not isinstance(images, Path):
        return _known(images)
    if not images.is_dir():
        return _listed(images, texts, read)
    return _in_folder(images, pictures_under(images, texts))


def _listed(image_list: Path, texts: Sequence[str], read: Read) -> _Pictures:
    """Return the images of a list of ids: each is named by its number, as its label file is."""
    keys = {int(key): key for key in map(key_of, texts) if key.isascii() and key.isdigit()}
    sizes = {
        keys.get(own, f"{own}"): size for own, size in read_image_list(image_list, read).items()
    }
    return _Pictures({name: int(name) for name in sizes}, sizes, str(image_list))


def _known(images: Sequence[KnownImage]) -> _Pictures:
    names = {image.name for image in images}
    if len(names) < len(images):
        raise InputError(
            "two images of the contest have one file name, so a label file may belong to either"
        )
    return _Pictures(
        {image.name: image.image_id for image in images},
        {image.name: (image.width, image.height) for image in images},
        "the contest",
    )


def _in_folder(folder: Path, paths: Sequence[str]) -> _Pictures:
    """Return the images of a folder; each header is read."""
    if not paths:
        raise InputError(f"{folder} has no images: give the folder of the images of these labels")
    own_ids = ids_of_names({key_of(path) for path in paths})
    shown = {path: shown_size(folder / path) for path in paths}
    return _Pictures(
        {path: own_ids[key_of(path)] for path in paths},
        {path: (size.width, size.height) for path, size in shown.items()},
        str(folder),
        tuple(path for path, size in shown.items() if size.turned),
        frozenset(path for path, size in shown.items() if size.swapped),
    )


def _with_names_of(contest: Mapping[int, str] | None, found: DataSet) -> DataSet:
    """Return what is known of the classes; names of a contest and of the files must be the same."""
    known = {class_id - 1: name for class_id, name in (contest or {}).items()}
    if not known or sorted(known) != list(range(len(known))):
        return found
    differing = [index for index, name in found.names.items() if known.get(index, name) != name]
    if differing:
        index = differing[0]
        raise InputError(
            f"{found.source} names class {index} {quoted(found.names[index])}, and the contest"
            f" {quoted(known[index])}: the labels would be taken for others"
        )
    return DataSet(known, len(known), found.source, found.keypoints)


def _rows(
    folder: Path, pairing: Pairing, data_set: DataSet, classes: int | None, read: Read
) -> dict[str, LabelRows]:
    """Return the rows of each image that has a label file; raise InputError naming all faults."""
    faults = Faults()
    most = data_set.count or classes or MAX_CLASS
    rows = {}
    for picture, label in sorted(pairing.label_of.items()):
        path = folder / label
        rows[picture] = read_label_rows(path, read(path), faults, most, data_set.keypoints)
    try:
        faults.raise_if_any()
    except FormatError as error:
        raise InputError(str(error)) from None
    return rows


def _truth(
    folder: Path, rows: Mapping[str, LabelRows], pictures: _Pictures, data_set: DataSet
) -> tuple[GroundTruth, int]:
    """Return the ground truth, and how many boxes reach beyond their image."""
    counts = [len(one.table) for one in rows.values()]
    table = np.concatenate([np.empty((0, 5)), *(one.table for one in rows.values())])
    image_id = np.repeat([pictures.ids[path] for path in rows], counts).astype(np.int64)
    sizes = np.repeat(
        np.array([pictures.sizes[path] for path in rows], dtype=np.float64).reshape(-1, 2),
        counts,
        axis=0,
    )
    class_id = table[:, 0].astype(np.int64) + 1
    count = data_set.count or int(class_id.max(initial=0))
    beyond = _beyond(folder, table[:, 1:])
    box = in_pixels(table[:, 1:], image_id, sizes, "cxcywh") if len(table) else table[:, 1:]
    return (
        GroundTruth(
            image_ids=np.array(sorted(pictures.ids.values()), dtype=np.int64),
            class_ids=np.arange(1, count + 1, dtype=np.int64),
            box_image_id=image_id,
            box_class_id=class_id,
            box=to_corners(box, "cxcywh"),
            blacklist=NO_BLACKLIST,
            class_names={index + 1: name for index, name in data_set.names.items()},
        ),
        beyond,
    )


def _beyond(folder: Path, box: Floats) -> int:
    """Return how many boxes reach beyond their image; raise InputError where most of them do."""
    low, high = box[:, :2] - box[:, 2:] / 2, box[:, :2] + box[:, 2:] / 2
    beyond = int(((low < -SLACK) | (high > 1 + SLACK)).any(axis=1).sum())
    if 2 * beyond > len(box):
        raise InputError(
            f"{folder}: {beyond} of {counted(len(box), 'box reaches', 'boxes reach')} beyond"
            " their image. A row is the class, then the centre of the box, its width and its"
            " height: these may be corners"
        )
    return beyond
