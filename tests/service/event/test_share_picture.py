# SPDX-License-Identifier: Apache-2.0
"""The result as one picture: its size, its best five teams, and nothing that a name can break."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from PIL import Image

from referee.core.conditions import Difference
from referee.errors import InputError
from referee.service.event.result_entry import ResultEntry
from referee.service.event.share_picture import save_picture, share_figure
from tests.support.rankings import results_of


def ranking(*teams):
    """Return final results of these teams, the best first."""
    entries = [
        ResultEntry(
            team=team,
            rank=place,
            score=1 / place,
            mean_ap=0.5 / place,
            energy_wh=0.5,
            score_low=0.9 / place,
            score_high=1.1 / place,
        )
        for place, team in enumerate(teams, start=1)
    ]
    approved = {"final": True, "approved_utc": "2026-06-07T16:02:11+00:00"}
    return replace(results_of(*entries), **approved)


def texts(figure):
    """Return every text of a figure."""
    found = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [text.get_text() for text in found]


def test_a_picture_has_the_size_of_a_post(tmp_path):
    """1200x630 pixels, whether PNG or SVG, with the same bytes each time."""
    results = ranking("ants", "bees")
    made = []
    for name in ("one", "two"):
        for kind in ("png", "svg"):
            assert save_picture(results, tmp_path / f"{name}.{kind}") is None
            made.append((tmp_path / f"{name}.{kind}").read_bytes())
    assert made[:2] == made[2:]
    with Image.open(tmp_path / "one.png") as picture:
        assert (1200, 630) == picture.size
    size = re.findall(r'<svg [^>]*?width="([\d.]+)pt"', made[1].decode())
    assert ["900"] == size  # of 96 pixels an inch


def test_it_says_what_it_is_and_who_leads():
    """The contest, whether it is final, the day, and the best five with their figures."""
    told = texts(share_figure(ranking(*(f"team {n}" for n in range(1, 8)))))
    assert {"LPIRC", "FINAL results, 7 June 2026, 7 teams", "1   team 1", "1.00"} <= {*told}
    assert any(text.endswith("team 5") for text in told)
    assert not any(text.endswith("team 6") for text in told)
    assert "score = mAP / watt-hours, with its 95 % interval" in told


def test_provisional_results_say_so():
    """Without a team there is a sentence in place of bars."""
    told = texts(share_figure(replace(results_of(), utc="2026-06-07T16:02:11+00:00")))
    assert "PROVISIONAL results, 7 June 2026, 0 teams" in told
    assert "No team has a place yet." in told


def test_a_name_is_text_and_is_cut(tmp_path):
    """Signs of a formula draw nothing, and a long name leaves the figures their room."""
    results = ranking("$\\frac{", "x" * 60)
    assert f"2   {'x' * 25}…{'x' * 16}" in texts(share_figure(results))
    assert save_picture(results, tmp_path / "share.png") is None


def test_a_session_that_was_not_run_as_the_others_is_marked():
    """The mark stands behind the name, also where the name is cut."""
    results = ranking("ants", "x" * 60)
    shorter = [Difference("length_s", 300.0, 600.0)]
    entries = [results.entries[0], replace(results.entries[1], differs=shorter)]
    told = texts(share_figure(replace(results, entries=entries)))
    assert {"1   ants", f"2   {'x' * 25}…{'x' * 16} (not alike)"} <= {*told}


def test_another_kind_of_file_is_refused(tmp_path):
    """The sentence names the two kinds."""
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        save_picture(ranking("ants"), tmp_path / "share.jpg")
