# SPDX-License-Identifier: Apache-2.0
"""A session's team knows the images by its own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from referee.service.setup.session_images import order_of


def test_order_is_shared_and_cannot_be_changed():
    """A session's order is computed once, and callers cannot change it."""
    order = order_of(10, 7)
    assert order is order_of(10, 7)
    with pytest.raises(ValueError, match="read-only"):
        order[0] = 3
    assert list(range(1, 11)) == np.sort(order).tolist()
