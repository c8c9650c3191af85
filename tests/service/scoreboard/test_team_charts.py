# SPDX-License-Identifier: Apache-2.0
"""The charts of a team's session and of the ranking, as a phone of 390 pixels shows them."""

from __future__ import annotations

import re

import pytest

from referee.service.event.charts import DARK, NARROW_IN, energy_chart, speed_chart
from referee.service.event.result_entry import PastChampion, ResultEntry
from referee.service.scoreboard.team_charts import (
    ClassCurve,
    SessionCourse,
    course_chart,
    curves_chart,
    extremes_chart,
)
from tests.support.rankings import results_of

# What a window of 390 pixels leaves a picture between its edges, and the least size of letters.
WIDE_PX, LEAST_PX = 330, 10.0
COURSE = SessionCourse(600.0, [(0.0, 5.0), (599.0, 6.0)], [(0.0, 3.0), (300.0, 4.0)], 300.0)
CURVES = [
    ClassCurve(f"golf cart with a long name {n}", 1 - n / 40, [0.0, 1.0], [1.0, 0.0])
    for n in range(30)
]
RANKING = results_of(
    *(
        ResultEntry(
            **{"team": f"Team {n}", "rank": n, "mean_ap": 0.1 * n, "energy_wh": 1.0 + n},
            **{"score": 0.1 * n / (1 + n), "objects_per_s": 2.0 * n, "verdict": "VALID"},
        )
        for n in range(1, 9)
    ),
    champions=[PastChampion(2018, 0.183, 0.412, 0.4446)],
)


def letters_px(svg: bytes) -> list[float]:
    """Return the sizes of a chart's letters in the width of a phone."""
    text = svg.decode()
    wide = re.search(r'viewBox="0 0 ([\d.]+) ', text)
    assert wide is not None
    return [WIDE_PX / float(wide[1]) * float(size) for size in re.findall(r"([\d.]+)px", text)]


@pytest.mark.parametrize(
    "chart",
    [
        lambda: course_chart(COURSE, DARK, narrow=True),
        lambda: extremes_chart(CURVES, DARK, narrow=True),
        lambda: extremes_chart(CURVES[:3], DARK, narrow=True),
        lambda: curves_chart(CURVES, DARK, narrow=True),
        lambda: energy_chart(RANKING, DARK, NARROW_IN),
        lambda: speed_chart(RANKING, DARK, NARROW_IN),
    ],
    ids=["course", "extremes", "few classes", "all classes", "energy", "speed"],
)
def test_a_narrow_chart_is_read_on_a_phone(chart) -> None:
    """No letter of it is smaller than ten pixels."""
    sizes = letters_px(chart())
    assert sizes and min(sizes) >= LEAST_PX
