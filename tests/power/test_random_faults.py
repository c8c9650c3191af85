# SPDX-License-Identifier: Apache-2.0
"""Random fault schedules, in compressed time; the benchmark plays a thousand of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.bench.power_faults import play


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    """Keep the thousand expected warnings out of the output."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_no_wrong_energy_is_valid_and_none_is_lost(first: int) -> None:
    """Each session ends, no wrong energy is VALID, and no sound energy is lost."""
    for seed in range(first, first + 10):
        outcome = play(seed)
        assert not outcome.error.startswith("TimeoutError"), (seed, outcome.schedule)
        assert not outcome.wrong_and_valid, (seed, outcome.schedule, outcome.result)
        assert not outcome.lost, (seed, outcome.schedule, outcome.result, outcome.error)


def test_the_reference_would_notice_a_wrong_energy() -> None:
    """The comparison notices a schedule that cuts a part of the power."""
    outcome = play(855)
    assert outcome.result is not None
    assert outcome.result.integrator_wh is not None
    assert "clip" in outcome.schedule
    assert abs(outcome.result.integrator_wh - outcome.true_wh) > 100 * outcome.tolerance_wh
