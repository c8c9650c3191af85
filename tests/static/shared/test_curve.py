# SPDX-License-Identifier: Apache-2.0
"""The parts of the curves of power."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("points", "path"),
    [
        ([], ""),
        ([[0, 1], [1, 2]], "M0.0 1.0h0L1.0 2.0"),
        ([[0, 1], [3, 2]], "M0.0 1.0h0M3.0 2.0h0"),
        ([[0, 1], [1, None], [2, 3]], "M0.0 1.0h0M2.0 3.0h0"),
        ([[-1, 1], [0, 2]], "M0.0 2.0h0"),
        ([[0, 1], [2.5, 2]], "M0.0 1.0h0L2.5 2.0"),
    ],
)
def test_a_time_without_readings_breaks_the_line(
    scripts: Scripts, points: list[list[float | None]], path: str
) -> None:
    """So does a reading without a number; nothing is drawn before the session begins."""
    body = "return m.path(a[0], (second) => second, (value) => value, 2.5)"
    assert path == scripts.run("shared/curve.js", body, points)


@pytest.mark.parametrize(
    ("watts", "top"),
    [(0, 1), (0.9, 1), (0.95, 2), (5, 6), (7.2, 8), (9, 10), (9.5, 20), (120, 200)],
)
def test_an_axis_has_room_above_its_curve(scripts: Scripts, watts: float, top: float) -> None:
    """Its end is a round number, a tenth above the highest reading at least."""
    assert pytest.approx(top) == scripts.call("shared/curve.js", "niceTop", watts)


@pytest.mark.parametrize(
    ("top", "labels"),
    [
        (1.5e-6, ["0", "0.75", "1.5 µW"]),
        (0.06, ["0", "30", "60 mW"]),
        (0.2, ["0", "0.1", "0.2 W"]),
        (10, ["0", "5", "10 W"]),
        (2000, ["0", "1", "2 kW"]),
    ],
)
def test_a_scale_has_short_labels(scripts: Scripts, top: float, labels: list[str]) -> None:
    """A device that sleeps takes millionths of a watt, and the margin holds a few digits."""
    body = """
    const area = { width: 600, y: (value) => value, margin: { left: 9, right: 9 }, letter: 16 };
    return m.wattLines(a[0], area).map((one) => one.textContent).filter(Boolean);
    """
    assert labels == scripts.run("shared/curve.js", body, top)


def test_the_area_has_its_lowest_value_at_the_bottom(scripts: Scripts) -> None:
    """Seconds go to the right, watts go up, and both fill what the margins leave."""
    body = """
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const { x, y, width, height, margin } = m.area(svg, { from: 2, to: 10, low: -1, top: 4 });
    const [right, bottom] = [width - margin.right, height - margin.bottom];
    return [
      [x(2), margin.left], [x(6), (margin.left + right) / 2], [x(10), right],
      [y(-1), bottom], [y(1.5), (margin.top + bottom) / 2], [y(4), margin.top],
    ].map(([at, place]) => Math.abs(at - place) < 1e-9);
    """
    assert [True] * 6 == scripts.run("shared/curve.js", body)


@pytest.mark.parametrize(
    ("end_s", "marks"),
    [
        (20, ["0:00", "0:05", "0:10", "0:15", "0:20"]),
        (150, ["0:00", "0:30", "1:00", "1:30", "2:00", "2:30"]),
        (600, ["0:00", "2:00", "4:00", "6:00", "8:00", "10:00"]),
    ],
)
def test_marks_of_time_are_round(scripts: Scripts, end_s: float, marks: list[str]) -> None:
    """There are seven at most."""
    body = """
    const area = { x: (second) => second, width: 600, height: 9, letter: 16 };
    return m.minuteMarks(0, a[0], area).map((one) => one.textContent);
    """
    assert marks == scripts.run("shared/curve.js", body, end_s)


def test_an_axis_of_seconds_has_two_labels(scripts: Scripts) -> None:
    """However short the time is, and however narrow the chart."""
    body = """
    const count = (to, width) => new Set(
      m.minuteMarks(0, to, { x: (second) => second, width, height: 100, letter: 16 })
        .map((one) => one.textContent)
    ).size;
    const few = [];
    for (const width of [60, 130, 300, 1200]) {
      for (let to = 1; to < 4000; to += to < 60 ? 0.5 : 37) {
        if (count(to, width) < 2) few.push([to, width]);
      }
    }
    return few;
    """
    assert [] == scripts.run("shared/curve.js", body)
