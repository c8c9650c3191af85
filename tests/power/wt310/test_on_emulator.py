# SPDX-License-Identifier: Apache-2.0
"""The driver against the emulated meter, in fake time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from power.emulator.instrument import Options
from power.emulator.profile import bursts, constant, energy_wh, parse_steps
from power.energy.judge import Verdict, judge_energy
from power.errors import MeterBusy, MeterMismatch, MeterRefused, MeterReplyError, MeterSilent
from power.follow import read_final
from power.meter import InputMode, IntegrationState, MeterFlag, MeterSettings

SETTINGS = MeterSettings(
    timer_s=10, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)

MakeBench = Callable[..., Any]


def run(bench: Any, settings: MeterSettings = SETTINGS) -> list[Any]:
    """Return the readings of a whole run by the timer, read once per update."""
    bench.meter.prepare(settings)
    bench.meter.start()
    readings = [bench.meter.read()]
    while readings[-1].state is IntegrationState.START:
        bench.time.sleep(settings.update_interval_s)
        readings.append(bench.meter.read())
    readings += read_final(bench.meter.read, settings.update_interval_s, bench.time.sleep)
    return readings


@pytest.mark.parametrize("late_final", [False, True])
@pytest.mark.parametrize("model", ["WT310", "WT310E", "WT333E", "WT310HC"])
def test_a_run_by_the_timer_is_the_profiles_integral(
    make_bench: MakeBench, model: str, late_final: bool
) -> None:
    """Energy, time, state and verdict are right on every model."""
    profile = parse_steps("0:4.0,2.3:7.5,6.1:3")
    bench = make_bench(profile, Options(model=model, late_final=late_final))
    amps = 1.0 if model != "WT310" else 0.1
    settings = MeterSettings(
        timer_s=10, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=amps
    )
    readings = run(bench, settings)
    result = judge_energy(
        readings, session_s=10.0, settings=settings, identity=bench.meter.identify()
    )
    assert result.energy_wh == pytest.approx(energy_wh(profile, 0, 10), rel=5e-6)
    assert 10.0 == result.integration_s
    assert IntegrationState.TIMEUP is result.end_state
    assert Verdict.VALID is result.verdict, result.findings


def test_a_run_that_is_stopped_early(make_bench: MakeBench) -> None:
    """STOP ends a run early, and the energy is the integral until then."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    start = bench.meter.start()
    readings = []
    for _ in range(7):
        bench.time.sleep(0.5)
        readings.append(bench.meter.read())
    stopped_s = bench.time.now
    assert IntegrationState.STOP is bench.meter.stop()
    assert IntegrationState.STOP is bench.meter.stop()
    readings += read_final(bench.meter.read, 0.5, bench.time.sleep)
    session_s = stopped_s - start.sent_s
    result = judge_energy(readings, session_s=session_s, settings=SETTINGS)
    assert result.energy_wh == pytest.approx(5.0 * session_s / 3600, rel=1e-5)
    assert Verdict.VALID is result.verdict, result.findings


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("verbose", [False, True])
def test_header_and_verbose_in_every_combination(
    make_bench: MakeBench, header: bool, verbose: bool
) -> None:
    """The driver reads each combination of HEADer and VERBose, also after a change in mid-run."""
    bench = make_bench(None, Options(header=header, verbose=verbose))
    assert SETTINGS == bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.tell(f":COMM:HEAD {int(header)};VERB {int(verbose)}")
    bench.time.sleep(1.0)
    assert IntegrationState.START is bench.meter.read().state
    assert IntegrationState.STOP is bench.meter.stop()
    assert IntegrationState.STOP is bench.meter.read().state
    assert SETTINGS == bench.meter.settings()


def test_leftovers_of_another_user_are_cleared(make_bench: MakeBench) -> None:
    """Prepare clears hold, averaging, MAX hold, scaling, binary output and foreign items."""
    bench = make_bench()
    for message in (
        ":HOLD ON",
        ":NUM:HOLD ON",
        ":MEAS:AVER ON",
        ":MEAS:MHOL ON",
        ":SCAL ON",
        ":NUM:FORM FLO",
        ":NUM:NUM 3;ITEM1 FU,1",
        ":INP:MODE DC;CFAC 6",
    ):
        bench.tell(message)
    bench.meter.prepare(SETTINGS)
    for query in (":HOLD?", ":NUM:HOLD?", ":MEAS:AVER:STAT?", ":MEAS:MHOL?", ":SCAL:STAT?"):
        assert "0" == bench.ask(query)
    assert 5.0 == bench.meter.read().power_w


def test_every_setting_arrives(make_bench: MakeBench) -> None:
    """Mode, ranges, crest factor, filters, update interval and timer arrive as requested."""
    wanted = MeterSettings(
        timer_s=3725,
        update_interval_s=0.25,
        mode=InputMode.VMEAN,
        voltage_range_v=300.0,
        current_range_a=0.025,
        crest_factor=6,
        line_filter=True,
        frequency_filter=True,
    )
    bench = make_bench()
    assert wanted == bench.meter.prepare(wanted)
    assert "1,2,5" == bench.ask(":INTEG:TIM?")


def test_auto_range_is_set_and_read_back(make_bench: MakeBench) -> None:
    """A range of None sets auto-range and is read back as None."""
    bench = make_bench()
    assert MeterSettings(timer_s=5) == bench.meter.prepare(MeterSettings(timer_s=5))


def test_an_interval_of_the_newer_series_is_refused_by_the_older(make_bench: MakeBench) -> None:
    """The read-back finds that the older WT310 moved 20 s to 5 s without an error."""
    settings = MeterSettings(timer_s=60, update_interval_s=20.0)
    with pytest.raises(MeterRefused, match="update_interval_s at 5.0 instead of 20.0"):
        make_bench().meter.prepare(settings)


def test_start_that_is_refused_tells_the_meters_code(make_bench: MakeBench) -> None:
    """A START without effect for 5 s is an error with the queue's code."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.tell(":INTEG:MODE CONT;TIM 0,0,0")
    before_s = bench.time.now
    with pytest.raises(MeterRefused, match="did not start: state RESET, error 847") as caught:
        bench.meter.start()
    assert 847 == caught.value.code
    assert 5.0 <= bench.time.now - before_s < 6.0


def test_prepare_during_an_integration_is_refused(make_bench: MakeBench) -> None:
    """Prepare leaves a running integration alone."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(1.0)
    with pytest.raises(MeterBusy):
        bench.driver().prepare(SETTINGS)
    bench.time.sleep(1.0)
    assert 2.0 == bench.meter.read().integration_s


def test_a_restarted_program_attaches(make_bench: MakeBench) -> None:
    """A second driver reads on where the first died, with one energy for the whole run."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(3.0)
    second = bench.driver()
    assert IntegrationState.START is second.attach()
    bench.time.sleep(7.0)
    assert IntegrationState.TIMEUP is second.stop()
    assert second.read().energy_wh == pytest.approx(5.0 * 10 / 3600, rel=1e-5)


@pytest.mark.parametrize("key", ["STOP", "RESET"])
def test_a_key_at_the_panel_makes_the_energy_invalid(make_bench: MakeBench, key: str) -> None:
    """STOP at the panel shows in TIME and RESET in the state, and both make the energy INVALID."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    readings = []
    for second in range(10):
        bench.time.sleep(1.0)
        if second == 4:
            bench.instrument.press("STOP")
            if key == "RESET":
                bench.instrument.press("RESET")
        readings.append(bench.meter.read())
    readings += read_final(bench.meter.read, 0.5, bench.time.sleep)
    result = judge_energy(readings, session_s=10.0, settings=SETTINGS)
    assert Verdict.INVALID is result.verdict
    code = "window" if key == "STOP" else "meter_reset"
    assert code in {finding.code for finding in result.findings}


def test_an_overload_is_flagged_and_invalid(make_bench: MakeBench) -> None:
    """A load far above the current range shows as over-range, and stays flagged."""
    bench = make_bench(parse_steps("0:5,4:100,5:5"))
    readings = run(bench)
    assert MeterFlag.OVER_RANGE in readings[-1].flags
    assert MeterFlag.CURRENT_PEAK_OVER in readings[-1].flags
    assert "over range" in {reason for row in readings for reason in row.absent.values()}
    result = judge_energy(readings, session_s=10.0, settings=SETTINGS)
    assert {"over_range", "peak_over"} <= {finding.code for finding in result.findings}
    assert Verdict.INVALID is result.verdict


def test_an_overload_between_two_readings_is_latched(make_bench: MakeBench) -> None:
    """The extended event register keeps a peak that no reading saw."""
    bench = make_bench(parse_steps("0:5,4:100,5:5"))
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(3.0)
    bench.meter.read()
    bench.time.sleep(4.0)
    assert frozenset() == bench.meter.read().flags
    assert IntegrationState.STOP is bench.meter.stop()
    assert {MeterFlag.OVER_RANGE, MeterFlag.CURRENT_PEAK_OVER} == bench.meter.read().flags


def test_a_latched_overload_survives_a_new_link(make_bench: MakeBench) -> None:
    """A new link reads the latched events before its opening clears them."""
    bench = make_bench(parse_steps("0:5,4:100,5:5"))
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(7.0)
    second = bench.driver()
    second.attach()
    assert MeterFlag.CURRENT_PEAK_OVER in second.read().flags


def test_firmware_without_range_items_is_driven_all_the_same(make_bench: MakeBench) -> None:
    """Firmware without range items is driven with ranges read after the run only."""
    bench = make_bench(None, Options(range_items=False))
    readings = run(bench)
    assert readings[0].current_range_a is None
    assert 0.1 == readings[-1].current_range_a
    assert Verdict.VALID is judge_energy(readings, session_s=10.0, settings=SETTINGS).verdict


def test_a_meter_in_wt200_mode_is_refused(make_bench: MakeBench) -> None:
    """A meter in WT200 mode is refused, since that mode changes every reply."""
    bench = make_bench()
    bench.tell(":SYST:COMM:COMM WT200")
    with pytest.raises(MeterMismatch, match="WT200"):
        bench.meter.identify()


def test_an_e_meter_in_wt300_mode_names_the_older_series(make_bench: MakeBench) -> None:
    """An E meter in WT300 mode is accepted under the older series' name (page 8-1)."""
    bench = make_bench(None, Options(model="WT310E"))
    bench.tell(":SYST:COMM:COMM WT300")
    assert "WT310" == bench.meter.identify().model


def test_an_unread_reply_of_a_crashed_client_does_not_matter(make_bench: MakeBench) -> None:
    """An unread reply of a crashed client is not taken for the identity."""
    bench = make_bench()
    bench.tell(":NUM:NORM:VAL?")
    assert "YOKOGAWA" == bench.meter.identify().maker


def test_busy_window_that_swallows_everything(make_bench: MakeBench) -> None:
    """The driver is silent during the busy window, the first 0.2 s after START."""
    bench = make_bench(None, Options(busy_window="all"))
    bench.meter.prepare(SETTINGS)
    start = bench.meter.start()
    assert start.confirmed_s - start.written_s < 0.5


def test_a_busy_window_longer_than_known(make_bench: MakeBench) -> None:
    """A lost state query is repeated within the five seconds that START has."""
    bench = make_bench(None, Options(busy_window="all", busy_window_s=1.0))
    bench.meter.prepare(SETTINGS)
    start = bench.meter.start()
    assert 2.0 < start.confirmed_s - start.written_s < 5.0


def test_a_meter_that_stays_silent_after_start(make_bench: MakeBench) -> None:
    """The wait for the confirmation of START ends."""
    bench = make_bench(None, Options(busy_window="all", busy_window_s=60.0))
    bench.meter.prepare(SETTINGS)
    before_s = bench.time.now
    with pytest.raises(MeterSilent):
        bench.meter.start()
    assert bench.time.now - before_s < 20.0


def test_arrange_sets_items_only_while_nothing_runs(make_bench: MakeBench) -> None:
    """Arrange sets the items of a fresh meter, and refuses to set them during a run."""
    bench = make_bench()
    with pytest.raises(MeterRefused):
        bench.meter.attach()
    bench.meter.arrange()
    bench.time.sleep(1.0)
    assert 5.0 == bench.meter.read().power_w
    bench.instrument.press("START")
    with pytest.raises(MeterBusy):
        bench.meter.arrange()


def test_local_gives_the_panel_back(make_bench: MakeBench) -> None:
    """Remote control is on after prepare and off after `local`."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    assert "1" == bench.ask(":COMM:REM?")
    bench.meter.local()
    assert "0" == bench.ask(":COMM:REM?")


def test_a_load_over_its_range_is_found_before_the_start(make_bench: MakeBench) -> None:
    """Prepare refuses a device that overloads the chosen range."""
    bench = make_bench(constant(60.0))
    with pytest.raises(MeterRefused, match="not ready to measure .*over range"):
        bench.meter.prepare(SETTINGS)


@pytest.mark.parametrize("update_s", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "load", [(1.0, 8.0, 2.0, 0.5), (1.0, 40.0, 2.0, 0.1), (0.2, 90.0, 1.0, 0.5)]
)
@pytest.mark.parametrize("model", ["WT310", "WT310E"])
def test_auto_range_that_never_settles_is_no_refusal(
    make_bench: MakeBench, load: tuple[float, ...], update_s: float, model: str
) -> None:
    """A load that pulses keeps the ranges switching; the run begins, and its findings tell."""
    low, high, period_s, duty = load
    bench = make_bench(bursts(low, high, period_s, duty), Options(model=model))
    bench.meter.prepare(
        replace(SETTINGS, update_interval_s=update_s, voltage_range_v=None, current_range_a=None)
    )
    bench.meter.start()
    assert IntegrationState.START is bench.meter.state()


def test_a_meter_without_data_is_refused_with_the_reason(make_bench: MakeBench) -> None:
    """Auto-range is no excuse for a meter that shows nothing, and no bracket is empty."""
    bench = make_bench()
    bench.fault("no_data updates=999")
    automatic = replace(SETTINGS, voltage_range_v=None, current_range_a=None)
    for settings, remedy in ((SETTINGS, "check wiring and ranges"), (automatic, "fixed ranges")):
        with pytest.raises(MeterRefused, match=rf"\(current_a: no data, .*\); .*{remedy}"):
            bench.meter.prepare(settings)


def test_await_update_finds_the_updates(make_bench: MakeBench) -> None:
    """The phase is right to a fiftieth of the interval, and peaks seen on the way are kept."""
    bench = make_bench(parse_steps("0:5,2.2:100,2.8:5"))
    bench.meter.prepare(SETTINGS)
    start = bench.meter.start()
    for _ in range(6):
        bench.time.sleep(0.37)
        update_s, off_s = bench.meter.await_update(0.5)
        assert off_s < 0.02
        since_s = update_s - start.written_s
        assert abs(since_s / 0.5 - round(since_s / 0.5)) < 0.03
    assert MeterFlag.CURRENT_PEAK_OVER in bench.meter.read().flags


def test_await_update_of_a_held_meter_ends(make_bench: MakeBench) -> None:
    """Without updates the wait ends in an error after two intervals and a second."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.tell(":RATE 5S")
    with pytest.raises(MeterReplyError, match="no updates"):
        bench.meter.await_update(0.5)


def test_await_update_of_a_meter_that_was_just_switched_on(make_bench: MakeBench) -> None:
    """A meter that nobody has prepared shows its updates too, and `*RST` does not hide them."""
    bench = make_bench()
    assert "NEV" == bench.ask(":STAT:FILT1?").split()[-1]
    bench.meter.await_update(5.0)
    bench.tell("*RST")
    bench.meter.await_update(5.0)


def test_no_question_is_asked_after_the_end(make_bench: MakeBench) -> None:
    """After the end of a hurried driver each call fails at once, until a later end is named."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.fault("silent count=9999")
    end_s = bench.time.now + 1.0
    bench.meter.hasten(0.4, end_s)
    for call in (bench.meter.stop, bench.meter.reset, bench.meter.attach, bench.meter.read):
        with pytest.raises(MeterSilent):
            call()
        assert bench.time.now <= end_s
    bench.meter.hasten(0.4, end_s)
    bench.time.sleep(1.0)
    bench.fault("off")
    with pytest.raises(MeterSilent, match="the time for questions"):
        bench.meter.attach()
    bench.meter.hasten(0.4, bench.time.now + 5.0)
    assert IntegrationState.START is bench.meter.attach()
