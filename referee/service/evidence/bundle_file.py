# SPDX-License-Identifier: Apache-2.0
"""A bundle as a stranger hands it over: nothing in it is trusted, and nothing is unpacked."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from referee.errors import InputError

MANIFEST = "manifest.json"
"""The member with the SHA-256 of every other member, and with the signatures."""

# A session takes ten million detections, a hundred bytes each.
_MOST_BYTES = 2 * 2**30
_MOST_MEMBERS = 100
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError),
    *(NotImplementedError, KeyError),
)
"""What a broken zip file, or a broken member, raises."""


@dataclass(frozen=True)
class Finding:
    """What does not hold in a bundle; `member` is "" for the file as a whole."""

    member: str
    what: str


class NotABundle(Exception):
    """The file cannot be read as a bundle; `finding` says why."""

    def __init__(self, member: str, what: str) -> None:
        super().__init__(member, what)
        self.finding = Finding(member, what)


def read_members(path: Path, expected: tuple[str, ...]) -> dict[str, bytes]:
    """Return the content of each member by name.

    Raises `InputError` without a file, and `NotABundle` for a file that is broken, too large, or
    holds other members than `expected` and a manifest.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name the bundle's zip file.")
    if not path.exists():
        raise InputError(f"{path} does not exist. Name the bundle's zip file.")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _require_members(entries, expected)
            return {entry.filename: _read(archive, entry) for entry in entries}
    except BROKEN as error:
        raise NotABundle("", f"This is no whole zip file: {error}.") from None


def read_some(file: IO[bytes], most_bytes: Mapping[str, int]) -> dict[str, bytes]:
    """Return the members of a bundle that are named, and look at no other.

    `most_bytes` has the names, and the size that each member may have at most. A name that is not
    there is left out, so a bundle of an earlier referee can be read. Raises `NotABundle`.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_MEMBERS:
                raise NotABundle("", f"The file has {len(entries)} members, and a bundle a few.")
            wanted = [entry for entry in entries if entry.filename in most_bytes]
            _require_once(entry.filename for entry in wanted)
            for entry in wanted:
                most = most_bytes[entry.filename]
                if entry.file_size > most:
                    raise NotABundle(
                        entry.filename,
                        f"It has {entry.file_size} bytes, more than any session gives.",
                    )
            return {entry.filename: _read(archive, entry) for entry in wanted}
    except BROKEN as error:
        raise NotABundle("", f"This is no whole zip file: {error}.") from None


def _require_once(names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise NotABundle(name, f"The member is there {count} times.")


def _require_members(entries: list[zipfile.ZipInfo], expected: tuple[str, ...]) -> None:
    """Raise `NotABundle` unless each member is there once, and none is strange or too large."""
    if len(entries) > _MOST_MEMBERS:
        raise NotABundle("", f"The file has {len(entries)} members, and a bundle a few.")
    names = [entry.filename for entry in entries]
    _require_once(names)
    for name in names:
        if name not in (*expected, MANIFEST):
            raise NotABundle(name, "No bundle has such a member.")
    for name in (*expected, MANIFEST):
        if name not in names:
            raise NotABundle(name, "The member is missing.")
    size = sum(entry.file_size for entry in entries)
    if size > _MOST_BYTES:
        raise NotABundle("", f"The members have {size} bytes, more than any session gives.")
    if names != sorted(names):
        raise NotABundle("", "The members are not in their order.")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(entry)
    except BROKEN as error:
        raise NotABundle(entry.filename, f"The member cannot be read: {error}.") from None
