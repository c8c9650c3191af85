# SPDX-License-Identifier: Apache-2.0
"""What the hall must not miss: another team leads, or a session has its result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

LEADS = """
let lead = m.NOBODY;
return a[0].map(([leader, nowMs]) => {
  lead = m.nextLead(lead, leader, nowMs);
  return lead.changed ? lead.leader : null;
});
"""


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        # The first leader of all has taken the lead from nobody.
        ([["ants", 0], ["ants", 9000], ["ants", 13_000]], [None, None, None]),
        # A lead is told once, when it has lasted.
        ([["ants", 0], ["bees", 1000], ["bees", 3900], ["bees", 4000]], [None, None, None, "bees"]),
        ([["ants", 0], ["bees", 1000], ["bees", 5000], ["bees", 9000]], [None, None, "bees", None]),
        # Two that change every second lead in turn, and neither is told.
        (
            [["ants", 0], ["bees", 1000], ["ants", 2000], ["bees", 3000], ["bees", 4500]],
            [None, None, None, None, None],
        ),
        # A third one has its own time.
        ([["ants", 0], ["bees", 1000], ["wasps", 3000], ["wasps", 6000]], [None] * 3 + ["wasps"]),
        # Nobody leads while nothing is known, and the leader of before keeps the lead.
        ([["ants", 0], [None, 1000], ["ants", 9000]], [None, None, None]),
    ],
)
def test_a_lead_is_told_when_it_lasts(
    scripts: Scripts, looks: list[list[Any]], told: list[str | None]
) -> None:
    """The hall is told of another leader once, after three seconds."""
    assert told == scripts.run("scoreboard/news.js", LEADS, looks)


def shown(state: str, *entries: tuple[str, int, str | None, int | None, bool]) -> dict[str, Any]:
    """Return a view with entries: team, session, verdict, rank, whether it is the newest result."""
    names = ("team", "session", "verdict", "rank", "newest")
    return {"state": state, "entries": [dict(zip(names, one, strict=True)) for one in entries]}


BEFORE = shown("PROVISIONAL", ("ants", 1, "VALID", 1, True), ("bees", 2, None, None, False))
JUDGED = shown("PROVISIONAL", ("ants", 1, "VALID", 1, False), ("bees", 2, "VALID", None, True))
SCORED = shown("PROVISIONAL", ("ants", 1, "VALID", 2, False), ("bees", 2, "VALID", 1, True))
AFTER = shown("PROVISIONAL", ("ants", 1, "VALID", 1, False), ("bees", 2, "INVALID", None, True))


@pytest.mark.parametrize(
    ("before", "after", "team"),
    [
        (BEFORE, AFTER, "bees"),
        (BEFORE, BEFORE, None),
        # The energy comes before the score.
        (BEFORE, JUDGED, None),
        (JUDGED, SCORED, "bees"),
        (SCORED, SCORED, None),
        (None, AFTER, None),
        (BEFORE | {"state": "FROZEN"}, AFTER, None),
        (BEFORE, AFTER | {"state": "FINAL"}, None),
    ],
)
def test_a_result_is_news_when_it_comes(
    scripts: Scripts, before: dict[str, Any] | None, after: dict[str, Any], team: str | None
) -> None:
    """What a page finds when it opens is no news, nor is what a thaw or an approval reveals."""
    found = scripts.call("scoreboard/news.js", "finished", before, after)
    assert team == (found and found["team"])


def test_a_result_in_words(scripts: Scripts) -> None:
    """Place and score; without a rank the verdict says why."""
    entry = {"team": "ants", "rank": 2, "short": {"score": "10.8"}, "verdict": "VALID", "marks": []}
    doubted = entry | {"verdict": "SUSPECT", "marks": ["SUSPECT", "EMULATED"]}
    none = entry | {"rank": None, "verdict": "INVALID"}
    body = "return a.map((one) => m.resultText(one, 'score').join(''))"
    told = scripts.run("scoreboard/news.js", body, entry, doubted, none)
    assert [
        "ants: 2nd with score 10.8",
        "ants: 2nd with score 10.8 (SUSPECT, EMULATED)",
        "ants: INVALID, no score",
    ] == told
