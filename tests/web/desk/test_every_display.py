# SPDX-License-Identifier: Apache-2.0
"""What every display says of a session: a score of 0 is a score, and a re-run clears it soon."""

from __future__ import annotations

import json
import re

from referee.service.scoreboard.publisher import Publisher
from referee.service.setup.pages import static_folder
from referee.web.desk import broadcast
from referee.web.scoreboard import streams
from tests.support.doors import post


def displays(door, client, publisher):
    """Return the score of the team 'ants' on each display, and how the display calls its place."""
    board = client.get("/board").get_json()
    results, teams = (client.get(f"/{page}/now").get_json() for page in ("results", "teams"))
    view = json.loads(publisher.refresh().view)
    row = board["sessions"][0]
    (entry,) = [one for one in results["results"]["entries"] if one["team"] == "ants"]
    (team,) = [one for one in teams["teams"] if one["team"] == "ants"]
    (public,) = [one for one in view["entries"] if one["team"] == "ants"]
    return {
        "console": (row["score"], row["state"]),
        "results": (entry["score"], entry["turn"]),
        "teams": (None, team["turn"]),
        "scoreboard": (public["score"], public["word"]),
    }


def test_a_score_of_0_shows_and_a_rerun_clears_it_everywhere(door):
    """After a session with nothing found each display has its 0; after a re-run none has a score.

    Nothing is fetched between the press and the look, so each display shows it at its next turn.
    """
    kim, publisher = door.visitor("Kim"), Publisher(door.contest)
    number = door.event.play("ants", found=0)
    assert {
        "console": (0.0, "SCORED"),
        "results": (0.0, "ran"),
        "teams": (None, "ran"),
        "scoreboard": (0.0, ""),
    } == displays(door, kim, publisher)
    assert 200 == post(kim, f"/sessions/{number}/rerun", reason="wrong images").status_code
    assert {
        "console": (None, "READY"),
        "results": (None, "waiting"),
        "teams": (None, "waiting"),
        "scoreboard": (None, "runs again"),
    } == displays(door, kim, publisher)


def test_no_display_waits_a_second_for_its_next_turn():
    """The console and the scoreboard are made anew twice a second, and the other pages look soon.

    The display of the camera track waits for nothing: its stream tells each change.
    """
    following = (static_folder() / "event" / "following.js").read_text()
    (every_ms,) = re.findall(r"const EVERY_MS = (\d+);", following)
    assert max(broadcast._INTERVAL_S, streams._INTERVAL_S, int(every_ms) / 1000) < 1.0
