# SPDX-License-Identifier: Apache-2.0
"""Rows that are filled piece by piece stand in the order of the pieces."""

from __future__ import annotations

import numpy as np
import pytest

from referee.formats.shared_rows import SharedRows


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("most", "counts"),
    [([3, 2, 4], [3, 2, 4]), ([3, 2, 4], [1, 0, 3]), ([5, 9, 9], [1, 9, 8]), ([0], [0]), ([], [])],
)
def test_pieces_that_are_not_full_move_together(most, counts, shared):
    """All rows come piece after piece, in whatever order they were filled, without gaps."""
    rows = SharedRows(most, shared=shared)
    for piece, count in reversed(list(enumerate(counts))):
        for column in rows.place(piece, count):
            column.T[...] = 100 * piece + np.arange(count)
        rows.counts[piece] = count
    expected = [100 * piece + row for piece, count in enumerate(counts) for row in range(count)]
    image_id, class_id, confidence, box = rows.all()
    assert expected == image_id.tolist() == class_id.tolist() == confidence.tolist()
    assert [[value] * 4 for value in expected] == box.tolist()
