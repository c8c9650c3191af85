# SPDX-License-Identifier: Apache-2.0
"""Loads of known harmonics: what the meter answers, against numpy's transform of the waveform."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from power.emulator.waveform import (
    MOST_ORDER,
    Waveform,
    crest,
    parse_waveform,
    power_factor,
    samples,
    spectrum,
)

MakeBench = Callable[..., Any]
VOLTAGE = parse_waveform("1:1,5:0.03:90")
CURRENT = parse_waveform("1:1:-30,3:0.6:20,5:0.3:-100,7:0.1")
PARTS = st.dictionaries(
    st.integers(2, MOST_ORDER),
    st.tuples(st.floats(0, 2), st.floats(-180, 180)),
    max_size=6,
).map(lambda more: Waveform(((1, 1.0, 10.0), *((order, *part) for order, part in more.items()))))


def transform(waveform: Waveform) -> Any:
    """Return numpy's transform as complex rms values of sines, from a period of its own."""
    count = 4096
    at = np.arange(count) * 2 * np.pi / count
    period = sum(a * np.sin(k * at + np.radians(phase)) for k, a, phase in waveform.parts)
    period = period / np.sqrt(np.mean(period**2))
    return np.fft.rfft(period)[: MOST_ORDER + 1] * np.sqrt(2) * 1j / count


@settings(max_examples=30, deadline=None)
@given(PARTS)
def test_the_spectrum_is_that_of_numpy(waveform: Waveform) -> None:
    """Every order of every waveform is that of numpy's transform, amplitude and phase."""
    assert np.allclose(transform(waveform), spectrum(waveform), atol=1e-9)
    assert math.sqrt(sum(abs(it) ** 2 for it in spectrum(waveform))) == pytest.approx(1.0)
    assert max(map(abs, samples(waveform))) == crest(waveform) >= 1.0


@settings(max_examples=30, deadline=None)
@given(PARTS, PARTS)
def test_the_power_is_the_sum_over_the_orders(voltage: Waveform, current: Waveform) -> None:
    """The power factor is the sum of U(k) I(k) cos φ(k) over all orders."""
    orders = (u * i.conjugate() for u, i in zip(spectrum(voltage), spectrum(current)))
    assert power_factor(voltage, current) == pytest.approx(sum(it.real for it in orders), abs=1e-9)


@pytest.fixture
def bench(make_bench: MakeBench) -> Any:
    """Return a meter at a load of 5 W and 120 V with harmonics, on auto-range."""
    bench = make_bench(voltage_waveform=VOLTAGE, current_waveform=CURRENT)
    bench.tell(":COMM:HEAD OFF")
    bench.tell(":HARM:THD FUND")
    bench.time.sleep(5.0)
    return bench


def values(bench: Any, *items: str) -> list[float]:
    """Return the values of output items."""
    chosen = ";".join(f"ITEM{number} {item}" for number, item in enumerate(items, start=1))
    bench.tell(f":NUM:NORM:NUM {len(items)};{chosen}")
    return [float(text) for text in bench.ask(":NUM:NORM:VAL?").split(",")]


def test_orders_of_voltage_current_and_power(bench: Any) -> None:
    """U(k), I(k) and P(k) are numpy's orders of the waveforms, at the amounts of the display."""
    volts, amperes, watts = values(bench, "U,1", "I,1", "P,1")
    voltages, currents = transform(VOLTAGE), transform(CURRENT)
    assert watts == pytest.approx(5.0, rel=1e-3)
    assert volts * amperes * (voltages @ currents.conj()).real == pytest.approx(watts, rel=1e-3)
    for k in (1, 2, 3, 5, 7, 50):
        found = values(bench, f"UK,1,{k}", f"IK,1,{k}", f"PK,1,{k}")
        power = volts * amperes * (voltages[k] * currents[k].conj()).real
        wanted = [volts * abs(voltages[k]), amperes * abs(currents[k]), power]
        assert wanted == pytest.approx(found, rel=1e-3, abs=1e-6), k


def test_distortions_and_phases(bench: Any) -> None:
    """Distortion factors, THD and phases are those of the waveforms' own numbers."""
    u, i = transform(VOLTAGE), transform(CURRENT)
    thd = 100 * math.sqrt(0.6**2 + 0.3**2 + 0.1**2)
    found = values(bench, "UTHD,1", "ITHD,1", "IHDFK,1,3", "UHDFK,1,5", "PHDFK,1,5")
    share = 100 * (u[5] * i[5].conj()).real / (u[1] * i[1].conj()).real
    assert [3.0, thd, 60.0, 3.0, share] == pytest.approx(found, rel=1e-3)
    # Relative to the fundamental: 20° - 3 (-30°), -100° - 5 (-30°), and 90° for the voltage.
    assert [110.0, 50.0, 90.0] == pytest.approx(
        values(bench, "PHIIK,1,3", "PHIIK,1,5", "PHIUK,1,5")
    )
    assert [30.0, math.cos(math.radians(30))] == pytest.approx(
        values(bench, "PHIK,1,1", "LAMBDAK,1,1"), rel=1e-3
    )


def test_distortions_of_the_total(bench: Any) -> None:
    """With THD TOTal the total is what distortions refer to; ORDer bounds it (page 6-10)."""
    bench.tell(":HARM:THD TOT")
    rest = math.sqrt(0.6**2 + 0.3**2 + 0.1**2)
    assert [100 * rest / math.hypot(1, rest)] == pytest.approx(values(bench, "ITHD,1"), rel=1e-3)
    bench.tell(":HARM:ORD 1,4")
    assert [100 * 0.6 / math.hypot(1, 0.6)] == pytest.approx(values(bench, "ITHD,1"), rel=1e-3)
    assert math.isnan(values(bench, "IK,1,5")[0])


def test_a_list_of_orders(bench: Any) -> None:
    """A list tells the total, direct current, and each order (page 6-21)."""
    bench.tell(":NUM:LIST:NUM 1;ITEM1 I,1;ORD 7;SEL ODD")
    total, direct, *orders = (float(text) for text in bench.ask(":NUM:LIST:VAL?").split(","))
    assert math.isnan(direct)
    assert [1.0, 0.6, 0.3, 0.1] == pytest.approx([one / orders[0] for one in orders], rel=1e-3)
    assert total == pytest.approx(math.hypot(*orders), rel=1e-3)


def test_the_waveform_decides_power_factor_and_peak(bench: Any) -> None:
    """λ is the waveforms' own, and the peak of the current is its rms times its crest."""
    amperes, factor, peak = values(bench, "I,1", "LAMBDA,1", "IPPEAK,1")
    assert power_factor(VOLTAGE, CURRENT) == pytest.approx(factor, rel=1e-3)
    assert amperes * crest(CURRENT) == pytest.approx(peak, rel=1e-3)
    assert math.sqrt(2) < crest(CURRENT)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("3:0.4", "needs a fundamental"),
        ("1:1,51:0.1", "go from 1 to 50"),
        ("1:1,0:0.1", "go from 1 to 50"),
        ("1:1,3:1,3:2", "given twice"),
        ("1", "is no ORDER:AMPLITUDE"),
        ("1:nan", "needs a fundamental"),
        ("1:1,3:inf", "must be numbers"),
    ],
)
def test_other_waveforms_are_refused(text: str, fault: str) -> None:
    """A text that is no waveform is refused with the reason."""
    with pytest.raises(ValueError, match=fault):
        parse_waveform(text)


def test_a_load_without_power_is_refused(make_bench: MakeBench) -> None:
    """A current a quarter of a period behind would be endless for any power."""
    with pytest.raises(ValueError, match="no power in common"):
        make_bench(current_waveform=parse_waveform("1:1:-90"))
