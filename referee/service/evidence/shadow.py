# SPDX-License-Identifier: Apache-2.0
"""The second path to a score: plain Python, with readers, image order and metric of its own.

It shares no code with the first path but gzip's bound, so that a mistake in one shows against the
other. It is written from the definition: ILSVRC's matching with its lenient overlap for small
boxes, and the area under the precision-recall curve with the best precision at or after each
recall. The energy is the last one in the bundle's readings. Sums run in another order, so numbers
agree to nine digits.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from referee.errors import InputError, about_file
from referee.formats.text import unpacked
from referee.service.evidence.bundle_file import Mismatch
from referee.service.evidence.shadow_labels import labels, sizes_of

Box = tuple[float, float, float, float]
Key = tuple[int, int]

_SCORE = "score.json"
_DIGITS = 1e-9
_TRACKS = ("network", "camera")


def shadow_findings(
    members: Mapping[str, bytes],
    ground_truth: Path,
    blacklist: Path | None,
    read: Callable[[Path], bytes] = Path.read_bytes,
) -> Iterator[Mismatch]:
    """Score by the second path; yield where mAP, energy or score differ from `score.json`.

    `read` gives the bytes of a file, since a pipe gives them once; this path reads them itself.
    """
    stored = json.loads(members[_SCORE])
    track = json.loads(members["session.json"])["track"]
    if track not in _TRACKS or stored is None:
        yield Mismatch(_SCORE, f"There is no second path for the rules '{track}', or no score.")
        return
    own_ids, numbers = _images(members["images.csv"])
    classes_told = json.loads(members["session.json"])["classes"]
    if ground_truth.is_dir() and not any(
        file.suffix.lower() == ".xml" for file in ground_truth.iterdir()
    ):
        truth = [*labels(ground_truth, own_ids, sizes_of(members["images.csv"]), read)]
    else:
        truth = _truth(ground_truth, own_ids, classes_told, read)
    ignored = _pairs(blacklist, read) if blacklist is not None else set()
    detections = _detections(members["detections.csv"], numbers)
    classes = [int(name) for name in stored["ap"]]
    mean_ap = _mean_ap(truth, detections, ignored, set(own_ids.values()), classes)
    energy_wh = _energy_wh(members["readings.jsonl"])
    usable = stored["verdict"] != "INVALID" and energy_wh is not None and energy_wh > 0
    score = mean_ap / energy_wh if mean_ap is not None and usable and energy_wh else None
    for name, mine, theirs in (
        ("mean_ap", mean_ap, stored["mean_ap"]),
        ("energy_wh", energy_wh if usable else stored["energy_wh"], stored["energy_wh"]),
        ("score", score, stored["score"]),
    ):
        if not _close(mine, theirs):
            yield Mismatch(_SCORE, f"{name}: found {theirs}, the second path gives {mine}.")


def _close(mine: float | None, theirs: float | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return math.isclose(mine, theirs, rel_tol=_DIGITS, abs_tol=1e-12)


def _images(content: bytes) -> tuple[dict[str, int], dict[int, int]]:
    """Return the ground truth's id by file name without suffix, and by the contestant's number.

    A file goes by each end of its path that no other file has: by `Test/img0`, and by `img0` alone
    unless there is `Train/img0`.
    """
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
    owners: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        for end in _ends(row["file"]):
            owners[end].add(int(row["source_id"]))
    return (
        {end: min(ids) for end, ids in owners.items() if len(ids) == 1},
        {int(row["number"]): int(row["source_id"]) for row in rows},
    )


def _ends(name: str) -> list[str]:
    """Return the ends of a path without suffix, the longest first, as written and in small."""
    path = unicodedata.normalize("NFC", name.strip().replace("\\", "/"))
    path = re.sub(r"\.(jpe?g|png)$", "", path, flags=re.IGNORECASE)
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    ends = ["/".join(parts[start:]) for start in range(len(parts))]
    return [spelling for end in ends for spelling in (end, end.casefold())]


@dataclass
class _Found:
    """The detections of one class in the order of the file, as numbers without objects."""

    images: array[int] = field(default_factory=lambda: array("q"))
    confidences: array[float] = field(default_factory=lambda: array("d"))
    corners: array[float] = field(default_factory=lambda: array("d"))

    def by_image(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each image with the places of its detections, the surest first."""
        places = sorted(
            range(len(self.images)), key=lambda at: (self.images[at], -self.confidences[at], at)
        )
        for image, group in groupby(places, self.images.__getitem__):
            yield image, list(group)

    def box(self, place: int) -> Box:
        """Return the box at a place."""
        x0, y0, x1, y1 = self.corners[4 * place : 4 * place + 4]
        return x0, y0, x1, y1


def _detections(content: bytes, numbers: Mapping[int, int]) -> dict[int, _Found]:
    """Return the detections by class."""
    detections: dict[int, _Found] = defaultdict(_Found)
    for row in csv.reader(io.TextIOWrapper(io.BytesIO(content), "ascii", newline="")):
        image = numbers.get(int(row[0]))
        confidence = float(row[2])
        if image is not None and math.isfinite(confidence):
            there = detections[int(row[1])]
            there.images.append(image)
            there.confidences.append(confidence)
            there.corners.extend(map(float, row[3:7]))
    return detections


def _pairs(path: Path, read: Callable[[Path], bytes]) -> set[Key]:
    """Return the pairs of a blacklist; raise `InputError` for names in the place of numbers."""
    with about_file(path):
        try:
            return {(int(image), int(class_id)) for image, class_id in _cells(_text(path, read))}
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: the second path cannot read it: {error!r}.") from None


def _text(path: Path, read: Callable[[Path], bytes]) -> str:
    """Return a file's text, which may be packed by gzip."""
    return unpacked(path, read(path)).decode("utf-8-sig")


def _cells(text: str) -> Iterator[list[str]]:
    """Yield the cells of each line of numbers: no comment, no header, no blank line."""
    for line in text.splitlines():
        cells = re.split(r"\s*[,;]\s*|\s+", re.sub(r"(^|\s)#.*", "", line).strip())
        if cells[0] and cells[0].strip("\"'").lower() != "image_id":
            yield cells


def _energy_wh(content: bytes) -> float | None:
    """Return the energy in the reading that came last."""
    rows = [json.loads(line) for line in content.splitlines()]
    last = max(rows, key=lambda row: float(row["elapsed_s"]), default=None)
    return None if last is None or last["energy_wh"] is None else float(last["energy_wh"])


def _truth(
    path: Path,
    own_ids: Mapping[str, int],
    classes: Mapping[str, str],
    read: Callable[[Path], bytes],
) -> list[tuple[int, int, Box]]:
    """Return image, class and box of each object; raise `InputError` for an unknown form."""
    try:
        if path.is_dir():
            return [
                image
                for file in sorted(path.iterdir())
                if file.suffix.lower() == ".xml" and not file.name.startswith(".")
                for image in _xml(file, own_ids, classes, read)
            ]
        text = _text(path, read)
        if text.lstrip().startswith("{"):
            return [
                (annotation["image_id"], annotation["category_id"], (x, y, x + w - 1, y + h - 1))
                for annotation in json.loads(text)["annotations"]
                if not annotation.get("iscrowd")  # A region of many is no object of the truth.
                for x, y, w, h in [annotation["bbox"]]
            ]
        return [
            (int(i), int(c), (float(a), float(b), float(d), float(e)))
            for i, c, a, b, d, e in _cells(text)
        ]
    except (OSError, ValueError, KeyError, TypeError, ElementTree.ParseError) as error:
        raise InputError(f"{path}: the second path cannot read it: {error!r}.") from None


def _xml(
    path: Path,
    own_ids: Mapping[str, int],
    classes: Mapping[str, str],
    read: Callable[[Path], bytes],
) -> Iterator[tuple[int, int, Box]]:
    """Yield the objects of one annotation, which names its picture, or is named like it."""
    by_name = {name: int(number) for number, name in classes.items()}
    root = ElementTree.fromstring(_xml_text(read(path)))
    name = root.findtext("filename") or path.stem
    names = (f"{root.findtext('folder')}/{name}", unquote(name), path.stem)
    ends = [end for element in names for end in _ends(element)]
    image = next((own_ids[end] for end in ends if end in own_ids), None)
    for element in root.iter("object"):
        corners = [float(element.findtext(f"bndbox/{name}") or "") for name in _CORNERS]
        if image is not None:
            x0, y0, x1, y1 = corners
            yield image, by_name[element.findtext("name") or ""], (x0, y0, x1, y1)


def _xml_text(content: bytes) -> str | bytes:
    """Decode what the parser of XML cannot: encodings of several bytes a character."""
    declared = re.match(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)""", content)
    if declared is None:
        return content
    name = declared[1].decode("ascii").lower()
    name = "gb18030" if name in ("gb2312", "gbk") else name
    return content.decode("utf-8" if name.startswith("utf") else name)


_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def _mean_ap(
    truth: list[tuple[int, int, Box]],
    detections: Mapping[int, _Found],
    ignored: set[Key],
    images: set[int],
    classes: list[int],
) -> float | None:
    """Return the mean of the classes that have a truth box outside the blacklist."""
    boxes: dict[Key, list[Box]] = defaultdict(list)
    for image, klass, box in truth:
        if image in images and (image, klass) not in ignored:
            boxes[image, klass].append(box)
    positives: dict[int, int] = defaultdict(int)
    for (_, klass), there in boxes.items():
        positives[klass] += len(there)
    aps = []
    for klass in classes:
        hits: list[tuple[float, int, int, bool]] = []
        for image, places in detections[klass].by_image() if klass in detections else ():
            if (image, klass) not in ignored:
                hits += _match(image, detections[klass], places, boxes.get((image, klass), []))
        if positives[klass]:
            aps.append(_area(sorted(hits), positives[klass]))
    return math.fsum(aps) / len(aps) if aps else None


def _match(
    image: int, detections: _Found, places: list[int], boxes: list[Box]
) -> Iterator[tuple[float, int, int, bool]]:
    """Yield sort key and hit of each detection of one image and class, the surest first."""
    free = list(boxes)
    for place in places:
        box = detections.box(place)
        best, best_overlap = None, 0.0
        for candidate in free:
            overlap = _overlap(box, candidate)
            if overlap >= _needed(candidate) and overlap > best_overlap:
                best, best_overlap = candidate, overlap
        if best is not None:
            free.remove(best)
        yield -detections.confidences[place], image, place, best is not None


def _needed(box: Box) -> float:
    w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
    return min(0.5, w * h / ((w + 10) * (h + 10)))


def _overlap(a: Box, b: Box) -> float:
    if not all(map(math.isfinite, a)):
        return 0.0
    w = min(a[2], b[2]) - max(a[0], b[0]) + 1
    h = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if w <= 0 or h <= 0:
        return 0.0
    both = (a[2] - a[0] + 1) * (a[3] - a[1] + 1) + (b[2] - b[0] + 1) * (b[3] - b[1] + 1)
    return w * h / (both - w * h)


def _area(ordered: list[tuple[float, int, int, bool]], positives: int) -> float:
    """Return the area: each hit adds one step of recall at the best precision from there on."""
    precisions = []
    hits = 0
    for seen, (*_, hit) in enumerate(ordered, 1):
        hits += hit
        if hit:
            precisions.append(hits / seen)
    best, total = 0.0, []
    for precision in reversed(precisions):
        best = max(best, precision)
        total.append(best / positives)
    return math.fsum(total)
