# SPDX-License-Identifier: Apache-2.0
"""The order of images is a permutation and has an inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.order import image_order, to_manifest_ids

COUNTS = st.integers(0, 300)
SEEDS = st.none() | st.integers(0, 2**64 - 1)


@given(COUNTS, SEEDS)
def test_order_is_a_bijection(count, seed):
    """Each image is shown under exactly one number."""
    assert list(range(1, count + 1)) == sorted(image_order(count, seed).tolist())


@given(COUNTS, SEEDS)
def test_numbers_are_translated_back(count, seed):
    """A posted number leads to the image that the contestant saw under it."""
    order = image_order(count, seed)
    numbers = np.arange(1, count + 1, dtype=np.int64)
    assert order.tolist() == to_manifest_ids(numbers, order).tolist()
    inverse = np.argsort(order) + 1
    assert numbers.tolist() == to_manifest_ids(inverse, order).tolist()


@given(COUNTS, SEEDS, st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_unknown_numbers_stay_unknown(count, seed, numbers):
    """A number outside 1…N is kept, and never becomes an image."""
    outside = np.asarray([n for n in numbers if not 1 <= n <= count], dtype=np.int64)
    assert outside.tolist() == to_manifest_ids(outside, image_order(count, seed)).tolist()


@pytest.mark.parametrize("number", [0, -1, 6, 2**63 - 1, -(2**63)])
def test_edges_name_no_image(number):
    """Zero, N+1 and the ends of 64 bits stay as they are."""
    numbers = np.asarray([number, 1], dtype=np.int64)
    assert number == to_manifest_ids(numbers, image_order(5, 1))[0]


def test_translation_leaves_its_input_alone():
    """Translation does not change the posted numbers, which are evidence."""
    numbers = np.asarray([1, 2, 3], dtype=np.int64)
    to_manifest_ids(numbers, image_order(3, 12))
    assert [1, 2, 3] == numbers.tolist()


def test_order_never_changes():
    """A stored seed gives the same order for ever."""
    assert [6, 3, 8, 5, 1, 10, 2, 4, 9, 7] == image_order(10, 2**63 + 5).tolist()
    assert [1, 2, 3, 4] == image_order(4, None).tolist()


def test_seeds_give_different_orders():
    """Two seeds give two orders."""
    orders = {tuple(image_order(50, seed).tolist()) for seed in range(20)}
    assert 20 == len(orders)
