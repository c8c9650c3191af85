# SPDX-License-Identifier: Apache-2.0
"""The readings of image numbers and class ids: what a contestant may have meant by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.scoring.mistakes.coco_classes import COCO_CLASSES, OTHER_NAMES
from referee.scoring.mistakes.posted import Posted, ProgramFault

Ints = NDArray[np.int64]

_NO_IMAGE = 0
# Stands for a position beyond the class list. No class list has so low an id.
_NO_CLASS = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class ImageReading:
    """One reading of the image numbers: the image id of each row, and the faults assumed."""

    faults: tuple[ProgramFault, ...]
    image_id: Ints


def image_readings(posted: Posted) -> Iterator[ImageReading]:
    """Yield every reading of the image numbers; the first is the protocol's.

    A row whose number names no image gets an id outside the contest.
    """
    numbers, order = posted.detections.image_id, posted.order
    count = len(order)
    yield ImageReading((), _shown(numbers, order))
    low = (
        "images_off_by_one",
        f"The image numbers are one too low. The contest counts its images from 1 to {count}, "
        "not from 0.",
    )
    yield ImageReading((ProgramFault(*low),), _shown(numbers + 1, order))
    high = (
        "images_off_by_one",
        f"The image numbers are one too high. The contest counts its images from 1 to {count}: "
        "send the number under which you asked for the image.",
    )
    yield ImageReading((ProgramFault(*high),), _shown(numbers - 1, order))
    straight_order = np.arange(1, count + 1)
    if not np.array_equal(posted.source_ids, straight_order):
        source = (
            "image_ids_of_the_source",
            "The image ids are those of the ground truth's own file. The contest counts its images "
            f"from 1 to {count}: send the number under which you asked for the image.",
        )
        yield ImageReading((ProgramFault(*source),), _by_source(numbers, posted.source_ids))
    if not np.array_equal(order, straight_order):
        straight = (
            "image_order_ignored",
            "The answers follow the order of the ground truth, but this session showed the images "
            "in an order of its own. Answers that were stored beforehand cannot match: send for "
            "each number what your detector sees in the image that you got.",
        )
        yield ImageReading((ProgramFault(*straight),), _shown(numbers, straight_order))


def _shown(numbers: Ints, order: Ints) -> Ints:
    inside = (numbers >= 1) & (numbers <= len(order))
    return to_manifest_ids(np.where(inside, numbers, _NO_IMAGE), order)


def _by_source(numbers: Ints, source_ids: Ints) -> Ints:
    ranked = np.argsort(source_ids)
    place = np.searchsorted(source_ids[ranked], numbers).clip(max=len(ranked) - 1)
    candidate = ranked[place]
    return np.where(source_ids[candidate] == numbers, candidate + 1, _NO_IMAGE)


@dataclass(frozen=True, eq=False)
class ClassReading:
    """One reading of the class ids: the class of each row, and the faults that it assumes."""

    faults: tuple[ProgramFault, ...]
    class_id: Ints


def class_readings(sent: Ints, truth: GroundTruth) -> Iterator[ClassReading]:
    """Yield every reading of the class ids; the first is the protocol's."""
    yield ClassReading((), sent)
    listed = truth.class_ids
    if not len(listed):
        return
    first = f"The first class of the list has id {_named(listed[0], truth.class_names)}."
    for step, word in ((1, "low"), (-1, "high")):
        text = f"The class ids are one too {word}. {first}"
        yield ClassReading((ProgramFault("classes_off_by_one", text),), sent + step)
    if listed[-1] - listed[0] + 1 > len(listed):
        yield from _positions(sent, listed, "class_positions_sent", _gaps(listed))
    yield from _by_name(sent, truth)
    yield from _of_coco(sent, truth)


def _of_coco(sent: Ints, truth: GroundTruth) -> Iterator[ClassReading]:
    """Yield the readings as COCO's ids 1 to 90, and as positions among COCO's 80 names."""
    meant = _ids_of_coco_classes(truth)
    if set(meant) == {_NO_CLASS}:
        return
    by_id = np.full(max(COCO_CLASSES) + 1, _NO_CLASS)
    by_id[list(COCO_CLASSES)] = meant
    by_place = np.array(meant)
    first, last = min(COCO_CLASSES), max(COCO_CLASSES)
    known = [number for number, own in zip(COCO_CLASSES, meant, strict=True) if own != _NO_CLASS]
    other = next((n for n in known if by_id[n] != n), None)
    if other is not None:
        text = (
            f"The class ids are COCO's, {{}} to {{}} with gaps. This list has other ids: COCO's "
            f"{other}, '{COCO_CLASSES[other]}', is {by_id[other]} here."
        )
        for base in (0, 1):  # Some programs leave out the background, and so count from 0.
            fault = ProgramFault("coco_ids_sent", text.format(first - 1 + base, last - 1 + base))
            yield ClassReading((fault,), _looked_up(sent + 1 - base, by_id))
    for base in (0, 1):
        text = (
            f"The class ids are places among COCO's 80 names, {base} to {base + 79}. Send the ids "
            "of the class list, which GET /classes tells."
        )
        fault = ProgramFault("coco_positions_sent", text)
        yield ClassReading((fault,), _looked_up(sent - base, by_place))


def _ids_of_coco_classes(truth: GroundTruth) -> list[int]:
    """Return the list's id of each of COCO's classes, by name; 80 ids in a row are in its order."""
    listed = truth.class_ids
    named = {
        OTHER_NAMES.get(name.lower(), name.lower()): class_id
        for class_id, name in truth.class_names.items()
    }
    ids = [named.get(name, _NO_CLASS) for name in COCO_CLASSES.values()]
    if any(own != _NO_CLASS for own in ids):
        return ids
    in_a_row = len(listed) == len(ids) == listed[-1] - listed[0] + 1
    return listed.tolist() if in_a_row else ids


def _looked_up(place: Ints, table: Ints) -> Ints:
    inside = (place >= 0) & (place < len(table))
    return np.where(inside, table[np.where(inside, place, 0)], _NO_CLASS)


def _positions(sent: Ints, order: Ints, code: str, sentence: str) -> Iterator[ClassReading]:
    """Yield the readings as positions in an order of the classes, counted from 0 and from 1."""
    for base in (0, 1):
        place = sent - base
        inside = (place >= 0) & (place < len(order))
        text = sentence.format(base=base, last=base + len(order) - 1)
        meant = np.where(inside, order[np.where(inside, place, 0)], _NO_CLASS)
        yield ClassReading((ProgramFault(code, text),), meant)


def _gaps(listed: Ints) -> str:
    return (
        "The class ids are positions in the class list, {base} to {last}. "
        f"The list has gaps: its {len(listed)} ids go from {listed[0]} to {listed[-1]}. "
        "Send the id that stands at the position."
    )


def _by_name(sent: Ints, truth: GroundTruth) -> Iterator[ClassReading]:
    """Yield the readings as positions in the list of class names, in the list's order or sorted."""
    names, listed = truth.class_names, truth.class_ids
    if any(int(class_id) not in names for class_id in listed):
        return
    tried: list[list[int]] = [listed.tolist()]
    for key in (str, str.lower):
        order = sorted(listed.tolist(), key=lambda class_id: key(names[class_id]))
        if order not in tried:
            tried.append(order)
            sentence = (
                "The class ids are positions in the list of names in alphabetical order, {base} "
                "to {last}. Send the ids of the class list: its first is "
                f"{_named(listed[0], names)}."
            )
            yield from _positions(sent, np.asarray(order), "classes_by_name", sentence)


def _named(class_id: int, names: Mapping[int, str]) -> str:
    name = names.get(int(class_id), "")
    return f"{class_id}, '{name}'" if name else str(class_id)
