# SPDX-License-Identifier: Apache-2.0
"""The result of a run, also when somebody changed what the meter sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from power.errors import MeterRefused
from power.follow.final import read_result
from power.meter import MeterSettings

SETTINGS = MeterSettings(
    timer_s=10, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)


def ended_run(make_bench: Callable[..., Any], *commands: str) -> Any:
    """Return a bench whose run of 10 s is over, with these commands sent at half time."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(5.0)
    bench.meter.read()
    for command in commands:
        bench.tell(command)
    bench.time.sleep(7.0)
    return bench


def result_of(bench: Any) -> list[Any]:
    """Return the readings of the result, expecting 10 s."""
    return read_result(
        lambda job: job(bench.meter), 0.5, bench.time.sleep, expected_s=10.0, tolerance_s=1.5
    )


@pytest.mark.parametrize(
    "commands",
    [(), (":NUMeric:HOLD ON",), (":NUMeric:NORMal:NUMber 3",)],
    ids=["untouched", "held display", "fewer items"],
)
def test_the_result_is_read_whatever_the_meter_sends(
    make_bench: Callable[..., Any], commands: tuple[str, ...]
) -> None:
    """The integrator kept time and energy; the last two readings show them."""
    readings = result_of(ended_run(make_bench, *commands))
    assert [10.0, 10.0] == [row.integration_s for row in readings[-2:]]
    assert readings[-1].energy_wh == pytest.approx(5.0 * 10 / 3600, rel=1e-4)


def test_items_are_not_set_while_a_good_result_is_there(make_bench: Callable[..., Any]) -> None:
    """A meter that shows the right time is only read."""
    bench = ended_run(make_bench)
    bench.meter.arrange = pytest.fail
    assert 10.0 == result_of(bench)[-1].integration_s


def test_a_meter_that_stays_wrong_is_told(make_bench: Callable[..., Any]) -> None:
    """An output that cannot be set right is the meter's refusal, with its reason."""
    bench = ended_run(make_bench, ":NUMeric:NORMal:NUMber 3")

    def refuse() -> None:
        raise MeterRefused("the meter refused its items")

    bench.meter.arrange = refuse
    with pytest.raises(MeterRefused, match="refused its items"):
        result_of(bench)
