# SPDX-License-Identifier: Apache-2.0
"""The results as text, CSV, LaTeX and a page say the same, and nothing breaks them."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.service.event.columns import CSV_FIELDS, decimals_apart
from referee.service.event.finalizing import finalize
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import results_csv, results_text
from referee.service.teams.registration_changes import withdraw
from tests.support.markup import markup_faults

EVIL = '<script>"50 % & #1_{a}~^\\</script>'


@pytest.fixture
def results(event):
    """Return provisional results of a ranked, a tied, a void and a withdrawn team."""
    event.register("ants", EVIL, organisation="Uni & Söhne")
    event.register("wasps", "flies")
    event.play("ants")
    event.play(EVIL)
    number = event.play("wasps")
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    withdraw(event.contest, "flies", "did not come", "Kim")
    return read_results(event.contest)


def test_the_text_has_the_table_and_what_is_open(results):
    """The head says PROVISIONAL, ties share a rank, and open points follow."""
    lines = results_text(results).splitlines()
    assert lines[0].startswith("LPIRC: PROVISIONAL, as of ")
    assert ["1", "1", "–", "–"] == [line.split()[0] for line in lines[3:7]]
    assert "  wasps: has not run yet; void: wrong images" in lines
    assert "  flies: withdrawn" in lines
    # Each part of an interval has its own line.
    told = [line.removeprefix("  ants: ").partition(":")[0] for line in lines if "  ants: " in line]
    assert told == [
        "mAP, 95 % interval",
        "score, 95 % interval",
        "from the images alone",
        "from the energy alone",
    ]
    assert any(line.startswith("champion of 2018: score 0.445 ") for line in lines)
    assert "  'wasps' has no session that counts. Let it run, or withdraw it." in lines


def test_the_csv_has_every_digit_and_no_false_zero(results):
    """Numbers come back as they were, and a missing figure is an empty field."""
    rows = list(csv.DictReader(io.StringIO(results_csv(results))))
    assert list(CSV_FIELDS) == list(rows[0])
    assert ["ants", EVIL] == [row["team"] for row in rows[:2]]
    assert results.entries[0].score == float(rows[0]["score"])
    assert ("", "", "", "") == tuple(
        rows[2][name] for name in ("rank", "score", "energy_wh", "images")
    )


def test_the_page_stands_alone(event, results):
    """The page loads nothing, shows names as text, and says whether the results are final."""
    page = results_page(results)
    assert [] == markup_faults(page)
    page, charts = re.subn(r'src="data:image/svg[^"]*"', "", page)
    assert 2 == charts
    assert not [word for word in ("src=", "href=", "@import", "url(", "<script") if word in page]
    assert "&lt;script&gt;" in page and 'class="state provisional"' in page
    withdraw(event.contest, "wasps", "device broken", "Kim")
    finalize(event.contest, ["Ada"])
    page = results_page(read_results(event.contest))
    assert 'class="state final"' in page and "FINAL, approved by Ada on" in page


def test_the_page_has_landmarks_and_the_intervals_of_each_team(results):
    """A reader's program finds head and body; an interval stands once, below the ranking."""
    page = results_page(results)
    assert ["<header>", "<main>"] == re.findall(r"<(?:header|main)\b[^>]*>", page)
    table, _, below = page.partition("</table>")
    for line in results.entries[0].intervals:
        assert line not in table and line in below


def test_dates_are_written_as_people_write_them(results):
    """Text, LaTeX and page have a day with the name of its month."""
    told = replace(results, utc="2026-06-07T16:02:11.25+00:00")
    for form in (results_text, results_latex, results_page):
        assert "as of 7 June 2026, 16:02 UTC. " in form(told)


@given(st.lists(st.floats(0, 10, allow_subnormal=False).map(lambda x: round(x, 9)), max_size=8))
def test_decimals_tell_values_apart(values):
    """No two different values look the same, as far as twelve decimals go."""
    decimals = decimals_apart(values)
    assert 5 <= decimals <= 12
    assert len(set(values)) == len({f"{value:.{decimals}f}" for value in set(values)})


def test_scores_that_share_a_rank_need_no_decimals():
    """Doubles that the last bit parts are one score, and print with the five decimals of others."""
    assert 0.001 / 0.07 != 0.003 / 0.21
    assert 5 == decimals_apart([0.001 / 0.07, 0.003 / 0.21, 0.02777])


def test_decimals_are_as_many_as_needed():
    """Five, as the paper prints, unless two values would look alike."""
    assert 5 == decimals_apart([0.04369, 0.02777, 0.02777])
    assert 7 == decimals_apart([0.0436912, 0.0436914])


def test_scores_that_look_alike_are_told(results):
    """A table says what the mark means, and that equal texts are not equal scores."""
    one, two, *others = results.entries
    near = [
        replace(entry, score=score, score_low=None, score_high=None)
        for entry, score in ((one, 0.500001), (two, 0.5))
    ]
    told = replace(results, entries=[*near, *others])
    for form in (results_text, results_latex):
        assert "Scores that look alike differ beyond the digits that they carry." in form(told)
    wide = replace(results, entries=[replace(one, score=5.0, score_low=4.0, score_high=6.0)])
    assert "  ~: too uncertain for more digits." in results_text(wide).splitlines()
    assert r"\textasciitilde{}: too uncertain for more digits." in results_latex(wide)
    assert "more digits" not in results_text(replace(results, entries=[near[0]]))
