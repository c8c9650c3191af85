# SPDX-License-Identifier: Apache-2.0
"""What a recording shows while it runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.energy.verdict import EnergyResult, Verdict
from power.live.records import apply, message_line, reading_line, result_line, run_line
from power.live.run_view import RunView, Stage
from power.meter import Identity, IntegrationState, MeterFlag, MeterSettings, Reading

Make = Callable[..., Reading]
IDENTITY = Identity("YOKOGAWA", "WT310", "EMU000000", "F1.03")
SETTINGS = MeterSettings(timer_s=60, update_interval_s=0.5, voltage_range_v=150.0)


@pytest.fixture
def view() -> RunView:
    """Return the view of a run that has just begun."""
    view = RunView()
    apply(view, run_line("run.csv", IDENTITY, SETTINGS))
    return view


def test_a_reading_crosses_the_pipe_whole(view: RunView, make_reading: Make) -> None:
    """The view shows what the recorder read."""
    reading = make_reading(1000.5, flags=frozenset({MeterFlag.AUTO_RANGE}), power_w=None)
    apply(view, reading_line(reading, 0.5))
    assert reading == view.newest
    news = view.news(1002.0)
    assert ("running", 0.5, 1.5, None) == (
        *(news["stage"], news["elapsed_s"], news["age_s"], news["power_w"]),
    )
    assert ["auto_range"] == news["flags"]
    assert (1, 150.0, 0.1) == (
        *(news["without_power"], news["voltage_range_v"], news["current_range_a"]),
    )
    assert "YOKOGAWA WT310 EMU000000" == news["about"]["meter"]
    json.dumps(news, allow_nan=False)


def test_gaps_are_those_that_the_judge_counts(view: RunView, make_reading: Make) -> None:
    """More than two and a half updates without a reading are a gap; before and after is none."""
    for at_s in (3.0, 3.5, 4.75, 6.01, 6.5):
        view.add(make_reading(at_s), at_s)
    view.add(make_reading(20.0, state=IntegrationState.TIMEUP), 20.0)
    assert 1 == view.gaps
    assert [(4.75, 6.01)] == list(view.newest_gaps)
    assert 1.26 == pytest.approx(view.gaps_s)


def test_a_result_is_the_end(view: RunView) -> None:
    """The verdict stays, although the program that recorded has ended."""
    apply(view, result_line(EnergyResult(Verdict.SUSPECT, 1.5, 0.1, ())))
    view.lose()
    assert Stage.ENDED is view.stage
    assert ("SUSPECT", 1.5) == (
        *(view.news(0.0)["result"]["verdict"], view.news(0.0)["result"]["energy_wh"]),
    )


def test_an_energy_that_is_withdrawn_is_shown_no_more(view: RunView, make_reading: Make) -> None:
    """The meter's figure stands until the verdict: an INVALID run has no energy."""
    view.add(make_reading(1000.5, energy_wh=0.5), 0.5)
    assert 0.5 == view.energy_wh == view.news(0.0)["energy_wh"]
    for verdict, energy_wh in ((Verdict.SUSPECT, 0.5), (Verdict.INVALID, None)):
        apply(view, result_line(EnergyResult(verdict, energy_wh, 0.1, (), integrator_wh=0.5)))
        assert energy_wh == view.energy_wh == view.news(0.0)["energy_wh"]


def test_a_program_that_died_is_told(view: RunView) -> None:
    """Without a result the end of the lines is a loss."""
    apply(view, message_line("the meter does not answer"))
    view.lose()
    assert "lost" == view.news(0.0)["stage"]
    assert [[None, "the meter does not answer"]] == view.news(0.0)["messages"]


def test_memory_is_bounded(view: RunView, make_reading: Make) -> None:
    """Hours of readings, gaps and messages keep the newest of each, and count all."""
    for number in range(5000):
        view.add(make_reading(number * 3.0), number * 3.0)
        view.tell(f"message {number}")
    assert len(view.recent) <= 21
    assert (4999, 30, 30) == (view.gaps, len(view.newest_gaps), len(view.messages))
    assert "message 4999" == view.messages[-1][1]
    assert len(view.whole) <= 600
    assert len(json.dumps(view.news(0.0))) < 60_000


@given(
    steps=st.lists(st.tuples(st.floats(0.05, 40), st.booleans()), min_size=1, max_size=80),
)
def test_a_page_that_asks_now_and_then_has_the_same_curves(
    steps: list[tuple[float, bool]],
) -> None:
    """Whenever a page asks and whatever it missed, it has what a new page gets."""
    view, at_s = RunView(), 0.0
    samples: list[Any] = []
    whole: dict[str, Any] = {"width_s": 0.0, "bins": []}
    for number, (step_s, asks) in enumerate([*steps, (1.0, True)]):
        at_s += step_s
        view.add(_reading(at_s, float(number % 7)), at_s)
        if not asks:
            continue
        after = samples[-1][0] if samples else 0
        news = view.news(at_s, after, len(whole["bins"]), whole["width_s"])
        samples += news["samples"]
        whole["bins"][news["whole"]["first"] :] = news["whole"]["bins"]
        whole["width_s"] = news["whole"]["width_s"]
    fresh = view.news(at_s)
    assert fresh["whole"]["bins"] == whole["bins"]
    assert fresh["samples"] == [one for one in samples if one[1] >= at_s - 60]


def _reading(at_s: float, power_w: float) -> Reading:
    from datetime import UTC, datetime

    return Reading(
        *(at_s, datetime(2026, 1, 1, tzinfo=UTC), 120.0, 0.05, power_w, 0.1, at_s),
        IntegrationState.START,
    )


@pytest.mark.parametrize("line", [b"[]", b'{"other": 1}', b"nonsense", b'{"reading": {}}'])
def test_another_line_is_refused(view: RunView, line: bytes) -> None:
    """A line of something else is a ValueError, and changes nothing."""
    with pytest.raises(ValueError, match=r"line|Expecting"):
        apply(view, line)
    assert 0 == view.readings
