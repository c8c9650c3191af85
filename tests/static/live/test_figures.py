# SPDX-License-Identifier: Apache-2.0
"""The figures of the page of a recording."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "live/figures.js"
NEWS = {
    "about": {"update_interval_s": 1, "timer_s": None},
    "stage": "running",
    "age_s": 0.2,
    "power_w": 5,
    "integration_s": 61.9,
}
CALM = {"gaps": {"count": 0}, "messages": [], "without_power": 0, "flags": []}


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({}, "5.000 W"),
        ({"power_w": None}, "–"),
        ({"age_s": 3.5}, "5.000 W"),
        ({"age_s": 3.6}, "no reading for 3 s"),
        ({"age_s": 90, "stage": "ended"}, "5.000 W"),
        ({"age_s": 90, "stage": "lost"}, "5.000 W"),
        ({"age_s": None}, "5.000 W"),
        ({"age_s": 1.3, "about": {"update_interval_s": 0.1}}, "no reading for 1 s"),
    ],
)
def test_an_old_power_is_none(scripts: Scripts, others: dict[str, Any], text: str) -> None:
    """Two and a half updates and a second without a reading are too long, while a run goes on."""
    shown = scripts.call(MODULE, "powerOf", NEWS | others)
    assert {"old": text.startswith("no"), "text": text} == shown


@pytest.mark.parametrize(
    ("seconds", "timer_s", "text"),
    [(None, None, "–"), (61.9, None, "1:01"), (61.9, 600, "1:01 of 10:00")],
)
def test_the_time_of_the_integrator(
    scripts: Scripts, seconds: float | None, timer_s: int | None, text: str
) -> None:
    """A second counts when it is over; a timer says how many there will be."""
    news = NEWS | {"integration_s": seconds, "about": {"timer_s": timer_s}}
    assert text == scripts.call(MODULE, "timeOf", news)


@pytest.mark.parametrize(
    ("function", "number", "text"),
    [
        ("value", 5, "5 W"),
        ("value", 5.00049, "5 W"),
        ("moving", 5, "5.000 W"),
        ("value", 1.3e-6, "1.3 µW"),
        ("moving", 1.3e-6, "1.300 µW"),
        ("moving", -4.2e-10, "-420.0 pW"),
        ("moving", 0, "0.000 W"),
        ("value", 0.001, "0.001 W"),
        ("value", 15000, "15 kW"),
        ("value", None, "–"),
        ("moving", None, "–"),
    ],
)
def test_a_figure_that_moves_keeps_its_zeros(
    scripts: Scripts, function: str, number: float | None, text: str
) -> None:
    """One that stands has the digits that it needs."""
    assert text == scripts.call(MODULE, function, number, "W")


def test_what_was_noticed_stands_in_lines(scripts: Scripts) -> None:
    """Flags come first, then readings without a power, gaps, and what the program said."""
    news = {
        "gaps": {"count": 2, "total_s": 12.34, "newest": [[1, 2], [30, 41.26]]},
        "messages": [[None, "begun"], [65, "the link is back"]],
        "without_power": 3,
        "flags": ["voltage_over_range", "hold"],
    }
    assert [
        "The meter reports: voltage over range, hold.",
        "Readings without a power: 3.",
        "Times without readings: 2, 12.3 s in all, the newest from 30.0 to 41.3 s.",
        "begun",
        "after 1:05: the link is back",
    ] == scripts.call(MODULE, "noticed", news)
    assert [] == scripts.call(MODULE, "noticed", CALM)


@pytest.mark.parametrize(
    ("begun", "number", "found", "other"),
    [
        (None, 0, {"about": {"log": "a"}, "number": 1}, False),
        ('{"log":"a"}', 5, {"about": {"log": "a"}, "number": 5}, False),
        ('{"log":"a"}', 5, {"about": {"log": "b"}, "number": 9}, True),
        ('{"log":"a"}', 5, {"about": {"log": "a"}, "number": 4}, True),
    ],
)
def test_another_recording_is_noticed(
    scripts: Scripts, begun: str | None, number: int, found: dict[str, Any], other: bool
) -> None:
    """Its log is another one, or it has fewer readings."""
    assert other == scripts.call(MODULE, "isAnother", begun, number, found)
