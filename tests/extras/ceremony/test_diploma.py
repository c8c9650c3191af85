# SPDX-License-Identifier: Apache-2.0
"""A diploma says what the results say of its team, and names the bundle by its hash."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from referee.core.conditions import Difference
from referee.extras.ceremony.diploma import diplomas_of, diplomas_page, ordinal
from referee.service.event.guest_standings import GuestColumn, GuestStandings, GuestTable
from referee.service.event.result_entry import ResultEntry, WonPrize
from referee.store.finals import Review
from tests.support.rankings import results_of

DIGEST = "0123456789abcdef" * 4
EVIL = "<script>&</script>"


@pytest.fixture
def results():
    """Return results of a winner, a reviewed second, and teams that are not in the ranking."""
    known = {"mean_ap": 0.4, "energy_wh": 0.5, "verdict": "VALID"}
    entries = [
        ResultEntry(team=EVIL, rank=1, session=3, score=0.8, organisation="Uni", **known),
        ResultEntry(
            team="bees",
            rank=2,
            session=4,
            score=0.6,
            review=Review("fine", "Ada", ""),
            **(known | {"verdict": "SUSPECT", "emulated": True}),
        ),
        ResultEntry(team="loose", session=5, mean_ap=0.1, verdict="INVALID"),
        ResultEntry(team="gone", session=6, withdrawn=True),
        ResultEntry(team="absent"),
    ]
    return replace(
        results_of(*entries),
        prizes=[WonPrize("highest score", "", None, [EVIL])],
        approved_by=["Ada", "Grace"],
        approved_utc="2026-06-07T16:02:11+00:00",
    )


def test_each_team_that_took_part_has_one(results):
    """Its place, its prizes and its verdict stand in it; a withdrawn or absent team has none."""
    first, second, third = diplomas_of(results, {})
    assert ("1st place of 2", ["highest score"], "Energy VALID") == (
        *(first.place, first.prizes),
        first.verdict,
    )
    assert [("mAP", "0.40000"), ("Wh", "0.5000"), ("score", "0.800")] == first.figures
    assert ("2nd place of 2", []) == (second.place, second.prizes)
    assert "Energy SUSPECT (EMULATED meter), reviewed by Ada" == second.verdict
    assert ("loose", "took part", [("mAP", "0.10000")]) == (
        *(third.team, third.place),
        third.figures,
    )


def test_a_session_that_was_not_run_as_the_others_is_marked(results):
    """The line of the verdict says what differs."""
    first, *others = results.entries
    shorter = replace(first, differs=[Difference("length_s", 300.0, 600.0)])
    diploma, *_ = diplomas_of(replace(results, entries=[shorter, *others]), {})
    said = "Energy VALID; not run as the others were: 300 s, others 600 s"
    assert said == diploma.verdict


def test_a_team_of_models_has_one_too(results):
    """Its places in the rankings of guests stand in it, beside a session's result or alone."""
    table = GuestTable(
        title="OVIC detection",
        columns=[GuestColumn("rank", "d"), GuestColumn("team")],
        rows=[[1, "bees"], [2, "absent"], [None, "loose"], [3, "gone"]],
    )
    guests = {
        "ovic": GuestStandings([table, GuestTable("notes", [GuestColumn("team")], [["bees"]])])
    }
    made = diplomas_of(replace(results, guests=guests), {})
    assert [(one.team, list(one.guests)) for one in made] == [
        (EVIL, []),
        ("bees", ["OVIC detection: 1st place of 3"]),
        ("loose", []),
        ("absent", ["OVIC detection: 2nd place of 3"]),
    ]
    assert ("took part", [], "", "") == (
        made[3].place,
        list(made[3].figures),
        made[3].verdict,
        made[3].proof,
    )
    assert "OVIC detection: 2nd place of 3" in diplomas_page(results, made)


def test_the_code_has_the_bundles_hash(results):
    """Whoever has the file can compare it; without a hash there is no code."""
    first, second, _ = diplomas_of(results, {3: DIGEST})
    assert f"session3.zip sha256 {DIGEST}" == first.proof
    assert DIGEST == "".join(first.digest)
    assert ("", []) == (second.proof, second.digest)


def test_the_page_stands_alone_and_is_signed(results):
    """It loads nothing, shows names as text, and has a line for everybody who approved."""
    page = diplomas_page(results, diplomas_of(results, {3: DIGEST}))
    assert not [word for word in ("src=", "href=", "@import", "url(", "<script") if word in page]
    assert "&lt;script&gt;" in page
    assert 3 == page.count("<article") == page.count("7 June 2026")
    assert 6 == len(re.findall(r"<line [^>]+/></svg>(?:Ada|Grace)", page))
    assert 'class="mark"' not in page
    assert "REHEARSAL" in diplomas_page(results, diplomas_of(results, {}), "REHEARSAL")


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th")]
    + [(21, "21st"), (22, "22nd"), (40, "40th"), (101, "101st"), (111, "111th")],
)
def test_places_are_said_as_people_say_them(number, text):
    """The teens are no exception of the exception."""
    assert text == ordinal(number)
