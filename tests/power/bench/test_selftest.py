# SPDX-License-Identifier: Apache-2.0
"""The self-test, in fake time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from power.bench.selftest import CheckOutcome, SelfTest
from power.meter import Leave, MeterSettings
from power.wipe_guard import Guard
from power.wipe_rule import OwnRuns
from tests.support.leave import LEAVE

MakeBench = Callable[..., Any]


def guard_of(bench: Any) -> Guard:
    """Return who is asked before the bench's meter is reset."""
    return Guard(bench.meter, OwnRuns(), "X", utc=bench.time.utc)


def on(bench: Any) -> SelfTest:
    """Return a self-test of the bench's meter, in its time."""
    return SelfTest(
        bench.meter, guard_of(bench), clock=bench.time.clock, sleep=bench.time.sleep, seconds=3
    )


def checks(bench: Any) -> dict[str, CheckOutcome]:
    """Return the self-test's checks."""
    return {check.name: check.outcome for check in on(bench).run(LEAVE)}


def test_a_good_meter_passes_and_has_its_settings_back(make_bench: MakeBench) -> None:
    """A good meter passes every check, and keeps its settings."""
    bench = make_bench()
    before = MeterSettings(timer_s=77, update_interval_s=2.0, current_range_a=0.5, line_filter=True)
    bench.meter.prepare(before)
    found = checks(bench)
    assert {CheckOutcome.OK} == set(found.values()), found
    assert ["identity", "error queue", "settings", "update rate"] == list(found)[:4]
    assert ["after START", "clock", "integration", "restored"] == list(found)[4:]
    assert before == bench.meter.settings()


@pytest.mark.parametrize(
    ("fault", "name", "outcome"),
    [
        ("errors count=2", "error queue", CheckOutcome.WARN),
        ("refuse count=4", "measuring", CheckOutcome.FAIL),
        ("clamp count=1", "restored", CheckOutcome.OK),
        ("mode200", "identity", CheckOutcome.FAIL),
        ("panel key=START", "measuring", CheckOutcome.FAIL),
    ],
)
def test_a_bad_meter_is_found(
    make_bench: MakeBench, fault: str, name: str, outcome: CheckOutcome
) -> None:
    """Each fault fails its own check, and the self-test runs to its end."""
    bench = make_bench()
    if fault != "mode200":
        bench.meter.identify()
    bench.fault(fault)
    assert outcome is checks(bench)[name]


def test_a_stop_at_the_panel_fails_the_timer(make_bench: MakeBench) -> None:
    """STOP at the panel fails the check of the timer."""
    found = checks(make_bench(None, None, "start+1 panel key=STOP"))
    assert CheckOutcome.FAIL is found["timer"]
    assert CheckOutcome.OK is found["restored"]


TAMPERED = (
    *(":INPut:SCALing:STATe ON", ":MEASure:AVERaging:STATe ON", ":MEASure:MHOLd ON"),
    *(":INPut:CFACtor 6", ":INPut:MODE DC", ":INPut:FILTer:LINE ON", ":INPut:FILTer:FREQuency ON"),
    *(":INPut:VOLTage:AUTO OFF", ":INPut:CURRent:AUTO OFF"),
    *(":INPut:VOLTage:RANGe 75V", ":INPut:CURRent:RANGe 250MA", ":RATE 2S"),
    *(":INTEGrate:MODE CONTinuous", ":INTEGrate:TIMer 1,2,3", ":STATus:FILTer7 BOTH"),
    *(":NUMeric:FORMat FLOat", ":NUMeric:NORMal:ITEM1 LAMBDA,1", ":NUMeric:NORMal:ITEM12 FU,1"),
    *(":NUMeric:NORMal:NUMber 3", ":NUMeric:HOLD ON", ":HOLD ON"),
)


def answers(bench: Any) -> dict[str, str]:
    """Return the meter's answers about everything that the test tampers with."""
    heads = [
        *(line.split()[0] for line in TAMPERED),
        *(":STATus:QMESsage", ":COMMunicate:HEADer", ":COMMunicate:VERBose"),
        ":COMMunicate:REMote",
    ]
    return {head: bench.ask(f"{head}?") for head in heads}


def test_everything_is_put_back(make_bench: MakeBench) -> None:
    """Scaling, averaging, crest factor, filters, items, holds and language are as before."""
    bench = make_bench()
    for line in TAMPERED:
        bench.tell(line)
    before = answers(bench)
    assert "1" in before[":INPut:SCALing:STATe"]
    bench.meter.remember()
    found = {check.name: check for check in on(bench).run(LEAVE)}
    assert CheckOutcome.OK is found["restored"].outcome, found["restored"].text
    assert "read back as found" in found["restored"].text
    assert "" == bench.meter.give_back()
    assert before == answers(bench)


def test_what_does_not_come_back_is_told(make_bench: MakeBench) -> None:
    """A setting that the meter refuses to take back is named, with its values."""
    bench = make_bench()
    bench.tell(":MEASure:AVERaging:STATe ON")
    put_back = bench.meter.put_back

    def refused(found: Any, leave: Leave) -> list[str]:
        bench.meter.reset(leave)
        bench.fault("refuse count=1")
        return list(put_back(found))

    bench.meter.put_back = refused
    (check,) = [check for check in on(bench).run(LEAVE) if check.name == "restored"]
    assert CheckOutcome.WARN is check.outcome
    assert " is " in check.text and "instead of" in check.text


def test_an_integration_of_somebody_else_goes_on(make_bench: MakeBench) -> None:
    """A test that finds a running integration changes nothing and stops nothing."""
    bench = make_bench()
    bench.fault("panel key=START")
    assert CheckOutcome.FAIL is checks(bench)["measuring"]
    assert "START" in bench.ask(":INTEGrate:STATe?")


def test_a_broken_off_test_puts_the_settings_back(make_bench: MakeBench) -> None:
    """A caller who breaks off gets the meter as it was, out of a running integration."""
    bench = make_bench()
    for line in TAMPERED:
        bench.tell(line)
    before = answers(bench)
    bench.meter.remember()
    test = on(bench)
    for check in test.run(LEAVE):
        if check.name == "after START":
            break
    assert CheckOutcome.OK is test.put_back().outcome
    assert "RESET" in bench.ask(":INTEGrate:STATe?")
    assert "" == bench.meter.give_back()
    assert before == answers(bench)


@pytest.mark.parametrize("stall_s", [0.1, 0.4, 1.3])
def test_a_busy_computer_fails_nothing(make_bench: MakeBench, stall_s: float) -> None:
    """A computer that wakes up late at every third sleep gets no FAIL, and no OK by chance."""
    bench = make_bench()
    naps = []

    def late(seconds: float) -> None:
        naps.append(seconds)
        bench.time.sleep(seconds + (stall_s if len(naps) % 3 == 0 else 0.0))

    bench.meter._sleep = late
    test = SelfTest(bench.meter, guard_of(bench), clock=bench.time.clock, sleep=late, seconds=2)
    found = {check.name: check for check in test.run(LEAVE)}
    assert CheckOutcome.FAIL not in {check.outcome for check in found.values()}, found
    assert "integration" in found


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [("start+0.3 hold", "HOLD"), ("start+3.05 panel key=RESET", "RESET")],
)
def test_a_failed_integration_has_a_remedy(make_bench: MakeBench, fault: str, remedy: str) -> None:
    """A result of 0 Wh in 0 s says what happened and what to do."""
    bench = make_bench(None, None, fault)
    found = {check.name: check for check in on(bench).run(LEAVE)}
    check = found.get("integration") or found["timer"]
    check = check if check.outcome is CheckOutcome.FAIL else found["timer"]
    assert CheckOutcome.FAIL is check.outcome
    assert remedy in check.text and "est again" in check.text
