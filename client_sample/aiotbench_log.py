# SPDX-License-Identifier: Apache-2.0
"""The files of an AIoTBench run: the list of pictures with labels, and the log of answers."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO, Dict, List, NamedTuple, Tuple

HEADER = "image_id,workload_id,real_label,predict_label,time"


class DataSetPicture(NamedTuple):
    """A picture of the data set."""

    image_id: str
    path: Path
    label: int


def read_pictures(folder: Path, labels: Path) -> List[DataSetPicture]:
    """Read lines `file,label` or `file label`, whose files are in the folder.

    The first line may be a header. An image's id is the number at the end of its file's name, as
    363 for ILSVRC2012_val_00000363.JPEG. If two names end in one number, the ids are the names.
    Raises ValueError, which says what is wrong.
    """
    rows: List[Tuple[str, int]] = []
    for number, line in enumerate(labels.read_text(encoding="utf-8-sig").splitlines(), 1):
        cells = line.replace(",", " ").split()
        if not cells:
            continue
        try:
            name, label = cells[0], int(cells[1])
            if len(cells) != 2:
                raise IndexError
        except (IndexError, ValueError):
            if number == 1:
                continue  # a header
            raise ValueError(f"{labels}, line {number}: {line!r} is not file,label") from None
        rows.append((name, label))
    if not rows:
        raise ValueError(f"{labels} names no picture: give lines file,label")
    ids = _image_ids([name for name, _ in rows])
    pictures = [
        DataSetPicture(image, folder / name, label)
        for image, (name, label) in zip(ids, rows)  # noqa: B905  # Python 3.8 has no strict zip.
    ]
    missing = [picture.path for picture in pictures if not picture.path.is_file()]
    if missing:
        raise ValueError(f"{len(missing)} of the pictures do not exist; the first is {missing[0]}")
    return pictures


def _image_ids(names: List[str]) -> List[str]:
    stems = [Path(name).stem for name in names]
    ends = [re.search(r"[0-9]+$", stem) for stem in stems]
    numbers = [str(int(end[0])) for end in ends if end is not None]
    if len(set(numbers)) == len(names):
        return numbers
    if len(set(stems)) < len(names):
        twice = next(stem for stem in stems if stems.count(stem) > 1)
        raise ValueError(f"two pictures have the name {twice!r}: an image needs a name of its own")
    return stems


class Log:
    """The log of a run; rows are only ever appended.

    A row that a shut-down cut off in the middle is dropped when the log is opened again. `totals`
    has images, right answers and seconds of each workload.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._labels: Dict[Tuple[str, str], int] = {}
        self.totals: Dict[str, Tuple[int, int, float]] = {}
        self.dropped = 0
        self._file: BinaryIO = path.open("a+b")
        try:
            _lock(self._file, path)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def age_s(self, now_s: float) -> float:
        """Return how long ago the last row was written; `now_s` are seconds since 1970."""
        return now_s - self.path.stat().st_mtime

    def has(self, workload: str, picture: DataSetPicture) -> bool:
        """Tell whether a picture is logged; raise ValueError if it is, with another label."""
        label = self._labels.get((workload, picture.image_id))
        if label is not None and label != picture.label:
            raise ValueError(
                f"{self.path} has the label {label} for image {picture.image_id}, and the list of "
                f"labels has {picture.label}: name a new log"
            )
        return label is not None

    def append(
        self, workload: str, picture: DataSetPicture, predicted: int, seconds: float
    ) -> None:
        """Write a row."""
        row = f"{picture.image_id},{workload},{picture.label},{predicted},{seconds:.9f}\n"
        self._file.write(row.encode())
        self._file.flush()  # From here on the row outlives the program.
        self._count(picture.image_id, workload, picture.label, predicted, seconds)

    def save(self) -> None:
        """Wait until the rows are on the disk, where a shut-down cannot take them."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Save and close the log."""
        self.save()
        self._file.close()

    def _count(self, image: str, workload: str, real: int, predicted: int, seconds: float) -> None:
        images, right, total_s = self.totals.get(workload, (0, 0, 0.0))
        self.totals[workload] = (images + 1, right + (predicted == real), total_s + seconds)
        self._labels[workload, image] = real

    def _read(self) -> None:
        """Read what an earlier run has written; write the header into a new file."""
        self._file.seek(0)
        content = self._file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            self.dropped = len(content) - end
            self._file.truncate(end)
        for number, line in enumerate(content[:end].decode("utf-8", "replace").splitlines(), 1):
            if number == 1 and line == HEADER:
                continue
            try:
                image, workload, real, predicted, seconds = line.split(",")
                self._count(image, workload, int(real), int(predicted), float(seconds))
            except ValueError:
                raise ValueError(
                    f"{self.path}, line {number}: {line[:80]!r} is no row of a log: repair it, or "
                    "name a new log"
                ) from None
        if not end:
            self._file.write(HEADER.encode() + b"\n")
            self._file.flush()


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep a second run out of the log, where the system can do that."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"another run is writing {path}: wait for it, or name a new log") from None
