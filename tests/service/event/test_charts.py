# SPDX-License-Identifier: Apache-2.0
"""The charts show every result that counts, also a result of 0, and have the same bytes again."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from referee.core.conditions import Difference
from referee.service.event.charts import COLOURS, DARK, PAPER, energy_chart, speed_chart
from referee.service.event.result_entry import PastChampion, ResultEntry
from tests.support.rankings import results_of

SIZE = (7.2, 4.5)
CHAMPION = PastChampion(2018, 0.183, 0.412, 0.4446)


def entry(team, mean_ap=0.5, energy_wh=1.0, rank=1, **other):
    """Return an entry of results."""
    score = None if mean_ap is None or not energy_wh else mean_ap / energy_wh
    made = {"team": team, "rank": rank, "mean_ap": mean_ap, "energy_wh": energy_wh, "score": score}
    return ResultEntry(**made | {"objects_per_s": 2.0, "verdict": "VALID"} | other)


def texts(svg):
    """Return the texts of a picture, which must be XML."""
    root = ElementTree.fromstring(svg)
    return [re.sub(r"\s+", " ", node.text or "") for node in root.iter() if "text" in node.tag]


@pytest.mark.parametrize("chart", [energy_chart, speed_chart])
def test_a_chart_names_its_teams_and_champions(chart):
    """A name may contain anything, and a mAP of 0 is a point."""
    found = texts(
        chart(
            results_of(entry("a & <b> $x$"), entry("none", 0.0, 0.1), champions=[CHAMPION]),
            DARK,
            SIZE,
        )
    )
    assert {"1 a & <b> $x$", "1 none", "2018"} <= set(found)


@pytest.mark.parametrize("chart", [energy_chart, speed_chart])
def test_a_session_that_was_not_run_as_the_others_is_marked(chart):
    """Its name says so."""
    shorter = [Difference("length_s", 300.0, 600.0)]
    found = texts(chart(results_of(entry("ants"), entry("bees", 0.4, differs=shorter)), DARK, SIZE))
    assert {"1 ants", "1 bees (not alike)"} <= set(found)


@pytest.mark.parametrize("chart", [energy_chart, speed_chart])
@pytest.mark.parametrize(
    "missing",
    [
        {"mean_ap": None},
        {"energy_wh": None, "objects_per_s": None},
        {"verdict": "INVALID"},
        {"withdrawn": True},
    ],
)
def test_what_does_not_count_is_no_point(chart, missing):
    """A figure that is missing or INVALID is left out, and so is a team that has withdrawn."""
    found = texts(chart(results_of(entry("ants", **missing)), PAPER, SIZE))
    assert [] == [text for text in found if "ants" in text]


@pytest.mark.parametrize("chart", [energy_chart, speed_chart])
def test_a_chart_without_points_is_drawn(chart):
    """Before the first result the axes are there."""
    assert "mAP" in texts(chart(results_of(), DARK, SIZE))


def test_equal_results_give_equal_bytes():
    """Nothing in a picture tells the time or the process."""
    results = results_of(entry("ants"), entry("bees", 0.2, 20.0), champions=[CHAMPION])
    assert energy_chart(results, DARK, SIZE) == energy_chart(results, DARK, SIZE)
    assert b"<dc:date>" not in energy_chart(results, DARK, SIZE)


@pytest.mark.parametrize("chart", [energy_chart, speed_chart])
def test_names_of_equal_points_stand_on_lines_of_their_own(chart):
    """Teams with the same figures have their names above each other, not on each other."""
    root = ElementTree.fromstring(
        chart(results_of(*[entry(f"team {n}") for n in range(8)]), PAPER, SIZE)
    )
    named = [node for node in root.iter() if "team" in (node.text or "")]
    places = {(node.get("x"), node.get("y"), node.get("transform")) for node in named}
    assert (8, 8) == (len(named), len(places))


def test_the_line_of_equal_scores_goes_through_the_best_point_to_the_edge():
    """It begins at the left edge, passes the best team's point, and ends where the axes do."""
    entries = [entry("best", 0.5, 1.0), entry("other", 0.1, 2.0, rank=2)]
    svg = energy_chart(results_of(*entries), PAPER, SIZE).decode()
    (dotted,) = re.findall(r'<path d="([^"]+)"[^>]*stroke-dasharray', svg)
    (spine,) = re.findall(r'<g id="patch_3">\s*<path d="([^"]+)"', svg)
    (point,) = re.findall(rf'<use [^>]*x="([\d.]+)" y="([\d.]+)" style="fill: {COLOURS[0]};', svg)
    begin, *_, end = corners(dotted)
    left, top = corners(spine)[-1]
    across, up = map(float, point)
    assert (begin[0], end[1]) == (pytest.approx(left, abs=0.5), pytest.approx(top, abs=0.5))
    rise = (end[1] - begin[1]) / (end[0] - begin[0])
    assert up == pytest.approx(begin[1] + rise * (across - begin[0]), abs=0.5)


def corners(path):
    """Return the points of a path of straight lines."""
    numbers = [float(text) for text in re.findall(r"-?[\d.]+", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_no_name_lies_over_the_numbers_of_an_axis():
    """Points that are close to the left edge have their names right of it."""
    figures = [
        ("Swifts", 0.672, 0.0824),
        ("Red Kites", 0.673, 0.083),
        ("Night Owls", 0.652, 0.0832),
    ]
    teams = [entry(team, *both, rank) for rank, (team, *both) in enumerate(figures, 1)]
    champions = [PastChampion(2017, 0.25, 2.08, 0.12), CHAMPION]
    edges = left_edges(energy_chart(results_of(*teams, champions=champions), PAPER, SIZE))
    number_end = edges["0.0"] + 3 * 6
    names = [left for text, left in edges.items() if text.startswith(("1 S", "2 R", "3 N"))]
    assert len(teams) == len(names)
    assert number_end < min(names)


def left_edges(svg):
    """Return where each text of a picture begins, in points, if each letter has six."""
    found = {}
    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        style, text = node.get("style", ""), " ".join((node.text or "").split())
        across = float(node.get("x") or re.search(r"translate\(([\d.]+)", node.get("transform"))[1])
        found[text] = across - 6 * len(text) * ("text-anchor: end" in style)
    return found
