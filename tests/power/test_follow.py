# SPDX-License-Identifier: Apache-2.0
"""How a meter is followed: the instants, the loop in fake time, the result at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.errors import (
    MeterBusy,
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterSilent,
    MeterUnreachable,
)
from power.follow import Follower, Schedule, attach, back_off_s, read_result
from power.meter import IntegrationState, MeterSettings


@given(st.floats(0, 1e6), st.sampled_from([0.1, 0.25, 1.0, 20.0]), st.floats(0, 1e6))
def test_the_next_instant_is_within_one_interval(
    origin_s: float, interval_s: float, now_s: float
) -> None:
    """The next instant lies after now, on the grid, and at most an interval away."""
    due_s = Schedule(origin_s, interval_s).next_after(now_s)
    assert -1e-6 < due_s - now_s <= interval_s + 1e-6
    steps = (due_s - origin_s) / interval_s
    assert steps == pytest.approx(round(steps), abs=1e-6)


def test_the_pause_doubles_to_a_bound() -> None:
    """The pause begins at a quarter of a second and never exceeds five seconds."""
    assert [0.25, 0.5, 1.0, 2.0, 4.0, 5.0] == [back_off_s(attempt) for attempt in range(1, 7)]
    assert 5.0 == back_off_s(100_000)


GONE = MeterUnreachable("the cable is out")


class FailingMeter:
    """A meter whose calls raise the errors that a test sets, and are counted."""

    def __init__(self) -> None:
        self.errors: dict[str, Exception] = {}
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[[], Any]:
        def call() -> str:
            self.calls.append(name)
            if name in self.errors:
                raise self.errors[name]
            return name

        return call


@pytest.fixture
def meter() -> FailingMeter:
    """Return a meter that answers everything."""
    return FailingMeter()


@pytest.fixture
def follower(meter: FailingMeter, fake_time: Any) -> Follower:
    """Return a follower that reads each second from 1000.2 s on."""

    def take_up() -> Any:
        attach(meter)  # type: ignore[arg-type]
        return meter

    return Follower(take_up, Schedule(1000.2, 1.0), clock=fake_time.clock)


def run_until(follower: Follower, fake_time: Any, end_s: float) -> list[tuple[float, object]]:
    """Step whenever a step is due; return the times and the results."""
    steps: list[tuple[float, object]] = []
    while follower.due_s < end_s:
        fake_time.now = max(fake_time.now, follower.due_s)
        try:
            outcome: object = follower.step()
        except MeterError as error:
            outcome = error
        steps.append((round(fake_time.now, 3), outcome))
    return steps


def test_it_is_taken_up_and_read_on_the_schedule(follower: Follower, fake_time: Any) -> None:
    """The first step attaches at once; after it each scheduled instant has one reading."""
    steps = run_until(follower, fake_time, 1003.0)
    assert [(1000.0, None), (1000.2, "read"), (1001.2, "read"), (1002.2, "read")] == steps


def test_a_lost_meter_is_tried_with_growing_pauses(
    follower: Follower, meter: FailingMeter, fake_time: Any
) -> None:
    """Attempts follow after 0.25, 0.5, 1, 2 s, and later readings keep to the old grid."""
    run_until(follower, fake_time, 1000.5)
    meter.errors = {"read": GONE, "attach": GONE}
    steps = run_until(follower, fake_time, 1005.0)
    assert [1001.2, 1001.45, 1001.95, 1002.95, 1004.95] == [at_s for at_s, _ in steps]
    assert not follower.attached
    meter.errors = {}
    assert [None, "read"] == [outcome for _, outcome in run_until(follower, fake_time, 1010.0)[:2]]
    assert 0.2 == pytest.approx(fake_time.now % 1)
    meter.errors = {"read": GONE}
    lost_s = run_until(follower, fake_time, fake_time.now + 1.1)[0][0]
    assert 0.25 == pytest.approx(follower.due_s - lost_s), "the pauses begin anew"


def test_what_the_meter_refuses_is_no_lost_link(
    follower: Follower, meter: FailingMeter, fake_time: Any
) -> None:
    """Refused readings are asked for again on schedule, and the link stays."""
    meter.errors = {"read": MeterRefused("its items are not ours")}
    steps = run_until(follower, fake_time, 1003.0)
    assert [1000.0, 1000.2, 1001.2, 1002.2] == [at_s for at_s, _ in steps]
    assert follower.attached
    assert 1 == meter.calls.count("attach")


@pytest.mark.parametrize("error", [MeterMismatch("another meter"), ZeroDivisionError("a mistake")])
def test_any_error_of_taking_up_is_tried_again_after_a_pause(
    follower: Follower, meter: FailingMeter, fake_time: Any, error: Exception
) -> None:
    """Any error of attaching is tried again after a pause, even a mistake in a driver."""
    meter.errors = {"attach": error}
    with pytest.raises(type(error)):
        follower.step()
    assert 1000.25 == follower.due_s
    assert not follower.attached


def test_a_late_wake_up_leaves_out_what_was_missed(follower: Follower, fake_time: Any) -> None:
    """After a late wake-up there is one reading, not one for each missed instant."""
    run_until(follower, fake_time, 1000.5)
    fake_time.now = 1004.7
    follower.step()
    assert 1005.2 == pytest.approx(follower.due_s)


def test_an_early_wake_up_reads_no_instant_twice(follower: Follower, fake_time: Any) -> None:
    """A wait that ends a little early counts for its own instant."""
    follower.step()
    fake_time.now = 1000.19
    follower.step()
    assert 1001.2 == pytest.approx(follower.due_s)


def test_a_command_that_loses_the_link(follower: Follower, meter: FailingMeter) -> None:
    """A command that loses the link raises its error, and the next step attaches again."""
    follower.step()
    meter.errors = {"stop": MeterSilent("no answer")}
    with pytest.raises(MeterSilent), follower.lend() as lent:
        lent.stop()
    assert not follower.attached
    with pytest.raises(MeterUnreachable, match="not connected"), follower.lend():
        pytest.fail("there is no meter to lend")


def test_insisting_outlasts_a_lost_link(
    follower: Follower, meter: FailingMeter, fake_time: Any
) -> None:
    """A job is repeated through lost links, spoilt replies and a taken link until it succeeds."""
    troubles: list[dict[str, Exception]] = [
        {"stop": MeterReplyError("garbage")},
        {"attach": MeterBusy("the link is in use")},
        {"attach": GONE},
        {},
    ]

    def sleep(seconds: float) -> None:
        fake_time.sleep(seconds)
        meter.errors = troubles.pop(0)

    assert "stop" == follower.insist(lambda meter: meter.stop(), 1060.0, sleep)
    meter.errors = {"stop": GONE}
    troubles[:] = [{"stop": MeterReplyError("garbage")}, {"attach": GONE}, {"attach": GONE}, {}]
    assert "stop" == follower.insist(lambda meter: meter.stop(), 1060.0, sleep)
    assert [] == troubles


def test_insisting_ends_at_its_deadline(
    follower: Follower, meter: FailingMeter, fake_time: Any
) -> None:
    """No attempt begins after the deadline, and the last error is raised."""
    meter.errors = {"attach": GONE}
    with pytest.raises(MeterUnreachable, match="the cable is out"):
        follower.insist(lambda meter: meter.stop(), 1010.0, fake_time.sleep)
    assert fake_time.now < 1010.0


def test_insisting_does_not_repeat_a_refusal(
    follower: Follower, meter: FailingMeter, fake_time: Any
) -> None:
    """A refusal is an answer, and is not repeated."""
    for error in (MeterRefused("no"), MeterBusy("an integration runs")):
        meter.errors = {"arrange": error}
        with pytest.raises(type(error)):
            follower.insist(lambda meter: meter.arrange(), 1060.0, fake_time.sleep)
    assert 1 == meter.calls.count("attach")


def test_attaching_sets_items_right_where_it_may(make_bench: Callable[..., Any]) -> None:
    """Attaching replaces another program's items while nothing is measured."""
    bench = make_bench()
    bench.tell(":NUMeric:NORMal:ITEM1 Q,1")
    assert "" == attach(bench.meter)
    bench.time.sleep(2.0)
    assert bench.meter.read().power_w is not None


def test_attaching_leaves_a_running_integration_alone(make_bench: Callable[..., Any]) -> None:
    """Attaching leaves a running integration alone: the meter can be stopped but not read."""
    bench = make_bench()
    bench.tell(":INTEGrate:MODE NORMal;TIMer 0,1,0;STARt")
    bench.time.sleep(1.0)
    bench.tell(":NUMeric:NORMal:ITEM1 Q,1")
    assert "output items" in attach(bench.meter)
    assert IntegrationState.START is bench.meter.state()
    assert IntegrationState.STOP is bench.meter.stop()


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
    """The last two readings show time and energy, for any items that the meter sends."""
    readings = result_of(ended_run(make_bench, *commands))
    assert [10.0, 10.0] == [row.integration_s for row in readings[-2:]]
    assert readings[-1].energy_wh == pytest.approx(5.0 * 10 / 3600, rel=1e-4)


def test_items_are_not_set_while_a_good_result_is_there(make_bench: Callable[..., Any]) -> None:
    """A meter that shows the right time is read without setting its items."""
    bench = ended_run(make_bench)
    bench.meter.arrange = pytest.fail
    assert 10.0 == result_of(bench)[-1].integration_s


def test_a_meter_that_stays_wrong_is_told(make_bench: Callable[..., Any]) -> None:
    """Items that cannot be set right give the meter's refusal, with its reason."""
    bench = ended_run(make_bench, ":NUMeric:NORMal:NUMber 3")

    def refuse() -> None:
        raise MeterRefused("the meter refused its items")

    bench.meter.arrange = refuse
    with pytest.raises(MeterRefused, match="refused its items"):
        result_of(bench)


def test_a_display_that_is_held_again_is_told(make_bench: Callable[..., Any]) -> None:
    """A display that is held again after it was released gives no result, but a reason."""
    bench = ended_run(make_bench, ":HOLD ON")
    release = bench.meter.arrange

    def hold_again() -> None:
        release()
        bench.tell(":HOLD ON")

    bench.meter.arrange = hold_again
    with pytest.raises(MeterRefused, match="HOLD"):
        result_of(bench)
