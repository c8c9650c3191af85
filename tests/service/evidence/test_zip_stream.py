# SPDX-License-Identifier: Apache-2.0
"""A zip that is made while it is sent is a whole zip, and little of it is in memory."""

from __future__ import annotations

import io
import zipfile

from referee.service.evidence.zip_stream import zip_blocks


def test_the_files_are_in_it_as_they_are(tmp_path):
    """Each file is there by its name, and no block is much longer than a part of a file."""
    contents = {"session1.zip": b"", "session2.zip": b"x" * 3_000_000, "session3.zip": b"PK"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    blocks = list(zip_blocks(sorted(tmp_path.iterdir())))
    assert max(map(len, blocks)) < 2**20 + 1000
    with zipfile.ZipFile(io.BytesIO(b"".join(blocks))) as archive:
        assert archive.testzip() is None
        assert contents == {name: archive.read(name) for name in archive.namelist()}
