# SPDX-License-Identifier: Apache-2.0
"""The one layout of a bundle's zip file: every byte of it has its place.

Programs read an unusual zip file in different ways: from its end or from its beginning, by the
headers or by the directory. So two of them can take two contents out of one file. Here the members
follow each other without a gap, then the directory, then the end record, then nothing, and each
record is compared with the one that `zip_writer.py` writes. Only the packing of a member is free.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import IO

STORED, DEFLATED = 0, 8
"""The two ways to pack a member that all programs know."""

_END = struct.Struct("<4s4H2LH")
_END_NAMES = tuple(
    "signature, disk, disk of the directory, entries of the disk, entries, "
    "size of the directory, place of the directory, length of the comment".split(", ")
)
_ENTRY = struct.Struct("<4s4B4HL2L5H2L")
_ENTRY_NAMES = tuple(
    "signature, version of the writer, system, version, reserved byte, flags, packing, "
    "time, date, checksum, packed size, size, length of the name, "
    "length of extra fields, length of the comment, disk, internal attributes, mode, "
    "place of the header".split(", ")
)
_HEADER = struct.Struct("<4s2B4HL2L2H")
_HEADER_NAMES = tuple(
    "signature, version, reserved byte, flags, packing, time, date, checksum, "
    "packed size, size, length of the name, length of extra fields".split(", ")
)
_EXTRA = struct.Struct("<2H2Q")
_EXTRA_NAMES = ("kind of extra field", "length of its content", "size", "packed size")

_VERSION, _UNIX, _DATE, _MODE = 45, 3, 0x21, 0o100644 << 16
_IN_EXTRA = 0xFFFFFFFF  # The size stands in the extra field of 64 bits.
_MOST_MEMBERS = 100
_NAME_MOST = 80
_NAME = re.compile(r"[a-z][a-z_]{0,50}\.[a-z]{1,9}")


class ZipFault(Exception):
    """A member's name, or "" for the file as a whole, and what is wrong with it."""

    def __init__(self, member: str, what: str) -> None:
        super().__init__(member, what)
        self.member, self.what = member, what


@dataclass(frozen=True)
class Packed:
    """A member as it lies in the file: `packed` bytes from `at` on, which unpack to `size`."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header_at: int

    @property
    def at(self) -> int:
        """Return where the packed bytes begin."""
        return self.header_at + _HEADER.size + len(self.name) + _EXTRA.size

    @property
    def behind(self) -> int:
        """Return the place of the first byte behind the member."""
        return self.at + self.packed


def laid_out(file: IO[bytes], last: str) -> list[Packed]:
    """Return the members in the order of their names; `last` is the one that is written last.

    Raises `ZipFault` unless each record is as the referee writes it, in its own place.
    """
    count, start, length = _end_of(file)
    file.seek(start)
    entries = list(_entries(file.read(length), count))
    _require_names([name for name, _ in entries])
    members = [_member(name, entry) for name, entry in entries]
    written = sorted(members, key=lambda member: (member.name == last, member.name))
    places = accumulate((m.behind - m.header_at for m in written), initial=0)
    for member, place in zip(written, places, strict=False):
        if member.header_at != place:
            what = f"It begins at byte {member.header_at}, and the bytes before it end at {place}."
            raise ZipFault(member.name, what)
        _require_header(file, member)
    end = written[-1].behind if written else 0
    if end != start:
        raise ZipFault("", f"The members end at byte {end}, and the directory begins at {start}.")
    return members


def unpacked(file: IO[bytes], member: Packed) -> bytes:
    """Return a member's content, which is as long as its size says, and has its checksum.

    Raises `ZipFault`, also for packed bytes of which a reader would leave out some.
    """
    file.seek(member.at)
    packed = file.read(member.packed)
    content = packed
    if member.method == DEFLATED:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            # One byte more than it says: a longer one is seen, and never unpacked as a whole.
            content = unpacker.decompress(packed, member.size + 1)
        except zlib.error as error:
            raise ZipFault(member.name, f"The member cannot be read: {error}.") from None
        if unpacker.unused_data:
            left = len(unpacker.unused_data)
            raise ZipFault(member.name, f"{left} bytes stand behind its packed content.")
        if len(content) == member.size and not unpacker.eof:
            raise ZipFault(member.name, "The member cannot be read: its packed content has no end.")
    if len(content) != member.size:
        raise ZipFault(member.name, "The member has another size than it says.")
    if zlib.crc32(content) != member.crc:
        raise ZipFault(member.name, "The member cannot be read: it has another checksum.")
    return content


def whole_members(file: IO[bytes]) -> Iterator[Packed]:
    """Yield the members from the file's beginning on, as far as they are whole.

    So much can be read of a torn file. It is no proof of anything.
    """
    size, place = file.seek(0, os.SEEK_END), 0
    for _ in range(_MOST_MEMBERS):
        file.seek(place)
        start = file.read(_HEADER.size)
        if len(start) < _HEADER.size:
            return
        fields = dict(zip(_HEADER_NAMES, _HEADER.unpack(start), strict=True))
        name = file.read(fields["length of the name"]).decode("ascii", "replace")
        extra = file.read(_EXTRA.size)
        if fields["signature"] != b"PK\3\4" or len(extra) < _EXTRA.size:
            return
        _, _, length, packed = _EXTRA.unpack(extra)
        member = Packed(name, fields["packing"], fields["checksum"], packed, length, place)
        if not _NAME.fullmatch(name) or member.behind > size:
            return
        yield member
        place = member.behind


def _end_of(file: IO[bytes]) -> tuple[int, int, int]:
    """Return the number of members, and the place and length of the directory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - 0xFFFF))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise ZipFault("", "This is no whole zip file: it has no end record.")
    if len(tail) - at > _END.size:
        raise ZipFault("", f"bytes were added at its end: {len(tail) - at - _END.size}.")
    found = _END.unpack(tail[at:])
    count, length, start = found[4:7]
    if count > _MOST_MEMBERS:
        raise ZipFault("", f"The file has {count} members, and a bundle a few.")
    expected = (b"PK\5\6", 0, 0, count, count, length, size - _END.size - length, 0)
    _require("", "end record", _END_NAMES, found, expected)
    return count, start, length


def _entries(directory: bytes, count: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each member's name and what the directory says of it; together they fill its bytes."""
    place = 0
    for _ in range(count):
        fields = directory[place : place + _ENTRY.size]
        if len(fields) < _ENTRY.size:
            raise ZipFault("", "This is no whole zip file: its directory is too short.")
        found = dict(zip(_ENTRY_NAMES, _ENTRY.unpack(fields), strict=True))
        behind = place + _ENTRY.size + found["length of the name"]
        yield _told(directory[place + _ENTRY.size : behind]), found
        # The referee writes neither of them; `_member` names what another program has written.
        place = behind + found["length of extra fields"] + found["length of the comment"]
    if place != len(directory):
        raise ZipFault("", f"The directory has {len(directory) - place} bytes of no member.")


def _require_names(names: Sequence[str]) -> None:
    """Raise `ZipFault` unless the names are plain ones, in order, and each is there once."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise ZipFault(name, "No bundle has such a member.")
        if names.count(name) > 1:
            raise ZipFault(name, f"The member is there {names.count(name)} times.")
    if list(names) != sorted(names):
        raise ZipFault("", "The members are not in their order.")


def _member(name: str, found: dict[str, int]) -> Packed:
    """Return what a directory's entry says; raise `ZipFault` for one that is written otherwise."""
    packing = found["packing"]
    if packing not in (STORED, DEFLATED):
        raise ZipFault(name, "No referee packs a member in this way.")
    crc, packed, size = found["checksum"], found["packed size"], found["size"]
    expected = (
        b"PK\1\2",
        _VERSION,
        _UNIX,
        _VERSION,
        0,
        0,
        packing,
        0,
        _DATE,
        crc,
        packed,
        size,
        len(name),
        0,
        0,
        0,
        0,
        _MODE,
        found["place of the header"],
    )
    _require(name, "entry in the directory", _ENTRY_NAMES, tuple(found.values()), expected)
    if packing == STORED and packed != size:
        raise ZipFault(name, "The member has another size than it says.")
    return Packed(name, packing, crc, packed, size, found["place of the header"])


def _require_header(file: IO[bytes], member: Packed) -> None:
    """Raise `ZipFault` unless the header before a member says what the directory says."""
    file.seek(member.header_at)
    content = file.read(member.at - member.header_at)
    if len(content) < member.at - member.header_at:
        raise ZipFault(member.name, "The member's header is not whole.")
    name = member.name.encode("ascii")
    expected = (
        b"PK\3\4",
        _VERSION,
        0,
        0,
        member.method,
        0,
        _DATE,
        member.crc,
        _IN_EXTRA,
        _IN_EXTRA,
        len(name),
        _EXTRA.size,
    )
    found = _HEADER.unpack_from(content)
    _require(member.name, "header", _HEADER_NAMES, found, expected)
    written = content[_HEADER.size : -_EXTRA.size]
    if written != name:
        raise ZipFault(member.name, f"Its header has another name: '{_told(written)}'.")
    extra = _EXTRA.unpack(content[-_EXTRA.size :])
    _require(member.name, "header", _EXTRA_NAMES, extra, (1, 16, member.size, member.packed))


def _told(name: bytes) -> str:
    """Return a stranger's name as printable ASCII; a plain one stays as it is."""
    return ascii(name.decode("utf-8", "backslashreplace"))[1:-1][:_NAME_MOST]


def _require(
    member: str,
    record: str,
    names: Sequence[str],
    found: Sequence[object],
    expected: Sequence[object],
) -> None:
    for name, mine, theirs in zip(names, found, expected, strict=True):
        if mine != theirs:
            difference = f"{name}: found {mine!r}, expected {theirs!r}"
            raise ZipFault(member, f"Its {record} is not as the referee writes it: {difference}.")
