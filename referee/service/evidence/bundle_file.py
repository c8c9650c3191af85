# SPDX-License-Identifier: Apache-2.0
"""A bundle as a stranger hands it over: nothing in it is trusted, and nothing is unpacked.

Whoever reads a bundle, whole or in part, reads it here. So the same bounds hold for all of them.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec

from referee.core.bounds import BLACKLIST_MOST, Most, excess_of, most_unpacked
from referee.errors import InputError

MANIFEST = "manifest.json"
"""The member with the SHA-256 of every other member, and with the signatures."""

BLACKLIST = "blacklist.csv"
"""The member with the blacklist that the session was scored with; the others have no such one."""

OPTIONAL = (BLACKLIST,)
"""The members that not every bundle has."""

SESSION_MOST = 2**53 - 1
"""The highest number of a session: many readers of JSON keep no more digits."""


# A session takes ten million detections, a hundred bytes each. It has fewer requests, and a day of
# readings ten times a second is less than a million. All else is far smaller.
_SMALL = Most(2**24, 1_000_000)
_LISTED = Most(2**28, 1_000_000)
_LONG = Most(2**30, 10_000_000)
MOST = {
    **dict.fromkeys((MANIFEST, "session.json", "config.toml", "run.json"), _SMALL),
    **dict.fromkeys(("score.json", "verdict.json"), _SMALL),
    **dict.fromkeys(("images.csv", "frames.csv"), _LISTED),
    BLACKLIST: BLACKLIST_MOST,
    **dict.fromkeys(("detections.csv", "late_detections.csv", "facts.jsonl", "meter.jsonl"), _LONG),
    **dict.fromkeys(("answers.csv", "requests.csv", "power.csv", "readings.jsonl"), _LONG),
}
"""The bounds of each member of a bundle."""

_MOST_MEMBERS = 100
_MOST_BYTES = 2**33
# Others unpack without a bound for what one read may give.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError),
    *(NotImplementedError, KeyError),
)
"""What a broken zip file, or a broken member, raises."""

NO_VALUE = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(OverflowError, ZeroDivisionError, RecursionError),
)
"""What reading a stranger's JSON, moments and numbers raises where they are none."""


@dataclass(frozen=True)
class Mismatch:
    """What does not hold in a bundle; `member` is "" for the file as a whole."""

    member: str
    what: str


class ManifestTold(msgspec.Struct):
    """What `manifest.json` tells: the SHA-256 of each member, and the signatures as they stand."""

    sha256: dict[str, str]
    session: Annotated[int, msgspec.Meta(ge=0, le=SESSION_MOST)] | None = None
    referee_version: str | None = None
    envelope: Any = None


class NotABundle(Exception):
    """The file cannot be read as a bundle; `finding` says why."""

    def __init__(self, member: str, what: str) -> None:
        super().__init__(member, what)
        self.finding = Mismatch(member, what)


@contextmanager
def opened_bundle(path: Path) -> Iterator[BufferedReader]:
    """Open a bundle's file; raise `NotABundle` for a path that is none, or cannot be read."""
    try:
        # To open a pipe would wait for somebody who writes.
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotABundle("", "It is no file.")
        if path.stat().st_size > _MOST_BYTES:
            raise NotABundle("", f"It has more than {_MOST_BYTES} bytes, and no bundle has.")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise NotABundle("", f"The file cannot be read: {error.strerror}.") from None


def read_members(path: Path, expected: tuple[str, ...]) -> dict[str, bytes]:
    """Return the content of each member by name.

    Raises `InputError` without a file, and `NotABundle` for a file that is broken, too large, or
    holds other members than `expected`, a manifest and those of `OPTIONAL`.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name the bundle's zip file.")
    if not path.exists():
        raise InputError(f"{path} does not exist. Name the bundle's zip file.")
    with opened_bundle(path) as file, _archive(file) as archive:
        entries = archive.infolist()
        _require_members(entries, expected)
        return _contents(archive, entries, file)


def read_some(file: IO[bytes], names: Collection[str]) -> dict[str, bytes]:
    """Return the members of a bundle that are named, and look at no other.

    A name that is not there is left out, so a bundle of an earlier referee can be read. Raises
    `NotABundle`.
    """
    with _archive(file) as archive:
        wanted = [entry for entry in archive.infolist() if entry.filename in names]
        return _contents(archive, wanted, file)


def size_of_member(file: IO[bytes], name: str) -> int:
    """Return how long a member says that it is, without a look at it; raise `NotABundle`."""
    with _archive(file) as archive:
        sizes = [entry.file_size for entry in archive.infolist() if entry.filename == name]
    if len(sizes) != 1:
        raise NotABundle(name, f"The member is there {len(sizes)} times.")
    return sizes[0]


def json_of(member: str, content: bytes) -> Any:
    """Return a member's JSON.

    Raises `NotABundle` for JSON that no referee writes: not whole, nested without end, with a
    number that is no finite one, or with half of a letter.
    """
    try:
        return msgspec.json.decode(content)
    except NO_VALUE as error:
        raise NotABundle(member, f"It is no JSON of a referee: {error}.") from None


def read_digests(members: Mapping[str, bytes]) -> ManifestTold:
    """Return the manifest of a bundle, of any referee; raise `NotABundle` for one that is none."""
    try:
        return msgspec.json.decode(members[MANIFEST], type=ManifestTold)
    except NO_VALUE as error:
        why = f"It is no manifest, and so this is no whole bundle: {error}."
        raise NotABundle(MANIFEST, why) from None


@contextmanager
def _archive(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            count = len(archive.infolist())
            if count > _MOST_MEMBERS:
                raise NotABundle("", f"The file has {count} members, and a bundle a few.")
            yield archive
    except BROKEN as error:
        raise NotABundle("", f"This is no whole zip file: {error}.") from None


def _contents(
    archive: zipfile.ZipFile, entries: Collection[zipfile.ZipInfo], file: IO[bytes]
) -> dict[str, bytes]:
    """Return the content of members; raise `NotABundle` before more than a session is read."""
    _require_once(entry.filename for entry in entries)
    for entry in entries:
        if entry.file_size > MOST[entry.filename].bytes:
            raise _too_much(entry.filename, f"{entry.file_size} bytes")
    size, packed = sum(entry.file_size for entry in entries), os.fstat(file.fileno()).st_size
    if size > most_unpacked(packed):
        raise _too_much("", f"members of {size} bytes in {packed}")
    return {entry.filename: _read(archive, entry) for entry in entries}


def _require_once(names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise NotABundle(name, f"The member is there {count} times.")


def _too_much(member: str, what: str) -> NotABundle:
    return NotABundle(member, f"It has {what}, more than any session gives.")


def _require_members(entries: list[zipfile.ZipInfo], expected: tuple[str, ...]) -> None:
    """Raise `NotABundle` unless each member is there, in order, and none is strange."""
    names = [entry.filename for entry in entries]
    _require_once(names)
    for name in names:
        if name not in (*expected, *OPTIONAL, MANIFEST):
            raise NotABundle(name, "No bundle has such a member.")
    for name in (*expected, MANIFEST):
        if name not in names:
            raise NotABundle(name, "The member is missing.")
    if names != sorted(names):
        raise NotABundle("", "The members are not in their order.")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return a member's content; what a bundle says of its size bounds what is unpacked."""
    if entry.compress_type not in _PACKINGS:
        raise NotABundle(entry.filename, "No referee packs a member in this way.")
    try:
        with archive.open(entry) as member:
            content = member.read(entry.file_size)
            if len(content) < entry.file_size:
                raise NotABundle(entry.filename, "The member has another size than it says.")
    except BROKEN as error:
        raise NotABundle(entry.filename, f"The member cannot be read: {error}.") from None
    excess = excess_of(content, MOST[entry.filename])
    if excess is not None:
        raise _too_much(entry.filename, excess)
    return content
