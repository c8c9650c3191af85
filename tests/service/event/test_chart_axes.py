# SPDX-License-Identifier: Apache-2.0
"""Equal values are one place of a chart's axis, and each axis has at least two labels."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.service.event.chart_axes import in_places
from referee.service.event.charts import PAPER, SIZE_IN, energy_figure, speed_figure
from referee.service.event.result_entry import PastChampion, ResultEntry
from tests.support.rankings import results_of

EQUAL_BUT_FOR_NOISE = [150.00000000000003, 150.0, 149.99999999999997]
NAMED = {"speed": (speed_figure, "objects_per_s"), "energy": (energy_figure, "energy_wh")}


def figure_of(kind, values, champions=()):
    """Return a chart of teams with these values across."""
    draw, field = NAMED[kind]
    entries = [
        ResultEntry(
            **{"team": f"t{n}", "rank": 1, "mean_ap": 0.5, "verdict": "VALID", field: value}
        )
        for n, value in enumerate(values)
    ]
    return draw(results_of(*entries, champions=champions), PAPER, SIZE_IN)


def labels(axis):
    """Return the texts of the labels that stand within the axis."""
    low, high = sorted(axis.get_view_interval())
    places = axis.get_majorticklocs()
    texts = axis.get_major_formatter().format_ticks(places)
    return [
        text for place, text in zip(places, texts, strict=True) if text and low <= place <= high
    ]


@pytest.mark.parametrize("kind", NAMED)
def test_values_that_are_equal_but_for_noise_are_one_place(kind):
    """The axis has round labels around it, and no scale of rounding errors."""
    figure = figure_of(kind, EQUAL_BUT_FOR_NOISE)
    (axes,) = figure.axes
    places = {line.get_xdata()[0] for line in axes.lines if line.get_marker() not in ("", "None")}
    assert 1 == len(places)
    low, high = axes.get_xlim()
    assert low < 100 < 200 < high
    found = labels(axes.xaxis)
    assert {"100", "200"} <= {text.removesuffix(".0") for text in found}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMED)
@settings(max_examples=10, deadline=None)
@given(values=st.lists(st.floats(0, 1e6, allow_subnormal=False), max_size=5))
@example([])
@example([0.0])
@example([0.0, 0.0])
@example([1.5, 13.0])
@example([1.1, 9.5])
@example([2.0, 2.0000001])
@example([3e-9, 3e-9])
@example([0.02, 900.0])
def test_each_axis_has_two_labels(kind, values):
    """Whatever the teams have reached."""
    figure = figure_of(kind, values)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert 2 <= len(set(labels(axes.xaxis)))
    assert 2 <= len(set(labels(axes.yaxis)))


def test_a_champion_far_away_leaves_two_labels():
    """The axis of the energies has the past champions, too."""
    figure = figure_of("energy", [1.2], [PastChampion(2018, 0.18, 12.0, 0.015)])
    assert 2 <= len(labels(figure.axes[0].xaxis))


def test_places_keep_what_differs():
    """Only noise is taken out, whatever the order."""
    assert [2.0, 1.0, 2.0] == in_places([2.0, 1.0, math.nextafter(2.0, 3.0)])
    assert [1.0, 1.000001] == in_places([1.0, 1.000001])
    assert [] == in_places([])
