# SPDX-License-Identifier: Apache-2.0
"""A bundle's zip file has one layout: whatever two programs could read differently is refused."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
import zlib

import pytest

from referee.service.evidence.zip_layout import (
    STORED,
    Packed,
    ZipFault,
    laid_out,
    unpacked,
    whole_members,
)
from tests.support.forged_containers import TARGET, archive, forgeries, part_of
from tests.support.packed_bundles import pack

LAST = "manifest.json"
MEMBERS = {
    "detections.csv": b"1,1,0.5,1,2,3,4\n" * 50,
    "run.json": b"null\n",
    "score.json": b'{"mean_ap": 0.25}\n' * 20,
    "session.json": b"{}\n",
    LAST: b"{}\n",
}
FORGED = forgeries(MEMBERS)


def read(content):
    """Return the content of every member, as the referee reads it."""
    file = io.BytesIO(content)
    return {member.name: unpacked(file, member) for member in laid_out(file, LAST)}


def test_what_the_referee_writes_is_the_layout(tmp_path):
    """The writer's own file is read, and the forger of these tests lays it out alike."""
    path = pack(tmp_path / "a.zip", MEMBERS)
    assert MEMBERS == read(path.read_bytes()) == read(FORGED["whole"])
    with zipfile.ZipFile(path) as mine, zipfile.ZipFile(io.BytesIO(FORGED["whole"])) as theirs:
        names = ("filename", "header_offset", "flag_bits", "external_attr", "create_version")
        assert [[getattr(one, name) for name in names] for one in mine.infolist()] == [
            [getattr(one, name) for name in names] for one in theirs.infolist()
        ]


@pytest.mark.parametrize("name", [name for name in FORGED if name != "whole"])
def test_a_forged_file_is_refused(name):
    """One sentence says what is wrong, and it is printable whatever a name holds."""
    if name == "an empty archive":
        assert {} == read(FORGED[name])  # Its manifest is then missing.
        return
    with pytest.raises(ZipFault) as caught:
        if name == "a zip in a zip":
            assert {"bundle.zip"} == read(FORGED[name]).keys()
            raise ZipFault("bundle.zip", "no bundle has such a member")
        read(FORGED[name])
    assert caught.value.what.isprintable() and caught.value.member.isprintable()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("an extra field", "length of extra fields: found 4, expected 0"),
        ("zip64 in the directory", "length of extra fields: found 20, expected 0"),
        ("a comment of a member", "length of the comment: found 5, expected 0"),
    ],
)
def test_what_another_program_has_packed_is_no_torn_file(name, what):
    """Fields that other programs write are named, and the file is not called broken."""
    with pytest.raises(ZipFault) as caught:
        read(FORGED[name])
    assert (TARGET, True) == (caught.value.member, what in caught.value.what)


def test_every_byte_of_a_record_counts():
    """A changed bit outside of the packed contents is refused, wherever it is."""
    whole = FORGED["whole"]
    packed = set()
    for member in laid_out(io.BytesIO(whole), LAST):
        packed.update(range(member.at, member.behind))
    for place in sorted(set(range(len(whole))) - packed):
        for bit in (0, 5):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            with pytest.raises(ZipFault):
                read(bytes(changed))


def test_a_changed_bit_of_a_packed_content_is_another_content():
    """What is packed has its checksum, so a changed bit gives no content that passes."""
    whole = FORGED["whole"]
    for member in laid_out(io.BytesIO(whole), LAST):
        changed = bytearray(whole)
        changed[member.at + member.packed // 2] ^= 4
        try:
            assert MEMBERS == read(bytes(changed))  # Unused bits of the last byte.
        except ZipFault as fault:
            assert member.name == fault.member


def test_a_bomb_is_unpacked_to_what_it_says_alone():
    """A member of 64 MiB that says ten bytes takes no memory."""
    bomb = part_of(TARGET, b" " * 2**26)
    told = {"listed_size": 10, "header_sizes": (10, len(bomb.packed)), "crc": zlib.crc32(b" " * 10)}
    file = io.BytesIO(archive([type(bomb)(**{**vars(bomb), **told})]))
    (member,) = laid_out(file, LAST)
    tracemalloc.start()
    with pytest.raises(ZipFault, match="another size than it says"):
        unpacked(file, member)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**20


def test_a_torn_file_gives_the_members_that_are_whole():
    """From the beginning on each whole member is found, and the walk ends where the file does."""
    whole = FORGED["whole"]
    members = laid_out(io.BytesIO(whole), LAST)
    torn = io.BytesIO(whole[: members[3].behind + 5])
    assert ["detections.csv", "run.json", "score.json"] == [one.name for one in whole_members(torn)]
    assert [] == list(whole_members(io.BytesIO(b"hello" * 20)))
    assert [] == list(whole_members(io.BytesIO(b"")))


def test_a_member_knows_its_place():
    """Behind the header, the name and the sizes stand the packed bytes."""
    member = Packed("run.json", STORED, 0, 7, 7, 100)
    assert (158, 165) == (member.at, member.behind)
