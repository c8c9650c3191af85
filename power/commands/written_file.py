# SPDX-License-Identifier: Apache-2.0
"""The path of a file that a command writes: for the parsers of both packages.

A page or a picture is made again and again under one name, so it replaces the one before. It never
replaces a file of another form: that is somebody's configuration, ground truth or evidence.
"""

from __future__ import annotations

import argparse
import stat
from dataclasses import dataclass
from pathlib import Path

_BEGINNING_BYTES = 256


def file_to_write(text: str) -> Path:
    """Return a path that no device or pipe has; it may be a folder, or not be there.

    A file is written beside its place and then moved there. Over a device that would put a file in
    the device's place for every program of the machine, and a pipe that nobody reads would hold
    the command for ever.
    """
    path = Path(text)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # Not there, or no name that can be: the writer says it.
        return path
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise argparse.ArgumentTypeError(f"{text} is a device or a pipe: name a file")
    return path


@dataclass(frozen=True)
class FileOfForm:
    """A parser's type for the path of a file that replaces an empty one, or one of its form.

    `form` is how a sentence calls it. A file of that form has one of the `beginnings`, in small
    letters and without blanks before it, and `near` in its first bytes.
    """

    form: str
    beginnings: tuple[bytes, ...]
    near: bytes = b""

    def __call__(self, text: str) -> Path:
        """Return the path, or raise what argparse tells its user."""
        path = file_to_write(text)
        found = _beginning(path)
        if found and not (found.startswith(self.beginnings) and self.near in found):
            raise argparse.ArgumentTypeError(
                f"{text} exists, and is no {self.form}: it stays. Give another name"
            )
        return path


_PAGES = (b"<!doctype html", b"<html")
_PICTURES = (b"\x89png", b"<?xml", b"<svg", b"%pdf")
page_to_write = FileOfForm("page", _PAGES)
"""The type of a page of HTML."""
picture_to_write = FileOfForm("picture", _PICTURES)
"""The type of a drawing."""
plot_to_write = FileOfForm("picture or page", (*_PICTURES, *_PAGES))
"""The type of a drawing, or of a page that has one."""
workbook_to_write = FileOfForm("workbook", (b"pk",), b"[content_types].xml")
"""The type of a file for a spreadsheet."""
class_table_to_write = FileOfForm("table of classes", (b"class_id,",))
"""The type of a CSV of scored classes or their curves."""


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file for a comparison; none of one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_BEGINNING_BYTES).lstrip().lower()
    except (OSError, ValueError):  # Not there, or a folder: the writer says it.
        return b""
