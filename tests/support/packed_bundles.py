# SPDX-License-Identifier: Apache-2.0
"""Members packed as the referee packs a bundle, whatever stands in them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from referee.service.evidence.zip_writer import zip_written_whole

MANIFEST = "manifest.json"


def pack(path, members):
    """Write members, a name each with its bytes, in the layout of a bundle; return the path."""
    with zip_written_whole(Path(path)) as bundle:
        for name, content in sorted(members.items(), key=lambda item: (item[0] == MANIFEST, item)):
            bundle.add(name, [content.encode() if isinstance(content, str) else content])
    return path


def unpack(path):
    """Return the content of each member by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
