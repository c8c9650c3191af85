# SPDX-License-Identifier: Apache-2.0
"""The card of a session that is on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

SHOW = """
const [session, entries] = a;
const labels = { accuracy: { label: "mAP" }, score: { label: "score" } };
const card = m.cardOf(session, labels);
const race = { courses: [], leader: null };
const news = { view: { entries }, live: { sessions: [session] }, race };
m.showCard(card, session, news);
const text = (name) => card.querySelector(`[data-figure=${name}]`).textContent;
"""
SESSION = {
    **{"session": 1, "team": "ants", "state": "RUNNING", "score": 4.0, "mean_ap": 0.25},
    **{"elapsed_s": 300, "length_s": 600, "remaining_s": 300, "lane_name": "", "marks": []},
    **{"power_w": 5, "energy_wh": 0, "images": 20, "images_fetched": 7, "score_text": "4.00"},
}


def entry(score: float) -> dict[str, Any]:
    """Return this year's result of another team."""
    return {"team": "bees", "rank": 1, "score": score}


@pytest.mark.parametrize(
    ("entries", "place", "first"),
    [([], "1st", True), ([entry(3.0)], "1st", True), ([entry(5.0)], "2nd", False)],
)
def test_who_would_be_first_stands_out(
    scripts: Scripts, entries: list[dict[str, Any]], place: str, first: bool
) -> None:
    """The card has a class of its own at the first place alone."""
    body = f"{SHOW} return [text('place'), text('when'), card.classList.contains('first')];"
    shown = scripts.run("scoreboard/card.js", body, SESSION, entries)
    assert [place, "if it ended now", first] == shown


def test_the_first_place_is_lost_again(scripts: Scripts) -> None:
    """A later score of another team takes the class away."""
    body = f"""{SHOW}
    const before = card.classList.contains("first");
    const view = {{ entries: [{{ team: "bees", rank: 1, score: 9 }}] }};
    m.showCard(card, session, {{ ...news, view }});
    return [before, card.classList.contains("first")];
    """
    assert [True, False] == scripts.run("scoreboard/card.js", body, SESSION, [])


def test_each_figure_stands_in_its_place(scripts: Scripts) -> None:
    """mAP, watts, watt-hours, score and images, of a session that all are known of."""
    body = f"""{SHOW}
    return ["accuracy", "power", "energy", "score", "images"].map(text);
    """
    shown = scripts.run("scoreboard/card.js", body, SESSION | {"energy_wh": 0.0625}, [])
    assert ["0.250", "5.00", "0.0625", "4.00", "7/20"] == shown


def test_nothing_is_a_dash_and_zero_is_a_figure(scripts: Scripts) -> None:
    """A session without a score yet has no place."""
    session = SESSION | {"score": None, "score_text": "–", "mean_ap": None, "power_w": None}
    session |= {"state": "ARMED"}
    body = f"""{SHOW}
    return ["place", "when", "accuracy", "power", "energy", "score", "images"].map(text);
    """
    shown = scripts.run("scoreboard/card.js", body, session, [])
    assert ["", "the next one to run", "–", "–", "0.0", "–", "7/20"] == shown


def test_the_last_seconds_are_marked(scripts: Scripts) -> None:
    """The page counts down by itself."""
    body = f"""{SHOW}
    return [0, 290].map((passedS) => {{
      m.tickCard(card, session, passedS);
      return [card.querySelector(".clock").textContent, card.classList.contains("last")];
    }});
    """
    shown = scripts.run("scoreboard/card.js", body, SESSION, [])
    assert [["5:00", False], ["0:10", True]] == shown


def test_a_line_without_a_point_has_no_dot(scripts: Scripts) -> None:
    """Nothing of it is seen at the edge of the card either, until the first point comes."""
    session = SESSION | {"score": None, "score_text": "–"}
    body = f"""{SHOW}
    const seen = () => card.querySelector("circle").getAttribute("visibility");
    const before = seen();
    m.showCard(card, {{ ...session, score: 4 }}, news);
    return [before, seen()];
    """
    assert ["hidden", "visible"] == scripts.run("scoreboard/card.js", body, session, [])
