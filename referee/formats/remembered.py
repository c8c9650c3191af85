# SPDX-License-Identifier: Apache-2.0
"""Columns whose texts repeat: each text is read once, and then looked up."""

from __future__ import annotations

from referee.formats.image_numbers import UNKNOWN_IMAGE
from referee.formats.numbers import image_number, whole_number


class ImageNumbers(dict[str, int]):
    """A running number, from 0, for each image by the texts that name it.

    Texts that stand for one number name one image: `7`, `007` and `7.jpg`. Any other text names an
    image of its own. An empty text or one with unprintable characters raises ValueError.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int | str, int] = {}

    def __missing__(self, text: str) -> int:
        """Number a text that is new."""
        if not text or not text.isprintable():
            raise ValueError(text)
        name: int | str
        try:
            name = image_number(text)
        except ValueError:
            name = text
        if name == UNKNOWN_IMAGE:  # It has more than 64 bits, so its text has to name it.
            name = text
        self[text] = self._known.setdefault(name, len(self._known))
        return self[text]

    @property
    def count(self) -> int:
        """Return the number of different images."""
        return len(self._known)


class WholeNumbers(dict[str, int]):
    """The whole number that each text stands for; any other text raises ValueError."""

    def __missing__(self, text: str) -> int:
        """Read a text that is new."""
        self[text] = whole_number(text)
        return self[text]
