# SPDX-License-Identifier: Apache-2.0
"""The page of a site without a script says what the results rest on, and what a reader may do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from referee.core.turns import SESSION_RULE
from referee.extras.publish.results_page import Beside, citation_of, results_page
from referee.service.event.result_entry import TrackFigures, WonPrize
from referee.service.event.standings import TIE_RULE
from referee.service.scoreboard.feed_objects import FeedObject
from referee.service.scoreboard.view import PublicState, PublicView, ShownEntry
from referee.tracks.loading import load_track

TRACK = load_track("network")
NAME = "<b>ants & co</b>"
VIEW = PublicView(
    contest="LPIRC <2026>",
    track="network",
    mode="event",
    seconds=600,
    images=8,
    figures=TrackFigures(TRACK.accuracy, TRACK.score),
    entries=[
        ShownEntry(team=NAME, rank=1, session=1, verdict="SUSPECT", score=5.0, emulated=True),
        ShownEntry(team="bees", word="has not run yet", void_reasons=["a loose cable"]),
    ],
)
FINAL = structs.replace(
    VIEW,
    state=PublicState.FINAL,
    since_utc="2026-06-07T12:00:00+00:00",
    approved_by=["Ada"],
    prizes=[WonPrize("highest score", "", None, [NAME])],
)
BESIDE = Beside({"energy": "data/energy.ab.svg"}, {NAME: "teams/ants-1.html"}, {}, "12ab", "", "")


def test_every_mark_and_rule_is_said():
    """What makes a score less than official stands beside it."""
    page = results_page(VIEW, [], BESIDE)
    for words in ("SUSPECT", "EMULATED", "a loose cable", "PROVISIONAL", "data/energy.ab.svg"):
        assert words in page
    assert all(rule.split(".")[0] in page for rule in (SESSION_RULE, TIE_RULE))
    assert "12ab" in page


def test_a_ranking_of_nobody_says_so():
    """An event without teams has no empty table."""
    assert "No team is registered yet." in results_page(
        structs.replace(VIEW, entries=[]), [], BESIDE
    )
    assert "No team is registered" not in results_page(VIEW, [], BESIDE)


def test_names_are_no_markup():
    """Teams and organisers write what they like."""
    page = results_page(FINAL, [], replace(BESIDE, licence="<i>", citation="<u>"))
    assert not any(tag in page for tag in ("<b>", "<2026>", "<i>", "<u>"))
    assert "&lt;b&gt;ants &amp; co&lt;/b&gt;" in page


def test_two_commands_check_a_published_bundle():
    """The page names the file and the key; without a bundle it says when there will be one."""
    beside = replace(BESIDE, bundles={NAME: "bundles/session1.0123456789abcdef.zip"})
    page = results_page(FINAL, [], beside)
    assert "referee verify session1.0123456789abcdef.zip --ground-truth TRUTH" in page
    assert 'href="bundles/session1.0123456789abcdef.zip" download' in page
    assert "after the results are final" in results_page(VIEW, [], BESIDE)


def test_the_usual_conditions_are_those_of_most_sessions():
    """They come from the feed, which tells those of each session."""

    def judgement(number, length_s):
        told = {"conditions": {"track": "network", "length_s": length_s, "ground_truth": "ab12"}}
        return FeedObject(number, 0, "", "judgements", str(number), told)

    page = results_page(
        VIEW, [judgement(1, 600.0), judgement(2, 600.0), judgement(3, 30.0)], BESIDE
    )
    assert "<td>600</td>" in page and "<td>ab12</td>" in page and "<td>30</td>" not in page


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (VIEW, "PROVISIONAL"),
        (structs.replace(FINAL, state=PublicState.FROZEN), "FROZEN since 7 June 2026, 12:00 UTC"),
        (FINAL, "approved by Ada on 7 June 2026"),
    ],
)
def test_results_are_cited_with_their_state(view, words):
    """The organisers' own words take the place of ours."""
    assert words in citation_of(view, "12ab", "")
    assert "A. Author" == citation_of(view, "12ab", "A. Author")
