# SPDX-License-Identifier: Apache-2.0
"""Whose folder it is: the referee uses a new or an empty folder, or one of its own, and no other.

A folder is the referee's if it holds a mark that no other program leaves: a database with our
schema, our keys, or one of our locks. It is the referee's, too, if all that it holds has names of
the referee: so somebody may bring back a key alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from referee.errors import InputError
from referee.service.setup.secrets_file import holds_keys, secrets_path
from referee.store.readable import is_our_database, refusal_of_writes


class Owner(Enum):
    """Whose a folder is; who may not look into it cannot know, and leaves it alone."""

    NOBODY = "it is not there yet"
    EMPTY = "it is empty"
    REFEREE = "it is a referee's"
    STRANGER = "it is somebody else's"


_ROLES = ("contest", "programs", "desk", "checks", "board", "ovic")
_DATABASE = "referee.db"
# Beside one of the first names, the others do not make the folder a stranger's.
_TELLING = (
    "contest.toml*",
    "signing.key*",
    "signing.pub*",
    "secrets.json*",
    "referee*.db*",
    "contest_tls.*",
    "contest_ca.*",
    "logins*.lock",
    *(f"{role}.lock" for role in _ROLES),
)
_USUAL = (
    "teams.csv*",
    "rehearsals",
    "logs",
    "models",
    "bundles",
    "golden",
    "meter*.jsonl*",
    # What file managers leave in a folder that somebody has looked at.
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    ".directory",
    ".localized",
)
_CRUMBS = _USUAL[-5:]
_LOCK_MOST_BYTES = 20
_SHOWN = 3


def owner_of(folder: Path) -> Owner:
    """Return whose a folder is; this opens files in it, and changes nothing.

    Raises `InputError` for what is no folder, and for one that this user may not look into.
    """
    names = _names_in(folder)
    if names is None:
        return Owner.NOBODY
    if not without_crumbs(names):
        return Owner.EMPTY
    is_ours = _has_mark(folder, names) or _has_our_names_alone(names)
    return Owner.REFEREE if is_ours else Owner.STRANGER


def require_own(folder: Path, beside: Collection[str] = ()) -> None:
    """Raise `InputError` for a folder of somebody else, by its name; nothing was changed then.

    Files with the names `beside` may be there, too.
    """
    if owner_of(folder) is Owner.STRANGER and (fault := strangers(folder, beside)):
        raise InputError(fault)


def strangers(folder: Path, beside: Collection[str] = ()) -> str:
    """Return why a folder of somebody else is not used, with what it holds.

    Files with the names `beside` do not count; the text is '' if there are no others.
    """
    strange = [name for name in without_crumbs(_names_in(folder) or ()) if name not in beside]
    if not strange:
        return ""
    listed = ", ".join(strange[:_SHOWN])
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    remedy = "Name a folder that is empty or not there yet."
    if os.path.ismount(folder):  # It often holds lost+found or .zfs, which nobody has put there.
        remedy = f"It is the top of a disk: name a new folder in it, such as {folder / 'referee'}."
    return (
        f"{folder}: is no folder of the referee's, and holds {listed}{more}. Nothing was changed. "
        f"{remedy}"
    )


def without_crumbs(names: Collection[str]) -> list[str]:
    """Return the names in a folder without those of files that file managers leave."""
    return _without(names, _CRUMBS)


def why_not_made(folder: Path) -> str:
    """Return why a folder that is not there could not be made, as far as a look tells; else ''."""
    place = folder.absolute()
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return f"{place} is no folder"
    return refusal_of_writes(place) or ""


def _names_in(folder: Path) -> list[str] | None:
    """Return the names in a folder in order, None if it is not there."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):  # `make_folder` says what is in the way.
        return None
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be used as a folder: {error.strerror}. Name another one."
        ) from None


def _has_mark(folder: Path, names: Collection[str]) -> bool:
    if _DATABASE in names and is_our_database(folder / _DATABASE):
        return True
    if any(f"{role}.lock" in names and _is_lock(folder / f"{role}.lock") for role in _ROLES):
        return True
    return secrets_path(folder).name in names and holds_keys(secrets_path(folder))


def _is_lock(path: Path) -> bool:
    """Tell whether a file holds what a lock of ours holds: a process id, or nothing yet."""
    if not path.is_file():  # Reading a pipe would wait for somebody who writes.
        return False
    try:
        with path.open("rb") as file:
            return re.fullmatch(rb"\d*\s*", file.read(_LOCK_MOST_BYTES)) is not None
    except OSError:
        return False


def _has_our_names_alone(names: Collection[str]) -> bool:
    others = _without(names, _TELLING)
    return len(others) < len(names) and not _without(others, _USUAL)


def _without(names: Collection[str], patterns: Collection[str]) -> list[str]:
    return [name for name in names if not any(fnmatchcase(name, it) for it in patterns)]
