# SPDX-License-Identifier: Apache-2.0
"""How sure a map is in the image: the error that is to be expected of a place.

The edges lie around the image, so what they leave open about the lens counts in its middle, and
much more on the side of a strip that was not seen. The edges' distances from the map tell how well
the map has the lens's form.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.edges import Fit, Numbers, across
from client_sample.camera.frame import FrameLayout, Label
from client_sample.camera.mapping import Mapping

_BENDS = 4  # one more than the map has: a real lens is no polynomial
# How far the centre and the bends of a lens may be from 0, before anything is seen.
_USUAL = np.array([0.3, 0.3, 0.3, 0.15, 0.1, 0.1])
_ALIKE = 6.0  # so many edges, side by side, miss alike
_PLACES = 9  # each way
_LEAST_PX = 0.03  # of the photograph
# What three bends leave of a lens that is no polynomial, as a share of how far it moves a place.
_UNLIKE = 0.005


def expected_error_px(label: Label, frame: FrameLayout, fit: Fit) -> float:
    """Return the error that is to be expected where the map is least sure, in source pixels."""
    form = Numbers.near(fit.middle, fit.mapping.size)
    numbers = form.of(fit.mapping, _BENDS)
    every = np.arange(len(numbers))
    directions = across(fit.mapping, fit.middle, fit.normal)
    slopes = np.einsum("nxk,nx->nk", form.slopes(numbers, fit.middle, every), directions)
    slopes = np.column_stack([slopes, np.full(len(slopes), -1.0)]) * fit.weight[:, None]
    spread = max(_LEAST_PX, float(np.sqrt(np.mean((fit.weight * fit.misses_px) ** 2))))
    known = slopes.T @ slopes / (_ALIKE * spread**2)
    prior = np.concatenate([np.full(8, 1e-6), 1 / _USUAL**2, [1.0]])
    open_ = np.linalg.inv(known + np.diag(prior))[:-1, :-1]
    left, top, right, bottom = frame.image(label)[[0, 2]].ravel()
    x, y = np.meshgrid(np.linspace(left, right, _PLACES), np.linspace(top, bottom, _PLACES))
    points = np.stack([x, y], axis=-1).reshape(-1, 2)
    moved = form.slopes(numbers, points, every)
    local = np.stack(
        [fit.mapping(points + step) - fit.mapping(points) for step in ((1.0, 0.0), (0.0, 1.0))],
        axis=-1,
    )
    on_screen = np.linalg.solve(local, moved)
    variance = np.einsum("nxk,kl,nxl->n", on_screen, open_, on_screen)
    lens = np.linalg.solve(local, _bending(fit.mapping, points)[..., None])[..., 0]
    unlike = _UNLIKE * np.linalg.norm(lens, axis=1).max()
    chance = math.sqrt(max(0.0, float(variance.max())))
    return float(math.hypot(chance, unlike) * label.width / (right - left))


def _bending(mapping: Mapping, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far the lens moves these points in the photograph."""
    straight = replace(mapping, bends=(0.0,))
    return np.asarray(mapping(points) - straight(points))
