# SPDX-License-Identifier: Apache-2.0
"""The second path's own reader of YOLO labels, see `shadow`."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from referee.errors import InputError
from referee.formats.text import unpacked

Box = tuple[float, float, float, float]


def sizes_of(content: bytes) -> dict[int, tuple[int, int]]:
    """Return width and height of each image by its id in the ground truth."""
    rows = csv.DictReader(io.StringIO(content.decode("utf-8")))
    return {int(row["source_id"]): (int(row["width"]), int(row["height"])) for row in rows}


def labels(
    folder: Path,
    own_ids: Mapping[str, int],
    sizes: Mapping[int, tuple[int, int]],
    read: Callable[[Path], bytes],
) -> Iterator[tuple[int, int, Box]]:
    """Yield the objects of YOLO labels, whose files are named like their pictures."""
    by_name = {unicodedata.normalize("NFC", name): image for name, image in own_ids.items()}
    posed = any(
        b"kpt_shape" in path.read_bytes()
        for place in (folder, *list(folder.absolute().parents)[:3])
        for path in place.glob("*.y*ml")
    )
    for path in sorted(folder.rglob("*.txt")):
        image = next((by_name[name] for name in _names(path, folder) if name in by_name), None)
        if image is None or path.name == "classes.txt":
            continue
        try:
            rows = [
                row.replace(",", " ").split()
                for row in unpacked(path, read(path)).decode("utf-8-sig").splitlines()
            ]
            found = [_label(row, sizes[image], posed=posed) for row in rows if row]
            for klass, box in dict.fromkeys(found):  # A row that repeats another is no object.
                yield image, klass, box
        except ValueError as error:
            raise InputError(f"{path}: the second path cannot read it: {error!r}.") from None


def _names(path: Path, folder: Path) -> Iterator[str]:
    """Yield the names under which the picture of a label file may be known, the longest first."""
    *above, _ = path.relative_to(folder).parts
    for parts in (
        ["images" if part == "labels" else part for part in above],
        [part for part in above if part != "labels"],
        [],
    ):
        yield unicodedata.normalize("NFC", "/".join([*parts, path.stem]))


def _label(row: list[str], size: tuple[int, int], *, posed: bool) -> tuple[int, Box]:
    """Return class and box of a row: a centre and sides, or the corners of an outline."""
    width, height = size
    numbers = [float(cell) for cell in row[1:]]
    if len(numbers) > 4 and not posed:
        xs, ys = numbers[::2], numbers[1::2]
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    else:
        cx, cy, w, h = numbers[:4]
        x0, x1, y0, y1 = cx - w / 2, cx + w / 2, cy - h / 2, cy + h / 2
    return int(float(row[0])) + 1, (
        x0 * width,
        y0 * height,
        x1 * width - 1,
        y1 * height - 1,
    )
