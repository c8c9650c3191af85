# SPDX-License-Identifier: Apache-2.0
"""A file whose records wait while the disk is full."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from power.append_file import AppendFile
from tests.support.full_disk import FullDisk


def test_records_wait_for_room_and_keep_their_order(tmp_path: Path, full_disk: FullDisk) -> None:
    """Records wait for room and keep their order; a half-written record is completed."""
    path = tmp_path / "file"
    file = AppendFile(path)
    assert file.append(b"first\n")
    full_disk.fill(path, room=3)
    assert not file.append(b"second\n")
    assert not file.append(b"third\n")
    assert b"first\nsec" == path.read_bytes()
    assert b"ond\nthird\n" == file.waiting
    assert "too large" in file.trouble
    full_disk.free()
    assert file.append(b"fourth\n")
    assert b"first\nsecond\nthird\nfourth\n" == path.read_bytes()
    assert (b"", "") == (file.waiting, file.trouble)
    file.close()


def test_a_folder_that_is_missing_is_waited_for(tmp_path: Path) -> None:
    """A missing folder makes records wait, and fails no writer."""
    path = tmp_path / "later" / "file"
    file = AppendFile(path)
    assert not file.append(b"first\n")
    assert "No such file" in file.trouble
    path.parent.mkdir()
    assert file.append(b"second\n")
    file.close()
    assert b"first\nsecond\n" == path.read_bytes()


def test_close_never_raises_and_keeps_what_waits(tmp_path: Path, full_disk: FullDisk) -> None:
    """Close never raises, and the next record opens the file again."""
    path = tmp_path / "file"
    file = AppendFile(path)
    file.append(b"first\n")
    full_disk.fill(path)
    file.append(b"second\n")
    file.close()
    file.close()
    full_disk.free()
    assert file.append(b"third\n")
    file.close()
    assert b"first\nsecond\nthird\n" == path.read_bytes()


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    """With `new` an existing file or an impossible path is an error at once."""
    path = tmp_path / "file"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        AppendFile(path, new=True)
    with pytest.raises(FileNotFoundError):
        AppendFile(tmp_path / "no" / "file", new=True)
    assert "precious" == path.read_text()


def test_the_mode_is_that_of_the_file(tmp_path: Path) -> None:
    """A private file is never readable by others, not even at first."""
    file = AppendFile(tmp_path / "file", mode=0o600)
    file.append(b"secret\n")
    file.close()
    assert 0o600 == stat.S_IMODE((tmp_path / "file").stat().st_mode)
