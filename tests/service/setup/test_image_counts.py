# SPDX-License-Identifier: Apache-2.0
"""What came and what is used is said in one way."""

from __future__ import annotations

import pytest

from referee.service.setup.image_counts import counts_text
from referee.store.images import ImageCounts


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        (
            ImageCounts(200, 200, 200, 13),
            "200 of 200 images of the ground truth; 13 other files in the folder are not used",
        ),
        (
            ImageCounts(2, 3, 2, 1),
            "2 of 2 images of the ground truth and 1 without a box; 1 other file in the folder is"
            " not used",
        ),
        (ImageCounts(6, 6, 6, 0), "6 of 6 images of the ground truth; no other file in the folder"),
        (None, "files not counted yet"),
    ],
)
def test_counts_in_words(counts: ImageCounts | None, text: str) -> None:
    """The sentence has both numbers of the truth, and what the folder has beside."""
    assert text == counts_text(counts)
