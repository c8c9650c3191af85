# SPDX-License-Identifier: Apache-2.0
"""Models lie on the disk under their SHA-256, whole and private, or not at all."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

from referee.errors import Refusal, Unavailable
from referee.extras.ovic.submission.models import ComingModel, path_of_model, sweep
from tests.support.full_disk import FullDisk

CONTENT = bytes(range(256)) * 20


def brought(folder, *pieces, most=1 << 20):
    """Bring a model in by pieces and keep it."""
    model = ComingModel(folder, most)
    try:
        for piece in pieces:
            model.add(piece)
        return model.keep()
    finally:
        model.drop()


def test_a_model_is_kept_under_its_hash_and_private(tmp_path):
    """The file has the bytes of all pieces, the name of their SHA-256, and mode 600."""
    folder = tmp_path / "models"
    stored = brought(folder, CONTENT[:100], b"", CONTENT[100:])
    assert (hashlib.sha256(CONTENT).hexdigest(), len(CONTENT)) == (stored.sha256, stored.size_bytes)
    path = path_of_model(folder, stored.sha256)
    assert CONTENT == path.read_bytes()
    assert (0o600, 0o700) == tuple(stat.S_IMODE(it.stat().st_mode) for it in (path, folder))
    assert [path] == list(folder.iterdir())


def test_the_same_model_twice_is_one_file(tmp_path):
    """Two teams with the same bytes share a file."""
    assert brought(tmp_path, CONTENT) == brought(tmp_path, CONTENT)
    assert 1 == len(list(tmp_path.iterdir()))


def test_a_model_of_exactly_the_limit_is_taken_and_one_more_byte_is_not(tmp_path):
    """The limit itself is allowed; beyond it nothing stays on the disk."""
    assert 10 == brought(tmp_path, b"x" * 10, most=10).size_bytes
    with pytest.raises(Refusal, match="may have 10 bytes"):
        brought(tmp_path, b"y" * 10, b"y", most=10)
    assert 1 == len(list(tmp_path.iterdir()))


def test_an_empty_model_is_refused(tmp_path):
    """Nothing is no model."""
    with pytest.raises(Refusal, match="The body is empty"):
        brought(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_full_disk_keeps_nothing(tmp_path):
    """A disk that takes only a part of a model refuses it, and the part is removed."""
    disk = FullDisk()
    disk.fill(tmp_path / "none", room=1000)
    try:
        with pytest.raises(Unavailable, match="did not take the model .*Nothing was stored"):
            brought(tmp_path, CONTENT)
    finally:
        disk.free()
    assert [] == list(tmp_path.iterdir())


def test_the_sweep_removes_only_what_killed_programs_left(tmp_path):
    """Old unfinished files and old models without an entry go; young ones and the rest stay."""
    stored = brought(tmp_path, CONTENT)
    forgotten, fresh = (brought(tmp_path, content) for content in (b"forgotten", b"fresh"))
    old, young = (ComingModel(tmp_path, 100) for _ in range(2))
    left = {path for path in tmp_path.iterdir() if path.name.startswith(".")}
    for model in (old, young):
        model.add(b"x")
    first, *_ = sorted(left)
    for path in (first, *(path_of_model(tmp_path, it.sha256) for it in (stored, forgotten))):
        os.utime(path, (0, 0))
    sweep(tmp_path, {stored.sha256})
    kept = {path_of_model(tmp_path, it.sha256) for it in (stored, fresh)}
    assert kept | (left - {first}) == set(tmp_path.iterdir())
    for model in (old, young):
        model.drop()
    sweep(tmp_path / "none", set())
