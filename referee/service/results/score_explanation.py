# SPDX-License-Identifier: Apache-2.0
"""The explanation of a score: a folder with each detection's fate, curves, and the worst misses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.errors import InputError
from referee.formats.truth_file import GroundTruthFile
from referee.scoring.detection_outcomes import Fate, Fates
from referee.scoring.result import IlsvrcResult
from referee.service.results.explanation_page import (
    FALSE_COLOUR,
    TRUE_COLOUR,
    CurvePicture,
    PagePicture,
    explanation_page,
)
from referee.service.results.score_pictures import LabelledBox, draw_boxes, draw_curve
from referee.service.setup.extra import SessionReport
from referee.service.setup.image_folder import list_folder
from referee.service.setup.image_names import ImageNames

Ints = NDArray[np.int64]

_EACH = 20
_NO_REPORTS: Mapping[str, SessionReport] = MappingProxyType({})
_SHOWN = (Fate.DUPLICATE, Fate.WRONG_CLASS, Fate.POOR_OVERLAP, Fate.BACKGROUND)


@dataclass(frozen=True)
class Miss:
    """One picture to draw: the image, a text about the mistake, and the boxes that show it."""

    image_id: int
    text: str
    boxes: tuple[LabelledBox, ...]
    is_missed: bool = False

    @property
    def alt(self) -> str:
        """Return what the picture shows, for those who do not see it."""
        words = {FALSE_COLOUR: "red", TRUE_COLOUR: "green"}
        boxes = [f"a {words[one.colour]} box labelled '{one.label}'" for one in self.boxes]
        return f"image {self.image_id} with {' and '.join(boxes)}"


def write_explanation(
    folder: Path,
    result: IlsvrcResult,
    truth_file: GroundTruthFile,
    detections: Detections,
    pictures: Path | None = None,
    subject: str = "this answer",
    reports: Mapping[str, SessionReport] = _NO_REPORTS,
) -> None:
    """Write `fates.csv`, `curves/`, `misses/` and a page `index.html` of them into a folder.

    `fates.csv` has a row per detection: its fate, and the truth box that decided it with IoU,
    class and corners. These fields are empty if no truth box decided. `curves/` has a picture per
    class. `misses/` has pictures of the most confident false positives and of the largest missed
    truth boxes. They are drawn on the photographs in the folder `pictures`, which are found by the
    image's name or number. `subject` says in words whose score it is. `reports` has what guests say
    of the session, by their names; each gets a page `NAME.html`. Existing files are overwritten.
    Raises `InputError` if the folder cannot be written.
    """
    fates = result.explain()
    try:
        for name in ("curves", "misses"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        _write_fates(folder / "fates.csv", truth_file, detections, fates)
        curves = [*_write_curves(folder, result, truth_file)]
        misses = [*misses_of(truth_file, detections, fates)]
        shown = [*_write_misses(folder, misses, truth_file, pictures)]
        wrong = sum(not miss.is_missed for miss in misses)
        content = explanation_page(
            subject, result, fates, shown[:wrong], shown[wrong:], curves, reports
        )
        for name, report in reports.items():
            (folder / f"{name}.html").write_text(report.page, encoding="utf-8")
        # A picture's name may have what UTF-8 has not, as names of files can.
        page = content.encode("utf-8", "backslashreplace")
        (folder / "index.html").write_bytes(page)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None


def _write_fates(
    path: Path, truth_file: GroundTruthFile, detections: Detections, fates: Fates
) -> None:
    names = {int(fate): fate.name.lower() for fate in Fate}
    truth = [
        ",".join(map(repr, (klass, *box)))
        for klass, box in zip(
            truth_file.truth.box_class_id.tolist(), truth_file.truth.box.tolist(), strict=True
        )
    ]
    columns = (
        detections.image_id,
        detections.class_id,
        detections.confidence,
        detections.box,
        fates.fate,
        fates.truth_row,
        fates.iou,
    )
    with path.open("w", encoding="ascii") as file:
        file.write(
            "image_id,class_id,confidence,xmin,ymin,xmax,ymax,fate,iou,"
            "truth_class_id,truth_xmin,truth_ymin,truth_xmax,truth_ymax\n"
        )
        for image, klass, confidence, box, fate, row, iou in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            detection = ",".join(map(repr, (image, klass, confidence, *box)))
            decided_by = truth[row] if row >= 0 else ",,,,"
            file.write(f"{detection},{names[fate]},{iou:.6f},{decided_by}\n")


def _write_curves(
    folder: Path, result: IlsvrcResult, truth_file: GroundTruthFile
) -> Iterator[CurvePicture]:
    """Write a picture per class with ground truth, and yield what the page says of it."""
    for class_id, ap in result.ap.items():
        if ap is None:
            continue
        name = truth_file.truth.class_names.get(class_id, "")
        title = f"class {class_id} {name}".strip() + f": AP {ap:.4f}"
        path = f"curves/{_file_name(class_id, name)}.png"
        draw_curve(folder / path, title, result.precision_recall(class_id))
        alt = f"Precision over recall of {name or f'class {class_id}'}, with an AP of {ap:.4f}"
        yield CurvePicture(path, title, alt, ap)


def misses_of(truth_file: GroundTruthFile, detections: Detections, fates: Fates) -> Iterator[Miss]:
    """Yield the most confident false positives, then the largest missed truth boxes."""
    truth = truth_file.truth
    wrong = np.flatnonzero(np.isin(fates.fate, _SHOWN))
    wrong = wrong[np.argsort(-detections.confidence[wrong], kind="stable")][:_EACH]
    for row in wrong.tolist():
        said = _name(truth_file, int(detections.class_id[row]))
        fate = Fate(int(fates.fate[row]))
        boxes = [_false_box(detections.box[row], f"says {said}")]
        text = f"{said} {detections.confidence[row]:.3f}: {fate.name.lower().replace('_', ' ')}"
        of = int(fates.truth_row[row])
        if of >= 0:
            is_a = _name(truth_file, int(truth.box_class_id[of]))
            boxes.insert(0, _truth_box(truth.box[of], f"is {is_a}"))
            text += f", IoU {fates.iou[row]:.3f} with {is_a}"
        yield Miss(int(detections.image_id[row]), text, tuple(boxes))
    box = truth.box[fates.missed]
    area = (box[:, 2] - box[:, 0] + 1) * (box[:, 3] - box[:, 1] + 1)
    for row in fates.missed[np.argsort(-area, kind="stable")][:_EACH].tolist():
        is_a = _name(truth_file, int(truth.box_class_id[row]))
        image_id = int(truth.box_image_id[row])
        yield Miss(image_id, f"{is_a}: missed", (_truth_box(truth.box[row], is_a),), True)


def _write_misses(
    folder: Path, misses: list[Miss], truth_file: GroundTruthFile, pictures: Path | None
) -> Iterator[PagePicture]:
    """Write a picture per miss, and yield what the page says of it."""
    numbers = {own: place for place, own in enumerate(truth_file.truth.image_ids.tolist(), start=1)}
    files = ImageNames(() if pictures is None else list_folder(pictures).images)
    for place, miss in enumerate(misses, start=1):
        path = f"misses/{place:02d}-image-{miss.image_id}.png"
        caption = f"image {miss.image_id}: {miss.text}"
        photograph = None
        if pictures is not None:
            name = truth_file.file_names.get(miss.image_id, "")
            file = _photograph(files, name, miss.image_id, numbers[miss.image_id])
            photograph = None if file is None else pictures / file
        size = truth_file.sizes.get(miss.image_id)
        draw_boxes(folder / path, photograph, size, miss.boxes, "", roomy=True)
        yield PagePicture(path, caption, miss.alt)


def _photograph(files: ImageNames, name: str, own_id: int, number: int) -> str | None:
    """Find an image's file by its name, by its own id, or by its number in the contest.

    A name that several files could be has none: the boxes would stand on another photograph.
    """
    found = files.files_of(name) if name else ()
    found = found or files.files_without_suffix(str(own_id))
    found = found or files.files_without_suffix(str(number))
    return found[0] if len(found) == 1 else None


def _name(truth_file: GroundTruthFile, class_id: int) -> str:
    return truth_file.truth.class_names.get(class_id) or f"class {class_id}"


def _file_name(class_id: int, name: str) -> str:
    """Return a file name that is valid on every file system."""
    return "-".join([f"{class_id:04d}", *re.findall(r"[A-Za-z0-9]+", name)])


def _false_box(box: NDArray[np.float64], label: str) -> LabelledBox:
    left, top, right, bottom = box.tolist()
    return LabelledBox((left, top, right, bottom), label, FALSE_COLOUR)


def _truth_box(box: NDArray[np.float64], label: str) -> LabelledBox:
    left, top, right, bottom = box.tolist()
    return LabelledBox((left, top, right, bottom), label, TRUE_COLOUR, at_foot=True)
