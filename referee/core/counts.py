# SPDX-License-Identifier: Apache-2.0
"""How many of a thing there are, in words: one rule for every sentence that counts."""

from __future__ import annotations


def counted(count: int | str, singular: str, plural: str = "") -> str:
    """Return '1 image' or '2 images'; `plural` is what an 's' behind `singular` does not make.

    Both may have more words than the noun: `counted(count, "box is", "boxes are")`. A count in
    words is several.
    """
    return f"{count} {singular if count == 1 else plural or f'{singular}s'}"
