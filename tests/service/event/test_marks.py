# SPDX-License-Identifier: Apache-2.0
"""Every surface that prints a score says what makes it less than official.

It is long because every surface is asked, not the one rule alone.
"""

from __future__ import annotations

import json

import msgspec
import pytest
from selenium.webdriver.support.ui import WebDriverWait

from referee.core.blocking import run_here
from referee.core.marks import EMULATED, NOT_ALIKE, energy_marks, verdict_words, with_marks
from referee.extras.ceremony.diploma import diplomas_of, diplomas_page
from referee.extras.ceremony.scenes import scenes_of
from referee.extras.season.report_text import cells, season_marks
from referee.extras.stations.joint_board import view_text
from referee.extras.stations.joint_text import board_text
from referee.service.event.charts import PAPER, SIZE_IN, energy_chart, speed_chart
from referee.service.event.finalizing import finalize, review
from referee.service.event.marks import PROVISIONAL, all_marks, marks_of, short_marks, state_mark
from referee.service.event.newest_charts import Charts
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import (
    results_csv,
    results_json,
    results_text,
    shown_results,
)
from referee.service.event.share_picture import save_picture
from referee.service.scoreboard.facts import read_facts
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.scoreboard.view import PublicView, publication_of, shown_view
from referee.tracks.loading import load_track
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.extras.season.test_rankings import only, row
from tests.support.browsing import fresh_window
from tests.support.doors import Door
from tests.support.running import PATIENCE_S
from tests.support.served import served
from tests.support.stations import feed, followed, judged

pytestmark = pytest.mark.slow

DOUBT = ("SUSPECT", EMULATED)


@pytest.fixture
def marked(event):
    """Return an event whose 'ants' have every mark, beside two teams that have none."""
    event.register("ants", "bees", "wasps")
    number = event.play("ants", found=6)
    event.judge(number, "SUSPECT", emulated=True)
    for team in ("bees", "wasps"):
        event.play(team)
    event.marked = number
    return event


def approved(event):
    """Return the event's results after somebody has reviewed and approved them."""
    review(event.contest, event.marked, "Ada", "the gap lies before the load")
    finalize(event.contest, ["Ada"])
    return read_results(event.contest)


def diplomas(results, _):
    """Return the page of diplomas."""
    return diplomas_page(results, diplomas_of(results, {}))


def ceremony(results, _):
    """Return each scene that has the score of 'ants', as the page gets it."""
    scenes = msgspec.to_builtins(scenes_of(results, None))
    lines = [line for one in scenes for line in one["lines"] if line["team"] == "ants"]
    assert {"card", "podium", "ranking", "end"} <= {one["kind"] for one in scenes if one["lines"]}
    assert all(line["marks"] == lines[0]["marks"] for line in lines)
    return json.dumps(lines[0])


def share(results, folder):
    """Return the picture to share."""
    save_picture(results, folder / "share.svg")
    return (folder / "share.svg").read_text(encoding="utf-8")


def chart(draw):
    """Return a surface that is a chart."""
    return lambda results, _: draw(results, PAPER, SIZE_IN).decode()


# Each says every mark, in words or in short, and whether the ranking may still change.
LISTS = {
    "text": lambda results, _: results_text(results),
    "CSV": lambda results, _: results_csv(results),
    "JSON": lambda results, _: json.dumps(results_json(results)),
    "LaTeX": lambda results, _: results_latex(results),
    "HTML": lambda results, _: results_page(results),
    "energy chart": chart(energy_chart),
    "speed chart": chart(speed_chart),
    "share picture": share,
}
HONOURS = {"diplomas": diplomas, "ceremony": ceremony}


@pytest.mark.parametrize("surface", LISTS)
def test_a_list_says_every_mark(marked, tmp_path, surface):
    """SUSPECT, EMULATED and what was not alike stand there, and PROVISIONAL until the approval."""
    draw = LISTS[surface]
    text = draw(read_results(marked.contest), tmp_path)
    assert all(mark in text for mark in (*DOUBT, PROVISIONAL))
    assert NOT_ALIKE in text or "meter emulated, others" in text
    final = draw(approved(marked), tmp_path)
    assert all(mark in final for mark in DOUBT)
    assert PROVISIONAL not in final


@pytest.mark.parametrize("surface", HONOURS)
def test_an_honour_says_every_mark(marked, tmp_path, surface):
    """A diploma and each scene of the ceremony have the marks of the score that they show."""
    text = HONOURS[surface](approved(marked), tmp_path)
    assert all(mark in text for mark in (*DOUBT, "meter emulated, others"))


def test_a_prize_has_the_marks_of_its_winner(marked):
    """The lines of text, the pages of the console and the audience, and the ceremony say them."""
    results = approved(marked)
    entry = next(it for it in results.entries if it.team == "ants")
    winner = with_marks("ants", marks_of(entry))
    assert {*DOUBT} < {*marks_of(entry)}
    lines = [line for line in results_text(results).splitlines() if ": ants" in line]
    assert f"highest score: {winner}" in lines
    assert f"highest score: {winner}" in shown_results(results).prizes
    assert winner in results_page(results)
    with marked.contest.database.read() as connection:
        view = shown_view(publication_of(read_facts(marked.contest, connection)).view)
    assert [winner] == [*view.prizes[0].marked]
    (scene,) = [one for one in scenes_of(results, None) if one.title == "Highest score"][1:]
    assert [winner] == [*scene.winners]


def test_what_leaves_for_programs_has_the_marks(marked):
    """The feed tells them as facts, and the joint board of such a feed prints them."""
    with marked.contest.database.read() as connection:
        objects = publication_of(read_facts(marked.contest, connection)).objects
    (told,) = [it.data for it in objects if (it.type, it.id) == ("judgements", str(marked.marked))]
    assert ("SUSPECT", True) == (told["judgement_type_id"], told["emulated"])
    assert ["meter"] == [one["condition"] for one in told["differs"]]
    both = feed([("ants", [judged(2.0, "SUSPECT", emulated=True)]), ("bees", [judged()])], "k")
    view = view_text("Halls", load_track("network"), [followed("A", both)], ())
    text = board_text(msgspec.json.decode(view, type=PublicView), ())
    assert all(mark in text for mark in (*DOUBT, PROVISIONAL))


def test_a_season_has_the_marks():
    """The table and the chart name them beside the team."""
    odd = row("ants", 0.3, 0.3, verdict="SUSPECT")
    odd["old"]["emulated"] = True
    (one,) = [it for it in only([row("bees", 0.4, 0.4), odd]).entrants if it.team == "ants"]
    assert "SUSPECT, EMULATED" == cells(one)[-1]
    assert ["SUSPECT", "EMULATED"] == season_marks(one)


def wait_marks(browser, address, *marks):
    """Wait until a page shows these marks."""
    browser.get(address)
    text = "return document.body.innerText"
    WebDriverWait(browser, PATIENCE_S, 0.05).until(
        lambda driver: all(mark in driver.execute_script(text) for mark in marks),
        f"{marks} at {address}",
    )


@pytest.mark.browser
def test_the_pages_of_the_audience_have_the_marks(marked, one_chromium):
    """The scoreboard and the page of the team, as a browser shows them."""
    fresh_window(one_chromium)
    streams = Streams(Publisher(marked.contest), run_here)
    streams.start()
    app = scoreboard_app(Show(streams, Charts(), TeamSessions(marked.contest), run_here))
    try:
        with served(app) as address:
            for page in ("", "/team/ants"):
                every = (*DOUBT, PROVISIONAL, "meter emulated, others")
                wait_marks(one_chromium, f"{address}{page}", *every)
            one_chromium.get("about:blank")
    finally:
        streams.close()


@pytest.mark.browser
def test_the_pages_of_the_console_have_the_marks(marked, one_chromium):
    """Session, results and ceremony, as a browser shows them."""
    fresh_window(one_chromium)
    door = Door(marked)
    door.broadcast.start()
    with served(door.app) as address:
        wait_marks(one_chromium, f"{address}/results", *DOUBT, PROVISIONAL, "meter emulated")
        wait_marks(one_chromium, f"{address}/", "SUSPECT EMULATED")
        results = approved(marked)
        kinds = [scene.kind for scene in scenes_of(results, None)]
        for kind in ("card", "podium", "end"):
            page = f"{address}/ceremony#{kinds.index(kind)}"
            one_chromium.get("about:blank")
            wait_marks(one_chromium, page, *DOUBT, "meter emulated, others")
        one_chromium.get("about:blank")
    door.broadcast.close()


def test_marks_come_in_one_order(marked):
    """The state of the ranking, the energy, and then what was not alike; VALID is no mark."""
    results = read_results(marked.contest)
    entries = {entry.team: entry for entry in results.entries}
    in_words = [*DOUBT, "meter emulated, others"]
    found = marks_of(entries["ants"])
    assert all(mark.startswith(start) for mark, start in zip(found, in_words, strict=True))
    assert [*DOUBT, NOT_ALIKE] == short_marks(entries["ants"])
    assert ["PROVISIONAL", *found] == all_marks(entries["ants"], results)
    assert ["PROVISIONAL"] == all_marks(entries["bees"], results)
    assert "" == state_mark(msgspec.structs.replace(results, final=True))


@pytest.mark.parametrize(
    ("verdict", "emulated", "marks", "words"),
    [
        (None, False, [], ["–"]),
        (None, True, [EMULATED], ["–", EMULATED]),
        ("VALID", False, [], ["VALID"]),
        ("VALID", True, [EMULATED], ["VALID", EMULATED]),
        ("INVALID", True, ["INVALID", EMULATED], ["INVALID", EMULATED]),
    ],
)
def test_a_valid_energy_has_no_mark_of_its_own(verdict, emulated, marks, words):
    """The verdict stands first where it is shown in any case."""
    assert marks == energy_marks(verdict, emulated=emulated)
    if verdict is not None:
        assert words == verdict_words(verdict, emulated=emulated)
