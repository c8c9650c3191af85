# SPDX-License-Identifier: Apache-2.0
"""A ranking that is longer than the hall's screen: its pages, its leaders, its bars, its motion."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from werkzeug.serving import make_server

from referee.core.blocking import run_here
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.clock import SystemClock
from referee.service.teams.registration import add_team
from referee.store.teams import Registration
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.support.browsing import be_screen, wait_text
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.fitting import be_dark, misfits
from tests.support.many_teams import write_result
from tests.support.running import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LONG = "The Long Beach Convention Centre Low Power Vision Collective"
NAMES = (LONG, "東京低消費電力画像認識研究室チームさくら", "فريق الرؤية منخفضة الطاقة", "ants 🐜")
TEAMS = 25
# A large projector, two of 4:3, a small laptop and the smallest one.
HALLS = ((3840, 2160), (1920, 1080), (1600, 1200), (1366, 768), (1024, 768), (1024, 600))
Browsers = Mapping[str, webdriver.Chrome]

# The page's clock goes on when a test wants it to.
AHEAD = """
window.ahead = 0;
const real = performance.now.bind(performance);
performance.now = () => real() + window.ahead;
"""
SEEN = """
const box = document.getElementById("ranking").getBoundingClientRect();
const rows = [...document.getElementById("entries").rows];
return rows.flatMap((row, place) => {
  const { top, bottom, height } = row.getBoundingClientRect();
  const { opacity } = getComputedStyle(row);
  const shown = row.checkVisibility({ checkVisibilityCSS: true }) && height > 0;
  return shown ? [[place, top >= box.top - 1 && bottom <= box.bottom + 1 && opacity === "1"]] : [];
});
"""


class Hall:
    """A scoreboard of many teams with results."""

    def __init__(self, contest: Any, url: str) -> None:
        self.contest, self.url = contest, url
        self.best = 0.9

    def write(self, team: str, accuracy: float) -> None:
        """Write the result of a team, whose energy may be off by a twentieth."""
        write_result(self.contest, team, accuracy, 2.0, uncertainty=0.05)

    def lead(self, team: str) -> None:
        """Let a team take the lead."""
        self.best += 0.01
        self.write(team, self.best)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Return a scoreboard of 25 teams; two have no result yet."""
    folder: Path = tmp_path_factory.mktemp("hall")
    contest = make_contest(folder, FakeClock(SystemClock().now()), mode="event", seconds=600)
    streams = Streams(Publisher(contest), run_here)
    show = Show(streams, Charts(), TeamSessions(contest), run_here)
    server = make_server("127.0.0.1", 0, scoreboard_app(show), threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="the hall's server")
    found = Hall(contest, f"http://127.0.0.1:{server.server_port}")
    teams = [*NAMES, *(f"Laboratory {number}" for number in range(len(NAMES), TEAMS))]
    for place, team in enumerate(teams):
        add_team(contest, team, Registration(organisation="Institute of Efficient Vision"), "Kim")
        if place < TEAMS - 2:
            found.write(team, 0.9 - 0.03 * place)
    streams.start()
    thread.start()
    yield found
    streams.close()
    server.shutdown()
    thread.join()
    server.server_close()
    contest.database.close()


@pytest.fixture
def browser(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return the browser; the pages that it opens have a clock that a test moves."""
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": AHEAD})
    yield browser
    browser.execute_cdp_cmd(
        "Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]}
    )


def pages_of(browser: webdriver.Chrome) -> list[list[list[Any]]]:
    """Let the page turn until its first part comes again; return the rows of each part."""
    found: list[list[list[Any]]] = []
    while True:
        seen = browser.execute_script(SEEN)
        if seen in found:
            return found
        found.append(seen)
        told = part_of(browser)
        browser.execute_script("window.ahead += 10001")
        eventually(lambda told=told: part_of(browser) != told, "the next part")
        if part_of(browser) == "charts":
            browser.execute_script("window.ahead += 10001")
            eventually(lambda: part_of(browser) != "charts", "the first part")


def part_of(browser: webdriver.Chrome) -> str:
    """Return what is shown: the part of the ranking in words, or the charts."""
    script = """
    const charts = document.querySelector("#charts.shown");
    return charts ? "charts" : document.getElementById("part").textContent;
    """
    return str(browser.execute_script(script))


@pytest.mark.parametrize("window", HALLS)
def test_pages_turn_below_the_leaders(
    hall: Hall, browser: webdriver.Chrome, window: tuple[int, int]
) -> None:
    """Each page has the leaders, and whole rows at full strength; together they have every row."""
    be_screen(browser, *window)
    browser.get(hall.url)
    wait_text(browser, "part", f"of {TEAMS}")
    pages = pages_of(browser)
    assert len(pages) > 1
    assert {place for page in pages for place, _ in page} == set(range(TEAMS))
    assert all(whole for page in pages for _, whole in page)
    least = 3 if window[1] > 700 else 2
    assert all([place for place, _ in page][:least] == [*range(least)] for page in pages)


def test_a_long_ranking_fits(hall: Hall, browsers: Browsers) -> None:
    """Nothing of it is cut without its whole, covered or broken, in each window and font."""
    found = {}
    for font, browser in browsers.items():
        for window in (*HALLS, (390, 844)) if not found else HALLS[3:5]:
            be_screen(browser, *window)
            browser.get(hall.url)
            wait_text(browser, "entries", "Laboratory")
            found[f"{font} {window}"] = misfits(browser)
    assert {} == {window: told for window, told in found.items() if told}


@pytest.mark.parametrize("window", HALLS)
def test_the_ends_of_an_interval_are_seen(
    hall: Hall, browser: webdriver.Chrome, window: tuple[int, int]
) -> None:
    """A bar stands on its interval; its ends are higher than the dot, and some pixels wide."""
    be_screen(browser, *window)
    browser.get(hall.url)
    wait_text(browser, "entries", "Laboratory")
    script = """
    const row = document.querySelector("#entries tr");
    const [range, dot, all] = [".range", ".at", ".interval"].map((part) => row.querySelector(part));
    const end = getComputedStyle(range, "::before");
    return [range.offsetWidth / all.offsetWidth, parseFloat(end.height), dot.offsetHeight,
      parseFloat(end.width), parseFloat(end.left), end.backgroundColor];
    """
    share, high, dot, wide, left, colour = browser.execute_script(script)
    # The scale ends with the interval of the first team, from 1 / 1.05 to 1 / 0.95 of its score.
    assert share == pytest.approx(0.96 * (1 - 0.95 / 1.05), rel=0.1)
    assert high > 1.5 * dot
    assert wide >= max(2.5, window[1] / 700)
    assert (0, "rgb(232, 238, 244)") == (left, colour)


def test_champions_stand_aside(hall: Hall, browser: webdriver.Chrome) -> None:
    """No row of the ranking is a champion's; each has its year, score and place beside it."""
    be_screen(browser, 1920, 1080)
    browser.get(hall.url)
    wait_text(browser, "champions", "would be")
    assert TEAMS == browser.execute_script("return document.getElementById('entries').rows.length")


MOVING = """
window.most = 0;
const isMove = ({ transform }) => transform?.startsWith("translate");
setInterval(() => {
  const moving = document.getAnimations().map(({ effect }) => effect)
    .filter((one) => one.target.closest("#entries") && one.getKeyframes().some(isMove));
  window.most = Math.max(window.most, moving.length);
}, 20);
"""
LEADER = "return document.querySelector('#entries tr').dataset.team"


@pytest.mark.parametrize(
    ("off", "calm"), [(False, False), (True, False), (False, True)], ids=["on", "off", "calm"]
)
def test_a_new_place_is_reached_by_motion_that_can_be_switched_off(
    hall: Hall, browser: webdriver.Chrome, off: bool, calm: bool
) -> None:
    """Rows move to their new places; not after a press of the button, and not for who is calm."""
    be_screen(browser, 1920, 1080)
    be_dark(browser, True, calm=calm)
    browser.get(hall.url)
    wait_text(browser, "entries", "Laboratory 4")
    button = browser.find_element(By.ID, "motion")
    if off:
        button.click()
    first = browser.execute_script(LEADER)
    second = LONG if first != LONG else NAMES[1]
    browser.execute_script(MOVING)
    hall.lead(second)
    eventually(lambda: browser.execute_script(LEADER) == second, "the new leader")
    if off or calm:
        assert 0 == browser.execute_script("return window.most")
    else:
        eventually(lambda: browser.execute_script("return window.most") >= 2, "rows that move")
    browser.execute_script("localStorage.clear()")
    be_dark(browser, False)


def test_the_page_has_its_shape_before_anything_comes(
    hall: Hall, browser: webdriver.Chrome
) -> None:
    """Without a word of the server there are rows, a card and the room of the charts."""
    be_screen(browser, 1366, 768)
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/events*", "*/charts/*"]})
    try:
        browser.get(hall.url)
        script = """
        const high = (one) => one.getBoundingClientRect().height;
        const rows = [...document.querySelectorAll("#entries tr")].filter((row) => high(row) > 20);
        return [rows.length, high(document.querySelector("#now > *")),
          document.getElementById("part").textContent];
        """
        rows, card, part = browser.execute_script(script)
        assert (rows >= 4, card > 80, part) == (True, True, "")
    finally:
        browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
