# SPDX-License-Identifier: Apache-2.0
"""A file that somebody names is read to a bound, and never waited for without an end."""

from __future__ import annotations

import io
import os
import threading

import pytest

from power import bounded_file
from power.bounded_file import MOST_BYTES, file_bytes, file_text, require_file, stream_bytes
from tests.support.fakes import BOUND_S


@pytest.fixture
def pipe(tmp_path):
    """Return a named pipe."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_file_is_read_whole(tmp_path):
    """Of a file with content, an empty one, and one of /proc that says no length."""
    (tmp_path / "file").write_bytes(b"a\r\nb")
    (tmp_path / "empty").touch()
    assert b"a\r\nb" == file_bytes(tmp_path / "file")
    assert "a\nb" == file_text(tmp_path / "file")
    assert b"" == file_bytes(tmp_path / "empty") == file_bytes(os.devnull)


def test_a_device_is_refused_before_it_is_read():
    """A device without an end gives no byte."""
    for read in (file_bytes, require_file):
        with pytest.raises(OSError, match="it is a device or a socket and no file"):
            read("/dev/zero")


def test_a_folder_is_told_as_one(tmp_path):
    """Readers tell a folder in their own words."""
    for read in (file_bytes, require_file):
        with pytest.raises(IsADirectoryError):
            read(tmp_path)


def test_a_file_longer_than_the_bound_is_refused_by_its_length(tmp_path):
    """A terabyte of nothing costs no memory; so does a file that is a byte too long."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(OSError, match="more than 2147483648 bytes"):
        file_bytes(tmp_path / "sparse")
    (tmp_path / "file").write_bytes(b"12345")
    assert b"12345" == file_bytes(tmp_path / "file", 5)
    with pytest.raises(OSError, match="more than 4 bytes"):
        file_bytes(tmp_path / "file", 4)


def test_a_pipe_without_a_writer_ends(pipe, monkeypatch):
    """Nobody writes: the wait has an end, and the sentence says so."""
    with monkeypatch.context() as patch:
        patch.setattr(bounded_file, "_NO_WRITER_S", 0.01)
        with pytest.raises(OSError, match="nobody has written into it for 0.01 s"):
            file_bytes(pipe)
    with pytest.raises(OSError, match="it is a pipe and no file"):
        require_file(pipe)


def test_a_pipe_whose_writer_is_silent_ends(pipe, monkeypatch):
    """Somebody holds it open and writes nothing more."""
    writer = os.open(pipe, os.O_RDWR)
    try:
        os.write(writer, b"a")
        with monkeypatch.context() as patch:
            patch.setattr(bounded_file, "_SILENT_S", 0.01)
            with pytest.raises(OSError, match="nothing has come out of it for 0.01 s"):
                file_bytes(pipe)
    finally:
        os.close(writer)


def test_a_pipe_is_read_to_its_end_and_to_the_bound(pipe):
    """What comes out of a pipe counts as a file's content, however late its writer comes."""
    for most, content in ((10**7, 3 * 2**20 * b"x"), (5, b"12345")):
        writer = threading.Thread(target=pipe.write_bytes, args=(content,), name="writer")
        writer.start()
        assert content == file_bytes(pipe, most)
        writer.join(BOUND_S)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"123456",), name="writer")
    writer.start()
    with pytest.raises(OSError, match="more than 5 bytes"):
        file_bytes(pipe, 5)
    writer.join(BOUND_S)


def test_a_stream_is_read_to_the_bound():
    """The standard input has no length either."""
    assert b"12345" == stream_bytes(io.BytesIO(b"12345"), "standard input", 5)
    with pytest.raises(OSError, match="more than 4 bytes"):
        stream_bytes(io.BytesIO(b"12345"), "standard input", 4)
