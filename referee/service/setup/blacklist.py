# SPDX-License-Identifier: Apache-2.0
"""The bytes of a blacklist, which a bundle of evidence will hold."""

from __future__ import annotations

from pathlib import Path

from referee.core.bounds import BLACKLIST_MOST, excess_of
from referee.errors import InputError
from referee.formats.hashed_reads import HashedReads


def bytes_to_keep(path: Path | None, reads: HashedReads) -> bytes | None:
    """Return what `reads` has read of a blacklist, as it is stored; None without a blacklist.

    Raises `InputError` for one that no bundle could hold.
    """
    if path is None:
        return None
    content = reads.stored(path)
    excess = excess_of(content, BLACKLIST_MOST)
    if excess is not None:
        raise InputError(f"{path} has {excess}, more than any blacklist: leave classes out instead")
    return content
