# SPDX-License-Identifier: Apache-2.0
"""The device's own counter beside the samples."""

from __future__ import annotations

import math
import random

import pytest

from power.meter import MeterFlag, MeterSettings, Sampling
from power.sampled.counter import EnergyCounter, growth
from power.sampled.software_integrator import SoftwareIntegrator
from power.sampled.source import Sample

PLUG = EnergyCounter(lag_s=60.0, step_wh=0.1)
SAMPLING = Sampling("plug", None, interval_s=1.0, longest_gap_s=3.0, most_w=3000.0)


@pytest.mark.parametrize(
    ("before", "now", "wraps", "most", "grown"),
    [
        (10, 15, 0, math.inf, 5),
        (95, 5, 100, 20, 10),
        (50, 5, 100, 20, None),
        (50, 5, 0, math.inf, None),
        (10, 95, 0, 20, None),
        (50, 50, 100, 20, 0),
    ],
)
def test_a_fall_is_a_wrap_only_if_the_rating_explains_it(
    before: float, now: float, wraps: float, most: float, grown: float | None
) -> None:
    """A counter grows over its end, and by no more than is possible; all else is no growth."""
    assert growth(before, now, wraps=wraps, most=most) == grown


def run(
    counts: dict[int, float],
    powers: dict[int, float] | None = None,
    counter: EnergyCounter = PLUG,
    sampling: Sampling = SAMPLING,
    again_s: int | None = None,
) -> tuple[SoftwareIntegrator, frozenset[MeterFlag]]:
    """Run ten minutes at 36 W, a counter each minute; `counts` are added from a second on.

    `powers` are other powers at single seconds. The device is opened again at `again_s`.
    """
    made = SoftwareIntegrator(sampling, counter)
    made.prepare(MeterSettings(timer_s=600))
    made.take(Sample(0.0, 36.0, counter_wh=50.0))
    made.start(0.0)
    for second in range(1, 602):
        if second == again_s:
            made.opened_again(counter, restarted=False)
        added = sum(wh for at_s, wh in counts.items() if second >= at_s)
        counted = 50.0 + second // 60 * 0.6 + added
        made.take(Sample(second, (powers or {}).get(second, 36.0), counter_wh=counted))
    return made, made.values(602.0).flags


def test_a_counter_that_agrees_confirms_the_energy() -> None:
    """Ten minutes with a counter each minute have no flag, and are confirmed."""
    made, flags = run({})
    assert flags == frozenset()
    assert made.values(602.0).unconfirmed is None


@pytest.mark.parametrize("at_s", [30, 300, 580])
def test_a_false_power_widens_no_tolerance_wherever_it_lies(at_s: int) -> None:
    """One power of the plug's whole rating is found in the middle of a run and at its ends."""
    sampling = Sampling("plug", None, interval_s=1.0, longest_gap_s=3.0)
    _, flags = run({}, {at_s: 6000.0}, sampling=sampling)
    assert MeterFlag.COUNTER_DIFFERS in flags


def test_a_load_that_ends_within_the_lag_is_no_difference() -> None:
    """A counter that is late by the lag may miss what the load drew just before the end."""
    made = SoftwareIntegrator(SAMPLING, PLUG)
    made.prepare(MeterSettings(timer_s=600))
    made.take(Sample(0.0, 0.0, counter_wh=0.0))
    made.start(0.0)
    for second in range(1, 602):
        # It draws 900 W from second 545 to 575 alone, and the counter was last read at 540.
        made.take(Sample(second, 900.0 if 545 <= second < 575 else 0.0, counter_wh=0.0))
    assert MeterFlag.COUNTER_DIFFERS not in made.values(602.0).flags


@pytest.mark.parametrize(("wh", "flagged"), [(-50.0, True), (5000.0, True), (0.0, False)])
def test_a_counter_that_begins_anew_or_jumps_is_told(wh: float, flagged: bool) -> None:
    """What the counter cannot have counted is left out of the comparison, and told."""
    _, flags = run({300: wh})
    assert (MeterFlag.COUNTER_RESTARTED in flags) is flagged
    assert MeterFlag.COUNTER_DIFFERS not in flags


def test_a_counter_that_is_rounded_back_by_a_step_goes_on() -> None:
    """A large counter that shows a step less has not begun anew, whatever its last bits are."""
    made = SoftwareIntegrator(SAMPLING, PLUG)
    made.prepare(MeterSettings(timer_s=10))
    made.take(Sample(0.0, 36.0, counter_wh=2_748_359.7))
    made.start(0.0)
    for second in range(1, 12):
        made.take(Sample(second, 36.0, counter_wh=2_748_359.6 if second == 5 else 2_748_359.7))
    assert 2_748_359.6 - 2_748_359.7 < -0.1
    assert MeterFlag.COUNTER_RESTARTED not in made.values(12.0).flags


def test_a_leap_that_could_be_is_a_difference() -> None:
    """A counter that is wrong by as much as the load could have drawn differs."""
    assert run({300: 3.0})[1] == {MeterFlag.COUNTER_DIFFERS}


def test_a_register_that_is_full_goes_on() -> None:
    """A counter with a width may fall once it is full, and is no other counter."""
    counter = EnergyCounter(60.0, 0.1, wraps_wh=53.0)
    made, flags = run({300: -53.0}, counter=counter)
    assert flags == frozenset()
    assert made.values(602.0).unconfirmed is None


@pytest.mark.parametrize("lasts", [True, False])
def test_a_device_that_is_opened_again_differs_in_nothing(lasts: bool) -> None:
    """Its counter goes on from where it stood, or from zero, as the driver tells."""
    counter = EnergyCounter(0.2 if not lasts else 60.0, 0.1, lasts=lasts)
    made = SoftwareIntegrator(SAMPLING, counter)
    made.prepare(MeterSettings(timer_s=600))
    made.take(Sample(0.0, 36.0, counter_wh=0.0))
    made.start(0.0)
    for second in range(1, 602):
        if 300 <= second < 302:
            continue  # the link is out
        if second == 302:
            made.opened_again(counter, restarted=False)
        begun_s = 302 if second >= 302 and not lasts else 0
        made.take(Sample(second, 36.0, counter_wh=(second - begun_s) * 0.01))
    assert made.values(602.0).flags == frozenset()
    assert made.values(602.0).unconfirmed is None


def test_a_counter_that_is_too_coarse_confirms_nothing() -> None:
    """A run of a minute is as long as the counter's lag, so the counter tells nothing of it."""
    made = SoftwareIntegrator(SAMPLING, PLUG)
    made.prepare(MeterSettings(timer_s=60))
    made.take(Sample(0.0, 36.0, counter_wh=0.0))
    made.start(0.0)
    for second in range(1, 62):
        made.take(Sample(second, 36.0, counter_wh=second // 60 * 0.6))
    assert made.values(62.0).unconfirmed is MeterFlag.WITNESS_COARSE


def test_a_counter_of_which_the_powers_are_made_is_no_witness() -> None:
    """A driver that divides its counter by the time has nothing else to show."""
    counter = EnergyCounter(60.0, 0.1, witness=False)
    assert run({}, counter=counter)[0].values(602.0).unconfirmed is MeterFlag.NO_WITNESS


def test_an_older_driver_tells_less() -> None:
    """A source without the newer attributes has a counter that lasts and never wraps."""

    class Old:
        counter_lag_s = 3.0
        counter_step_wh = 0.5

    assert EnergyCounter.of(Old()) == EnergyCounter(3.0, 0.5)


def plug_run(chance: random.Random, told: float) -> tuple[bool, bool]:
    """Run a plug with a changing load, whose counter shows `told` times the energy once a minute.

    Returns whether the counter differs, and whether it can confirm.
    """
    length_s, before_s = chance.choice([60, 120, 300, 600]), chance.randrange(2, 200)
    powers_w: list[float] = []
    while len(powers_w) < before_s + length_s + 5:
        lasting_s, power_w = chance.randrange(1, 100), chance.uniform(0.5, 200.0)
        powers_w += [power_w] * lasting_s
    step_wh, minute_s = chance.choice([0.1, 1 / 60, 1.0]), chance.randrange(60)
    made = SoftwareIntegrator(SAMPLING, EnergyCounter(60.0, step_wh))
    made.prepare(MeterSettings(timer_s=length_s))
    drawn_wh, counted_wh = chance.uniform(0, 1000), 0.0
    for second in range(before_s + length_s + 3):
        if second % 60 == minute_s or not counted_wh:
            counted_wh = math.floor(drawn_wh / step_wh) * step_wh
        if second == before_s:
            made.start(second - 0.5)
        drawn_wh += told * powers_w[second] / 3600
        made.take(Sample(second, powers_w[second], span_s=1.0, counter_wh=counted_wh))
    shown = made.values(before_s + length_s + 3.0)
    return MeterFlag.COUNTER_DIFFERS in shown.flags, shown.unconfirmed is None


@pytest.mark.slow
def test_a_true_counter_never_differs_and_a_false_one_is_found() -> None:
    """Of many plugs and loads no true counter is accused, and no confirming one may be far off."""
    true = [plug_run(random.Random(seed), 1.0) for seed in range(150)]
    assert not any(differs for differs, _ in true)
    assert sum(confirms for _, confirms in true) > 50
    for told in (0.4, 3.0):
        false = [plug_run(random.Random(seed), told) for seed in range(150)]
        assert all(differs for differs, confirms in false if confirms)
