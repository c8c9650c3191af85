# SPDX-License-Identifier: Apache-2.0
"""Many views are compared at once, as well as one by one."""

from __future__ import annotations

import numpy as np

from client_sample.camera.mapping import Mapping, misfits_of_views

SQUARES = np.array([[0, 0], [8, 0], [8, 8], [0, 8], [100, 0], [108, 0], [108, 60], [100, 60.0]])
VIEW = np.array([[5, 0.4, 90], [-0.3, 6, 40], [0.001, 0.002, 1]])


def seen() -> np.ndarray:
    """Return the squares' corners in perspective, around the middle of the photograph."""
    mapped = np.column_stack([SQUARES, np.ones(len(SQUARES))]) @ VIEW.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:])


def test_a_true_view_has_no_misfit() -> None:
    """Corners in perspective fit, wherever they are and however large."""
    photos = np.array([seen(), 0.01 * seen() - 500, 40 * seen() + 7000])
    assert misfits_of_views(np.array([SQUARES] * 3), photos).max() < 0.05


def test_the_misfit_is_that_of_the_best_view() -> None:
    """Corners that moved by some pixels miss by about as much as with the exact solution."""
    chance = np.random.default_rng(0)
    photos = np.array([seen() + chance.normal(0, 3, SQUARES.shape) for _ in range(20)])
    found = misfits_of_views(np.array([SQUARES] * 20), photos)
    for photo, misfit in zip(photos, found, strict=True):
        exact = Mapping.fit(SQUARES, photo, (1280, 960))(SQUARES) - photo
        least = np.sqrt((exact**2).sum(axis=1).mean())
        assert 0.99 * least <= misfit < 1.3 * least


def test_corners_on_one_line_fail_quietly() -> None:
    """Views that no homography explains give a number, or infinity, and disturb no others."""
    line = np.outer(np.arange(8.0), (3, 4))
    same = np.zeros((8, 2))
    found = misfits_of_views(np.array([SQUARES] * 3), np.array([line, same, seen()]))
    assert not np.isnan(found).any()
    assert found[2] < 0.05
