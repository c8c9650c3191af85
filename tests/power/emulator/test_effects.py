# SPDX-License-Identifier: Apache-2.0
"""Settings have the effect that the manual gives them, as measured values show."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from power.emulator.instrument import Options
from power.emulator.profile import constant, parse_steps

MakeBench = Callable[..., Any]
UIP = ":NUM:NORM:NUM 3;ITEM1 U,1;ITEM2 I,1;ITEM3 P,1"


@pytest.fixture
def bench(make_bench: MakeBench) -> Any:
    """Return an emulated meter that answers without headers, at 5 W and 120 V, in its ranges."""
    bench = make_bench()
    bench.tell(":COMM:HEAD OFF")
    bench.time.sleep(5.0)
    return bench


def numbers(bench: Any, question: str = ":NUM:NORM:VAL?") -> list[float]:
    """Return the values that the meter tells."""
    return [float(text) for text in bench.ask(question).split(",")]


@pytest.mark.parametrize(
    ("ratio", "factors"),
    [("VT:ALL 2", (2, 1, 2)), ("CT 3", (1, 3, 3)), ("SFAC:ELEM1 5", (1, 1, 5))],
)
def test_scaling_multiplies_voltage_current_and_power(
    bench: Any, ratio: str, factors: tuple[float, ...]
) -> None:
    """VT is in the voltage, CT in the current, and the power has all three (page 6-14)."""
    bench.tell(UIP)
    before = numbers(bench)
    bench.tell(f":SCAL:STAT ON;{ratio}")
    bench.time.sleep(1.0)
    expected = [value * factor for value, factor in zip(before, factors, strict=True)]
    assert expected == pytest.approx(numbers(bench), rel=1e-4)


def test_scaling_is_in_the_energy(bench: Any) -> None:
    """The integrated power is the scaled one."""
    bench.tell(":SCAL:STAT ON;SFAC 10")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(36.0)
    bench.tell(":INTEG:STOP")
    bench.tell(":NUM:NORM:NUM 1;ITEM1 WH,1")
    assert [0.5] == pytest.approx(numbers(bench), rel=1e-3)


@pytest.mark.parametrize(("kind", "after"), [("LINEAR", 15.0), ("EXPONENT", 12.93)])
def test_averaging_moves_slowly_to_a_new_power(
    make_bench: MakeBench, kind: str, after: float
) -> None:
    """Four of eight updates after a step from 10 to 20 W: half of the mean, or 1 - (7/8)^4 off.

    The energy does not go through the average.
    """
    bench = make_bench(parse_steps("0:10,20:20"), options=Options(profile_from_start=False))
    bench.tell(f":COMM:HEAD OFF;:RATE 1S;:MEAS:AVER:TYPE {kind};COUN 8;STAT ON")
    bench.tell(":NUM:NORM:NUM 1;ITEM1 P,1;:VOLT:AUTO OFF;RANG 150;:CURR:AUTO OFF;RANG 1")
    bench.time.sleep(24.0 - (bench.time.now - 1000.0))
    if kind == "EXPONENT":
        after = 20 - 10 * (7 / 8) ** 4
    assert [after] == pytest.approx(numbers(bench), abs=0.002)


def test_presets_are_those_of_the_manual(bench: Any) -> None:
    """Patterns 1 to 4 have their items at their places (pages 6-26 and 6-27)."""
    for pattern, places in (
        (1, {3: "P,1", 4: "U,2", 12: "P,SIGMA", 13: "NONE"}),
        (2, {9: "FI,1", 10: "NONE", 11: "U,2", 31: "U,SIGMA"}),
        (3, {10: "UPP,1", 15: "PMP,1", 16: "U,2", 61: "NONE"}),
        (4, {14: "TIME", 20: "AHM,1", 21: "U,2", 61: "U,SIGMA", 81: "NONE"}),
    ):
        bench.tell(f":NUM:NORM:PRES {pattern}")
        told = {place: bench.ask(f":NUM:NORM:ITEM{place}?") for place in places}
        assert places == {place: text.replace("SIGM", "SIGMA") for place, text in told.items()}


def test_delete_moves_up_what_follows_and_clear_does_not(bench: Any) -> None:
    """DELete closes the gap; CLEar with one number clears from there to the end (page 6-20)."""
    bench.tell(":NUM:NORM:PRES 2")
    bench.tell(":NUM:NORM:DEL 1,2")
    assert ["P,1", "S,1"] == [bench.ask(f":NUM:NORM:ITEM{k}?") for k in (1, 2)]
    bench.tell(":NUM:NORM:CLE 2,3")
    assert ["P,1", "NONE", "NONE", "LAMB,1"] == [
        bench.ask(f":NUM:NORM:ITEM{k}?") for k in (1, 2, 3, 4)
    ]
    bench.tell(":NUM:NORM:CLE 4")
    assert ["P,1", "NONE", "NONE"] == [bench.ask(f":NUM:NORM:ITEM{k}?") for k in (1, 4, 200)]


def test_an_element_that_the_model_lacks_has_no_data(bench: Any) -> None:
    """A WT310 has one element: no second one, and no sum."""
    bench.tell(":NUM:NORM:NUM 2;ITEM1 U,2;ITEM2 P,SIGMA")
    assert "NAN,NAN" == bench.ask(":NUM:NORM:VAL?")


@pytest.mark.parametrize(
    ("equation", "value"),
    [
        ("CFU1", 2**0.5),
        ("ADD", 120 + 5 / 120),
        ("SUB", 120 - 5 / 120),
        ("MUL", 5.0),
        ("DIV", 120 / (5 / 120)),
        ("DIVA", 120 / (5 / 120) ** 2),
        ("DIVB", 120**2 / (5 / 120)),
    ],
)
def test_math_computes_from_the_displays(bench: Any, equation: str, value: float) -> None:
    """The equations take voltage and current of displays A and B (page 6-17)."""
    bench.tell(f":MATH {equation};:DISP:NORM:ITEM1 U,1;ITEM2 I,1;:NUM:NORM:NUM 1;ITEM1 MATH")
    assert [value] == pytest.approx(numbers(bench), rel=1e-3)


def test_average_power_during_an_integration(bench: Any) -> None:
    """AVW is the energy over the time; without an integration there is no data."""
    bench.tell(":MATH AVW1;:NUM:NORM:NUM 1;ITEM1 MATH")
    assert "NAN" == bench.ask(":NUM:NORM:VAL?")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(10.0)
    assert [5.0] == pytest.approx(numbers(bench), rel=0.05)


def test_a_sine_has_a_fundamental_and_no_harmonics(bench: Any) -> None:
    """A list has total, direct current and the orders that were chosen (page 6-21)."""
    bench.tell(":NUM:LIST:NUM 1;ITEM1 UHDF,1;ORD 5;SEL ODD")
    assert "NAN,NAN,100.00E+00,0.0000E+00,0.0000E+00" == bench.ask(":NUM:LIST:VAL?")
    bench.tell(":NUM:NORM:NUM 3;ITEM1 UK,1,1;ITEM2 UK,1,3;ITEM3 UTHD,1")
    assert [120.0, 0.0, 0.0] == numbers(bench)


def test_the_memory_stores_an_update_each_interval(bench: Any) -> None:
    """STORe fills blocks, RECall tells them; beyond the last there is no data (page 6-30)."""
    bench.tell(UIP)
    bench.tell(":STOR:INT 0,0,2;STAT ON")
    bench.time.sleep(5.1)
    bench.tell(":STOR:STAT OFF")
    bench.time.sleep(10.0)
    assert "3" == bench.ask(":REC:NUM?")
    assert [120.0, 5 / 120, 5.0] == pytest.approx(numbers(bench, ":REC:NORM:VAL? 3"), rel=1e-3)
    assert "NAN,NAN,NAN" == bench.ask(":REC:NORM:VAL? 4")


def test_a_panel_brings_all_settings_back(bench: Any) -> None:
    """STORe:PANel saves settings, and RECall:PANel loads them (pages 6-30 and 6-32)."""
    bench.tell(":RATE 1S;:INP:CFAC 6;:MATH MUL;:STOR:PAN 2")
    bench.tell("*RST")
    assert "3" == bench.ask(":INP:CFAC?")
    bench.tell(":REC:PAN 2")
    assert "6;1.000E+00;MUL" == bench.ask(":INP:CFAC?;:RATE?;:MATH?")
    bench.tell(":REC:PAN 3")
    assert bench.ask(":STAT:ERR?").startswith("222,")


def test_auto_range_takes_the_configured_ranges_alone(bench: Any) -> None:
    """With RCONfig, ranges that are not on the list are skipped (page 6-14)."""
    assert "300.0E+00" == bench.ask(":VOLT:RANG?")
    bench.tell(":INP:VOLT:CONF 600,60;:INP:RCON ON")
    bench.time.sleep(2.0)
    assert "600.0E+00" == bench.ask(":VOLT:RANG?")


def test_max_hold_keeps_the_largest_values_and_not_the_energy(make_bench: MakeBench) -> None:
    """While MAX hold is on U, I, P and peaks only grow; the energy is that of the load."""
    bench = make_bench(parse_steps("0:5,4:12,8:3"))
    bench.tell(":COMM:HEAD OFF;:INP:CURR:AUTO OFF;RANG 0.2;:RATE 1S")
    bench.tell(":MEAS:MHOL ON;:INTEG:TIM 0,0,12")
    bench.time.sleep(3.0)
    bench.tell(":NUM:NORM:NUM 4;ITEM1 P,1;ITEM2 I,1;ITEM3 IPP,1;ITEM4 IMP,1")
    bench.tell(":INTEG:STAR")
    seen = []
    for wait_s in (3.5, 4.0, 4.0):
        bench.time.sleep(wait_s)
        seen.append(numbers(bench))
    assert [5.0, 12.0, 12.0] == pytest.approx([row[0] for row in seen])
    assert seen[1] == seen[2]
    assert [0.1, 0.1 * 2**0.5, -0.1 * 2**0.5] == pytest.approx(seen[2][1:], rel=1e-3)
    bench.time.sleep(1.0)
    bench.tell(":NUM:NORM:NUM 1;ITEM1 WH,1")
    assert [(4 * 5 + 4 * 12 + 4 * 3) / 3600] == pytest.approx(numbers(bench), rel=1e-4)
    bench.tell(":MEAS:MHOL OFF;:NUM:NORM:ITEM1 P,1")
    bench.time.sleep(1.0)
    assert [3.0] == pytest.approx(numbers(bench)), "it forgets when it is switched off"
    bench.tell(":MEAS:MHOL ON")
    bench.time.sleep(2.0)
    assert [3.0] == pytest.approx(numbers(bench))


@pytest.mark.parametrize(
    ("enabled", "jump", "ranges"),
    [
        ("ON", "5A", ["5.000E+00", "1.000E+00"]),
        ("ON", "OFF", ["500.000E-03", "500.000E-03"]),
        ("OFF", "5A", ["500.000E-03", "500.000E-03"]),
    ],
)
def test_a_peak_over_range_jumps_to_the_chosen_range(
    make_bench: MakeBench, enabled: str, jump: str, ranges: list[str]
) -> None:
    """POJump names where auto-range goes at a peak over range, if RCONfig is on (page 6-14)."""
    bench = make_bench(parse_steps("0:2,10.1:48"))
    bench.tell(f":COMM:HEAD OFF;:INP:CURR:POJ {jump};:INP:RCON {enabled};:RATE 1S")
    bench.time.sleep(9.5)
    assert "50.000E-03" == bench.ask(":INP:CURR:RANG?")
    found = []
    for _ in range(2):
        bench.time.sleep(2.0)
        found.append(bench.ask(":INP:CURR:RANG?"))
    assert ranges == found


def test_momentary_power_swings_around_its_mean(make_bench: MakeBench) -> None:
    """Of a sine it goes from P - S to P + S; direct current has one power."""
    bench = make_bench(constant(6.0), power_factor=0.6)
    bench.tell(":COMM:HEAD OFF")
    bench.time.sleep(5.0)
    bench.tell(":NUM:NORM:NUM 2;ITEM1 PPP,1;ITEM2 PMP,1")
    assert [6.0 + 10.0, 6.0 - 10.0] == pytest.approx(numbers(bench), rel=2e-3)
    direct = make_bench(parse_steps("0:6"), volts=12.0, frequency_hz=0.0)
    direct.tell(":COMM:HEAD OFF")
    direct.time.sleep(5.0)
    direct.tell(":NUM:NORM:NUM 2;ITEM1 PPP,1;ITEM2 PMP,1")
    assert [6.0, 6.0] == pytest.approx(numbers(direct), rel=1e-4)


@pytest.mark.parametrize(
    ("mode", "hertz", "charges"),
    [
        # The mean of an alternating current is zero (01EN, page 5-1).
        ("DC", 60.0, [0.0, 0.0, 0.0]),
        ("DC", 0.0, [0.25, 0.5, -0.25]),
        ("RMS", 60.0, [0.75, None, None]),
    ],
)
def test_charge_counts_as_the_input_mode_says(
    make_bench: MakeBench, mode: str, hertz: float, charges: list[float | None]
) -> None:
    """DC mode alone tells the charge of each direction; half an hour of 12 W, then of -6 W."""
    bench = make_bench(parse_steps("0:12,1800:-6"), volts=12.0, frequency_hz=hertz)
    bench.tell(f":COMM:HEAD OFF;:INP:MODE {mode};:INP:CURR:RANG 2")
    bench.time.sleep(5.0)
    bench.tell(":NUM:NORM:NUM 3;ITEM1 AH,1;ITEM2 AHP,1;ITEM3 AHM,1")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(3600.0)
    bench.tell(":INTEG:STOP")
    for value, expected in zip(numbers(bench), charges, strict=True):
        assert math.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-3)
