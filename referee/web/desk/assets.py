# SPDX-License-Identifier: Apache-2.0
"""The files of the pages: the referee's own, and those of guests."""

from __future__ import annotations

from pathlib import Path

from referee.service.setup.extra import all_extras
from referee.service.setup.pages import static_folder


def folder_and_name(name: str) -> tuple[Path, str]:
    """Return the folder of a static file and its name there: `NAME/…` is of the guest NAME.

    Such a file lies in `static` of the guest's package. No guest's name hides a folder of ours.
    """
    room, _, rest = name.partition("/")
    if not (static_folder() / room).is_dir():
        for extra in all_extras():
            if extra.name == room and extra.folder is not None:
                return extra.folder / "static", rest
    return static_folder(), name
