# SPDX-License-Identifier: Apache-2.0
"""Texts that repeat are read once, and stand for one number."""

from __future__ import annotations

import pytest

from referee.formats.remembered import ImageNumbers, WholeNumbers


def test_images_get_running_numbers():
    """Texts of one number are one image; other texts are images of their own."""
    images = ImageNumbers()
    texts = ["7", "cat", "007", "7.jpg", "7.0", "cat.jpg", "7"]
    assert [0, 1, 0, 0, 0, 2, 0] == [images[text] for text in texts]
    assert 3 == images.count


def test_numbers_too_large_for_64_bits_are_different_images():
    """Two numbers of more than 64 bits do not become one image."""
    images = ImageNumbers()
    assert [0, 1, 0] == [images[text] for text in (str(2**70), str(2**70 + 1), str(2**70))]


@pytest.mark.parametrize("text", ["", "a\x00", "a\u2028b"])
def test_a_text_that_nobody_can_read_names_no_image(text):
    """An empty text, or one with control characters, is refused each time."""
    images = ImageNumbers()
    for _ in range(2):
        with pytest.raises(ValueError):
            images[text]
    assert 0 == images.count


def test_whole_numbers_are_read_in_each_form():
    """A label may be written 7, 07 or 7.0; anything else is refused each time."""
    labels = WholeNumbers()
    assert [7, 7, 7, -1] == [labels[text] for text in ("7", "07", "7.0", "-1")]
    for text in ("7.5", "x", "", "nan", "7.5"):
        with pytest.raises(ValueError):
            labels[text]
