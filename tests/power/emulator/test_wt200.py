# SPDX-License-Identifier: Apache-2.0
"""The command mode WT200, as programs for a WT210 or WT230 use it (chapter 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from power.emulator.instrument import Options
from power.emulator.supported import wt200_table
from power.errors import MeterMismatch, MeterSilent

MakeBench = Callable[..., Any]


@pytest.fixture(params=[False, True], ids=["both", "alone"])
def old(make_bench: MakeBench, request: pytest.FixtureRequest) -> Any:
    """Return an emulated meter of 5 W at 120 V in mode WT200, with newer commands or without."""
    bench = make_bench(None, Options(wt200_alone=request.param))
    bench.tell(":SYSTem:COMMunicate:COMMand WT200")
    bench.tell(":COMMunicate:HEADer OFF")
    return bench


def test_the_program_of_a_wt210_measures(old: Any) -> None:
    """Presets, ranges and values of a WT210's program give voltage, current and power."""
    for line in tuple(
        ":CONFigure:VOLTage:RANGe 150V, :CONF:CURR:RANG 100MA, :SAMPle:RATE 250MS, "
        "MODE RMS, :MEASure:NORMal:ITEM:PRESet NORMal".split(", ")
    ):
        old.tell(line)
    old.time.sleep(1.0)
    assert "0" == old.ask(":STAT:QMES OFF;:STAT:ERR?")
    assert [120.0, 5.0 / 120.0, 5.0] == pytest.approx(
        [float(part) for part in old.ask(":MEAS:NORM:VAL?").split(",")], rel=1e-4
    )
    assert "150.0E+00" == old.ask(":CONF:VOLT:RANG?")


def test_an_integration_sends_the_time_in_three_values(old: Any) -> None:
    """The preset INTEGrate sends W, WH and AH, then hours, minutes and seconds."""
    for line in (
        *(":CONF:CURR:RANG 100MA", ":MEASure:ITEM:PRESet INTEGrate"),
        *(":INTEGrate:TIMer 0,1,5", ":INTEGrate:STARt"),
    ):
        old.tell(line)
    old.time.sleep(64.9)
    watts, watt_hours, _, hours, minutes, seconds = old.ask(":MEASure:VALue?").split(",")
    assert 5.0 == float(watts)
    assert pytest.approx(5.0 * 64.75 / 3600, rel=1e-5) == float(watt_hours)
    assert ("0", "1", "4") == (hours, minutes, seconds)


def test_no_data_and_over_range_are_numbers(old: Any) -> None:
    """No data is 9.91E+37, over range 9.9E+37, since programs for the WT210 read numbers."""
    old.tell(":CONF:CURR:AUTO OFF")
    old.tell(":CONF:CURR:RANG 5MA")
    assert "9.91E+37,9.91E+37,9.91E+37" == old.ask(":MEAS:VAL?")
    old.time.sleep(1.0)
    assert ["9.9E+37", "9.9E+37"] == old.ask(":MEAS:VAL?").split(",")[1:]


def test_switches_choose_the_values_in_a_fixed_order(old: Any) -> None:
    """Each function has a switch; values come in the meter's order, not in that of the switches."""
    for line in ("PRESet CLEar", "W ON", "V:ELEMent1 1", "TIME ON", "TIME OFF"):
        old.tell(f":MEASure:NORMal:ITEM:{line}")
    old.time.sleep(1.0)
    assert ["120.00E+00", "5.0000E+00"] == old.ask(":MEASure:VALue?").split(",")
    assert "1" == old.ask(":MEASure:ITEM:V?")
    assert "0" == old.ask(":MEASure:ITEM:TIME?")


def test_averaging_takes_type_and_count_together(old: Any) -> None:
    """AVERaging:TYPE has two values here; the other modes have two commands."""
    old.tell(":CONFigure:AVERaging:TYPE LINear,30")
    old.tell(":CONFigure:AVERaging:STATe ON")
    assert "LIN,32" == old.ask(":CONF:AVER:TYPE?")
    assert "1" == old.ask(":CONF:AVER:STAT?")


@pytest.mark.parametrize(("name", "value"), [("PT", "4.000"), ("CT", "4.000"), ("SFAC", "4.000")])
def test_scaling_has_its_old_names(old: Any, name: str, value: str) -> None:
    """PT, CT and SFACtor scale as VT, CT and SFACtor do in the other modes."""
    old.tell(f":CONF:SCAL:{name}:ALL 4")
    old.tell(":CONF:SCAL:STAT ON")
    old.time.sleep(1.0)
    assert value == old.ask(f":CONF:SCAL:{name}:ELEM1?")
    assert 20.0 == float(old.ask(":MEAS:VAL?").split(",")[2])


def test_the_old_commands_exist_in_this_mode_alone(make_bench: MakeBench) -> None:
    """In the modes WT300 and WT300E the meter refuses them with 113 (page 8-2, letter D)."""
    bench = make_bench(None, Options(model="WT310E"))
    for mode in ("WT300", "WT300E"):
        bench.tell(f":SYSTem:COMMunicate:COMMand {mode}")
        bench.tell(":CONFigure:VOLTage:RANGe 150")
        assert bench.ask(":STATus:ERRor?").startswith("113")


@pytest.mark.parametrize("alone", [False, True])
def test_what_of_the_new_commands_is_left_is_a_switch(make_bench: MakeBench, alone: bool) -> None:
    """With `wt200_alone` the newer commands are refused with 113, else they work."""
    bench = make_bench(None, Options(wt200_alone=alone))
    bench.tell(":SYSTem:COMMunicate:COMMand WT200")
    for question in (":INPut:MODE?", ":NUMeric:NORMal:VALue?", ":INTEGrate:STATe?", ":MATH?"):
        bench.tell("*CLS")
        if alone:
            with pytest.raises(MeterSilent):
                bench.ask(question)
            assert bench.ask(":STATus:ERRor?").startswith("113"), question
        else:
            assert bench.ask(question)
    bench.tell(":SYSTem:COMMunicate:COMMand WT300")
    assert bench.ask(":INPut:MODE?")


def test_the_driver_refuses_a_meter_that_knows_the_old_commands_alone(
    make_bench: MakeBench,
) -> None:
    """The driver names the command mode and the menu also where the newer commands are gone."""
    bench = make_bench(None, Options(wt200_alone=True))
    bench.tell(":SYSTem:COMMunicate:COMMand WT200")
    with pytest.raises(MeterMismatch, match="WT200 command mode; choose WT300E"):
        bench.meter.identify()


def test_the_elements_and_their_sum_stand_beside_each_other(make_bench: MakeBench) -> None:
    """A WT333 sends each function for its elements and the sum, as a WT230 does."""
    bench = make_bench(None, Options(model="WT333"), shares=(0.5, 0.3, 0.2))
    bench.tell(":SYSTem:COMMunicate:COMMand WT200")
    bench.tell(":MEASure:ITEM:PRESet NORMal")
    bench.tell(":CONF:CURR:RANG 500MA")
    bench.time.sleep(2.0)
    values = [float(part) for part in bench.ask(":MEAS:VAL?").split(",")]
    assert 12 == len(values)
    assert [2.5, 1.5, 1.0, 5.0] == pytest.approx(values[8:], rel=1e-3)


def test_the_table_has_one_entry_for_the_switches_of_all_functions() -> None:
    """`python -m power emulate --commands WT200` prints each command once."""
    printed = wt200_table()
    assert 1 == printed.count("`:MEASure[:NORMal]:ITEM:<function>:ELEMent<x>`")
    assert ["CONFigure", "HARMonics", "MEASure"] == [
        row.split(" | ")[0].strip("| ") for row in printed.splitlines()[2:]
    ]
