# SPDX-License-Identifier: Apache-2.0
"""Paint objects over a background and keep track of the object that owns each pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.demo.backgrounds import Picture

_SEEN = 0.55  # share of every object that must stay visible: inside the picture and not hidden
_HAZE = 0.3  # share of the background's colour in the farthest objects


@dataclass(frozen=True, eq=False)
class Sprite:
    """One object, ready to be painted.

    `colour` is height x width x RGB. `cover` is the share of each pixel, 0 to 1, that the object
    covers. The object owns a pixel that it covers by half or more. `foot` is the row on which it
    stands. `nearness` goes from 0, far, to 1, near.
    """

    class_id: int
    colour: Picture
    cover: NDArray[np.float32]
    foot: int
    nearness: float
    shadow: bool


class Canvas:
    """A picture with the visible object at each pixel; far objects are painted first.

    `owner` has the number of the visible object of each pixel, counted from 1, or 0. `class_ids`
    has the classes of the objects in the order of these numbers.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.owner: NDArray[np.uint8] = np.zeros(picture.shape[:2], dtype=np.uint8)
        self.class_ids: list[int] = []
        self._whole = np.zeros(1)  # pixels of each object, hidden and cut ones included
        self._seen = np.zeros(1)  # visible pixels of each object

    def add(self, sprite: Sprite, left: int) -> bool:
        """Paint an object if it and the objects behind it stay visible; return whether it did."""
        tall, wide = sprite.cover.shape
        rows, inner_rows = _overlap(sprite.foot - tall, tall, self.owner.shape[0])
        columns, inner_columns = _overlap(left, wide, self.owner.shape[1])
        cover = sprite.cover[inner_rows, inner_columns]
        mask = cover >= 0.5
        hidden = np.bincount(self.owner[rows, columns][mask], minlength=len(self._seen))
        seen = np.append(self._seen - hidden, mask.sum())
        whole = np.append(self._whole, (sprite.cover >= 0.5).sum())
        if (seen[1:] < _SEEN * whole[1:]).any():
            return False
        if sprite.shadow:
            self._darken(left + 0.55 * wide, sprite.foot, 0.6 * wide, max(2.0, 0.07 * tall))
        view = self.picture[rows, columns]
        haze = _HAZE * (1 - sprite.nearness)
        colour = sprite.colour[inner_rows, inner_columns]
        colour = colour * (1 - haze) + view.mean(axis=(0, 1)) * haze
        view += (colour - view) * cover[:, :, None]
        self.class_ids.append(sprite.class_id)
        self.owner[rows, columns][mask] = len(self.class_ids)
        self._whole, self._seen = whole, seen
        return True

    def _darken(self, x: float, foot: float, half_wide: float, half_tall: float) -> None:
        height, width = self.owner.shape
        down = (np.arange(height, dtype=np.float32) - foot) / half_tall + 0.5
        across = (np.arange(width, dtype=np.float32) - x) / half_wide
        rows, columns = np.flatnonzero(abs(down) < 1), np.flatnonzero(abs(across) < 1)
        dark = 1 - across[columns][None, :] ** 2 - down[rows][:, None] ** 2
        self.picture[np.ix_(rows, columns)] *= 1 - 0.55 * np.clip(dark, 0, 1)[:, :, None]


def _overlap(start: int, length: int, limit: int) -> tuple[slice, slice]:
    """Cut a span to 0…`limit`; return the part in canvas and in span coordinates."""
    first = min(max(start, 0), limit)
    last = max(min(start + length, limit), first)
    return slice(first, last), slice(first - start, last - start)
