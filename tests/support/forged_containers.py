# SPDX-License-Identifier: Apache-2.0
"""Zip files made byte by byte, which other programs read in different ways.

Each forgery begins with a true bundle, of which no member is changed where the referee would look:
the other content stands before, behind or between, or in one of the two places that say the same.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace

TARGET, OTHER = "score.json", b'{"mean_ap": 0.95}\n'
"""The member that a forger would like to be read in another way, and what shall be read."""


@dataclass(frozen=True)
class Part:
    """A member to be written: what each of its two records says, and its packed bytes."""

    name: bytes
    packed: bytes
    method: int
    crc: int
    size: int
    flags: int = 0
    version: int = 45
    system: int = 3
    mode: int = 0o100644 << 16
    date: int = 0x21
    comment: bytes = b""
    extra: bytes = b""
    header_name: bytes | None = None
    header_extra: bytes | None = None
    header_crc: int | None = None
    header_method: int | None = None
    header_flags: int | None = None
    header_sizes: tuple[int, int] | None = None
    behind: bytes = b""
    before: bytes = b""
    listed_size: int | None = None

    def local(self):
        """Return header and packed bytes."""
        size, packed = self.header_sizes or (self.size, len(self.packed))
        extra = self.header_extra
        if extra is None:
            extra = struct.pack("<2H2Q", 1, 16, size, packed)
        name = self.name if self.header_name is None else self.header_name
        crc = self.crc if self.header_crc is None else self.header_crc
        flags = self.flags if self.header_flags is None else self.header_flags
        method = self.method if self.header_method is None else self.header_method
        told = (0xFFFFFFFF, 0xFFFFFFFF) if self.header_extra is None else (packed, size)
        fields = (b"PK\3\4", 45, 0, flags, method, 0, self.date, crc, *told, len(name), len(extra))
        return struct.pack("<4s2B4HL2L2H", *fields) + name + extra + self.packed

    def entry(self, at):
        """Return the entry of the directory for a header at this place."""
        size = self.size if self.listed_size is None else self.listed_size
        fields = (
            *(b"PK\1\2", self.version, self.system, self.version, 0, self.flags, self.method, 0),
            *(self.date, self.crc, len(self.packed), size, len(self.name), len(self.extra)),
            *(len(self.comment), 0, 0, self.mode, at),
        )
        return struct.pack("<4s4B4HL2L5H2L", *fields) + self.name + self.extra + self.comment


def part_of(name, content, *, stored=False, level=1):
    """Return a member as the referee packs it."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    packed = content if stored else packer.compress(content) + packer.flush()
    return Part(name.encode(), packed, 0 if stored else 8, zlib.crc32(content), len(content))


def parts_of(members):
    """Return the members as the referee packs them, the manifest last."""
    names = sorted(members, key=lambda name: (name == "manifest.json", name))
    stored = ("detections.csv", "late_detections.csv")
    return [part_of(name, members[name], stored=name in stored) for name in names]


def archive(parts, *, prefix=b"", gap=b"", comment=b"", shift=True, **end):
    """Return a zip file of these parts; `shift` counts the places from behind the prefix on."""
    content, places = bytearray(prefix), {}
    base = 0 if shift else len(prefix)
    for part in parts:
        content += part.before
        places[id(part)] = len(content) - len(prefix) + base
        content += part.local() + part.behind
    content += gap
    listed = sorted(parts, key=lambda part: part.name)
    directory = b"".join(part.entry(places[id(part)]) for part in listed) + end.get("tail", b"")
    at = len(content) - len(prefix) + base
    count = end.get("count", len(parts))
    fields = (b"PK\5\6", end.get("disk", 0), 0, count, count, len(directory), at, len(comment))
    return bytes(content) + directory + struct.pack("<4s4H2LH", *fields) + comment


def forgeries(members):
    """Return forged files by name; `whole` is the true one, in the referee's layout."""
    whole, other = parts_of(members), parts_of(members | {TARGET: OTHER})
    true, false = archive(whole), archive(other)
    at = next(place for place, part in enumerate(whole) if part.name == TARGET.encode())
    mine, theirs = whole[at], other[at]

    def with_one(**changes):
        return archive([*whole[:at], replace(mine, **changes), *whole[at + 1 :]])

    def with_extra(part, **options):
        return archive([*whole, part], **options)

    zip64 = struct.pack("<2H2Q", 1, 16, mine.size, len(mine.packed))
    up = struct.pack("<HHB", 0x7075, 5 + len("other.json"), 1)
    unicode_path = up + struct.pack("<L", zlib.crc32(mine.name)) + b"other.json"
    descriptor = struct.pack("<4s3L", b"PK\7\x08", mine.crc, len(mine.packed), mine.size)
    stored_in = theirs.local()
    return {
        "whole": true,
        "a byte before": archive(whole, prefix=b"\n"),
        "a byte before, places moved": archive(whole, prefix=b"\n", shift=False),
        "a script before": archive(whole, prefix=b"#!/bin/sh\nexit 0\n"),
        "another archive before": archive(whole, prefix=false),
        "another archive before, places moved": archive(whole, prefix=false, shift=False),
        "another archive behind": true + false,
        "another archive in its comment": archive(whole, comment=false[:60_000]),
        "a text behind": true + b"hello",
        "a zero behind": true + b"\0",
        "a second end record behind": true + true[-22:],
        "an end record in the comment": archive(whole, comment=true[-22:]),
        "an empty archive behind": true + b"PK\5\6" + bytes(18),
        "a comment": archive(whole, comment=b"hello"),
        "bytes before the directory": archive(whole, gap=b"hello"),
        "another member before the directory": archive(whole, gap=stored_in),
        "another directory before the directory": archive(whole, gap=_directory_of(false)),
        "bytes in the directory": archive(whole, tail=b"hello"),
        "half an entry in the directory": archive(whole, tail=b"PK\1\2" + bytes(40)),
        "another member between": with_one(behind=stored_in),
        "another member at the front": archive([replace(whole[0], before=stored_in), *whole[1:]]),
        "bytes between": with_one(behind=b"hello"),
        "a comment of a member": with_one(comment=b"hello"),
        "an extra field": with_one(extra=struct.pack("<2H", 0xCAFE, 0)),
        "another name by an extra field": with_one(extra=unicode_path),
        "zip64 in the directory": with_one(extra=zip64),
        "a header with another name": with_one(header_name=b"other.json"),
        "a header with another checksum": with_one(header_crc=1),
        "a header that stores": with_one(header_method=0),
        "a header with other sizes": with_one(header_sizes=(5, 5)),
        "a header without zip64": with_one(header_extra=b""),
        "a header with two extra fields": with_one(
            header_extra=zip64 + struct.pack("<2H", 0xCAFE, 0)
        ),
        "a data descriptor": with_one(flags=8, behind=descriptor),
        "a descriptor in the header alone": with_one(header_flags=8),
        "an encrypted flag": with_one(flags=1),
        "an encrypted flag in the header": with_one(header_flags=1),
        "a flag of UTF-8": with_one(flags=0x800),
        "a packing that few know": with_one(method=12),
        "a symbolic link": with_one(mode=0o120777 << 16),
        "a folder": with_one(mode=(0o40755 << 16) | 0x10),
        "a set-uid program": with_one(mode=0o104755 << 16),
        "another system": with_one(system=0),
        "another date": with_one(date=0x5CC1),
        "bytes behind the packed content": with_one(packed=mine.packed + b"hello"),
        "an end before its content's end": with_one(packed=mine.packed[:-2]),
        "a size that is less": with_one(
            listed_size=4, header_sizes=(4, len(mine.packed)), crc=zlib.crc32(members[TARGET][:4])
        ),
        "a second member of the name": with_extra(theirs),
        "a name in capitals": with_extra(replace(theirs, name=b"SCORE.JSON")),
        "a name of look-alikes": with_extra(replace(theirs, name="sсore.json".encode())),
        "a name with a way": with_extra(replace(theirs, name=b"./score.json")),
        "a name with a backslash": with_extra(replace(theirs, name=b".\\score.json")),
        "a name from the root": with_extra(replace(theirs, name=b"/score.json")),
        "a name that ends early": with_extra(replace(theirs, name=b"score.json\0x")),
        "overlapping members": _overlapping(whole, theirs),
        "a zip in a zip": archive([part_of("bundle.zip", true, stored=True)]),
        "more members than there are": archive(whole, count=len(whole) + 1),
        "fewer members than there are": archive(whole, count=len(whole) - 1),
        "another disk": archive(whole, disk=1),
        "its first half": true[: len(true) // 2],
        "no end": true[:-22],
        "nothing": b"",
        "an empty archive": b"PK\5\6" + bytes(18),
        "the manifest first": archive([whole[-1], *whole[:-1]]),
        "packed by zipfile": _by_zipfile(members),
    }


def _directory_of(content):
    """Return the directory of a file, with its end record."""
    return content[struct.unpack("<L", content[-6:-2])[0] :]


def _overlapping(whole, theirs):
    """Return a file in which one member's bytes hold another member with its header."""
    outer = part_of("run.json", theirs.local(), stored=True)
    rest = [part for part in whole if part.name not in (b"run.json", theirs.name)]
    parts = sorted([*rest, outer], key=lambda part: (part.name == b"manifest.json", part.name))
    content = archive(parts)
    start, length = len(content) - 22, struct.unpack("<L", content[-10:-6])[0]
    entry = theirs.entry(content.index(theirs.local()))
    after = content.index(b"PK\1\2", content.rindex(b"run.json", 0, start))
    place = start if after < 0 else after
    body = content[:place] + entry + content[place:start]
    count, listed = len(parts) + 1, length + len(entry)
    end = (b"PK\5\6", 0, 0, count, count, listed, start - length, 0)
    return body + struct.pack("<4s4H2LH", *end)


def _by_zipfile(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(members):
            packed.writestr(name, members[name])
    return file.getvalue()
