# SPDX-License-Identifier: Apache-2.0
"""The most that a text of a stranger may take, whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass

MOST_BYTES = 2 * 2**30
"""No text of several parts, and no unpacked file, is longer."""

# A small file becomes no large one: a session's texts, and ground truth, pack to a tenth or a
# twentieth.
_PLAIN_BYTES, _MOST_PACKED = 2**27, 200


@dataclass(frozen=True)
class Most:
    """The most that any session gives of a text: its bytes and its lines.

    Rows take many times their text in memory, so a text of short rows must not have more of them.
    """

    bytes: int
    lines: int


BLACKLIST_MOST = Most(2**26, 1_000_000)
"""A blacklist that is registered fits into a bundle."""


def excess_of(content: bytes, most: Most) -> str | None:
    """Return what a text has too much of, or None."""
    if len(content) > most.bytes:
        return f"{len(content)} bytes"
    lines = content.count(b"\n")
    return f"{lines} lines" if lines > most.lines + 1 else None


def most_unpacked(packed_bytes: int) -> int:
    """Return how many bytes a packed file of this length may become."""
    return min(MOST_BYTES, max(_PLAIN_BYTES, _MOST_PACKED * packed_bytes))


MOST_PIXELS = 178_956_970
"""An image has no more: its colours take half a GiB. It is Pillow's own bound against bombs."""

MOST_IMAGE_BYTES = 2**29
"""The file of an image has no more bytes."""
