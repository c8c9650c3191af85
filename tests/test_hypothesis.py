# SPDX-License-Identifier: Apache-2.0
"""All property tests run under the profile of `tests/conftest.py`."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def test_no_property_test_can_fail_for_being_slow():
    """The profile has neither a deadline nor a health check of speed."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


@given(st.just(0.3))
@settings(max_examples=1)
def test_a_slow_input_passes(seconds):
    """An input that takes longer than Hypothesis's own 200 ms passes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
