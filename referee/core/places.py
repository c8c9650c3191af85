# SPDX-License-Identifier: Apache-2.0
"""Places in a ranking: equal values share one, and the next is left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction


def shared_places(
    values: Sequence[float | Fraction | None], *, highest_first: bool = True
) -> list[int | None]:
    """Return the place of each value, 1 for the best; None for what has no value.

    1, 2, 2, 4: the place of a value is one more than the number of better ones.
    """
    known = sorted(value for value in values if value is not None)
    if highest_first:
        count = len(known)
        return [None if it is None else 1 + count - bisect_right(known, it) for it in values]
    return [None if it is None else 1 + bisect_left(known, it) for it in values]
