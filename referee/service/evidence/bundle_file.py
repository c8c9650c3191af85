# SPDX-License-Identifier: Apache-2.0
"""A bundle as a stranger hands it over: nothing in it is trusted, and nothing is unpacked.

Whoever reads a bundle, whole or in part, reads it here. So the same bounds hold for all of them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec

from referee.core.bounds import BLACKLIST_MOST, Most, excess_of, most_unpacked
from referee.errors import InputError
from referee.service.evidence.zip_layout import Packed, ZipFault, laid_out, unpacked

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

_MOST_BYTES = 2**33

NO_VALUE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    RecursionError,
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
    with opened_bundle(path) as file:
        packed = members_in(file)
        _require_members([member.name for member in packed], expected)
        return contents_of(file, packed)


def members_in(file: IO[bytes]) -> list[Packed]:
    """Return the members of a bundle in their order; nothing is unpacked.

    Raises `NotABundle` for a file with a byte that the referee would not have written there.
    """
    with _told():
        return laid_out(file, MANIFEST)


def contents_of(file: IO[bytes], members: Sequence[Packed]) -> dict[str, bytes]:
    """Return the content of members; raise `NotABundle` before more than a session is unpacked."""
    for member in members:
        most = MOST.get(member.name)
        if most is None:
            raise NotABundle(member.name, "No bundle has such a member.")
        if member.size > most.bytes:
            raise _too_much(member.name, f"{member.size} bytes")
    size, packed = sum(member.size for member in members), os.fstat(file.fileno()).st_size
    if size > most_unpacked(packed):
        raise _too_much("", f"members of {size} bytes in {packed}")
    return {member.name: _content(file, member) for member in members}


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
def _told() -> Iterator[None]:
    """Tell what is wrong with a zip file as a finding."""
    try:
        yield
    except ZipFault as fault:
        raise NotABundle(fault.member, fault.what) from None
    except OSError as error:
        raise NotABundle("", f"The file cannot be read: {error.strerror}.") from None


def _content(file: IO[bytes], member: Packed) -> bytes:
    with _told():
        content = unpacked(file, member)
    excess = excess_of(content, MOST[member.name])
    if excess is not None:
        raise _too_much(member.name, excess)
    return content


def _too_much(member: str, what: str) -> NotABundle:
    return NotABundle(member, f"It has {what}, more than any session gives.")


def _require_members(names: Collection[str], expected: tuple[str, ...]) -> None:
    """Raise `NotABundle` unless each member is there, and none is strange."""
    for name in names:
        if name not in (*expected, *OPTIONAL, MANIFEST):
            raise NotABundle(name, "No bundle has such a member.")
    for name in (*expected, MANIFEST):
        if name not in names:
            raise NotABundle(name, "The member is missing.")
