# SPDX-License-Identifier: Apache-2.0
"""Archives are made while they are sent: whole, of a known length, in little memory."""

from __future__ import annotations

import io
import random
import tracemalloc
import zipfile
from functools import partial

import pytest

from referee.service.entry.images import archive_length, archive_pieces


@pytest.mark.parametrize(
    "sizes",
    [[], [0], [1, 5, 70_000], [65_535, 65_536, 131_070, 131_071, 300_000], [1000] * 100],
    ids=["none", "empty", "some", "edges of blocks", "a hundred"],
)
def test_an_archive_is_whole_and_as_long_as_was_said(sizes: list[int]) -> None:
    """Any reader of archives can read the archive, and each member is deflated."""
    contents = {f"{n}.jpg": random.Random(n).randbytes(size) for n, size in enumerate(sizes)}
    members = [(name, partial(bytes, content)) for name, content in contents.items()]
    archive = b"".join(archive_pieces(members))
    assert archive_length(list(contents), sizes) == len(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        assert contents == {name: opened.read(name) for name in opened.namelist()}
        assert {zipfile.ZIP_DEFLATED} >= {info.compress_type for info in opened.infolist()}


def test_a_reader_that_is_slow_costs_one_member() -> None:
    """At most a few of a hundred images of 100 kB are in memory at once."""
    tracemalloc.start()
    try:
        for _ in archive_pieces((f"{n}.jpg", partial(bytes, 100_000)) for n in range(100)):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
