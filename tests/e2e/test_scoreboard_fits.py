# SPDX-License-Identifier: Apache-2.0
"""The audience's page with long and foreign names, in each window: whole, large, and calm."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from selenium import webdriver
from werkzeug.serving import make_server

from referee.core.blocking import run_here
from referee.core.states import EndCause
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.breaks import begin_break, end_break
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.clock import SystemClock
from referee.service.setup.lane_config import LaneSection
from referee.service.teams.order import set_order
from referee.store.courses import energy_course
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.support.barriers import barriers
from tests.support.browsing import be_screen, text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.fitting import be_dark, misfits
from tests.support.running import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LONG = "The Long Beach Convention Centre Low Power Vision Collective"
TEAMS = (LONG, "東京低消費電力画像認識研究室チームさくら", "فريق الرؤية منخفضة الطاقة", "ants")
LATER = ("wasps & friends", "Müller-Lüdenscheidt Elektrogerätewerke", "bees", "hornets")
# The second and the third are the fourth at 200 and 150 %.
WINDOWS = [(1024, 600), (683, 340), (910, 454), (1366, 681), (1920, 1080), (3840, 2160)]
WINDOWS += [(400, 800), (360, 740)]
FEW = [(1024, 600), (1920, 1080), (360, 740)]
Browsers = Mapping[str, webdriver.Chrome]


class Hall:
    """An event of four lanes and its scoreboard, with a clock that a test moves."""

    def __init__(self, event: Event, url: str) -> None:
        self.event, self.url = event, url
        self.running: list[int] = []

    def begin(self, *teams: str) -> list[int]:
        """Let a session of each team run, each in its own lane."""
        desk = self.event.desk
        numbers = []
        for lane, team in enumerate(teams, 1):
            number = desk.new_session(team, "Kim", lane)
            desk.steps_of(number).arm(number, "Kim")
            numbers.append(desk.begin(team, f"10.0.0.{lane}", lane))
        return numbers

    def play_on(self, numbers: list[int], seconds: float) -> None:
        """Let sessions answer and be measured: the later ones find more."""
        connection, clock = self.event.contest.database.connection, self.event.contest.clock
        clock.advance(seconds)
        for found, number in enumerate(numbers, 3):
            self.event.answer(number, range(1, found + 1))
            eventually(lambda n=number: energy_course(connection, n, 1.0), "an energy")
        self.event.score()
        clock.advance(2.0)  # Figures go out once a second of the event's clock.

    def end(self, numbers: list[int]) -> None:
        """End sessions, and have them judged."""
        for number in numbers:
            self.event.desk.steps_of(number).end(number, EndCause.STOP, "Kim")
            self.event.settle(number)
            self.event.judge(number, "SUSPECT" if number == 1 else "VALID", 0.6)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Return an event in which four teams have a result; the tests go on with it in turn."""
    folder: Path = tmp_path_factory.mktemp("hall")
    clock = FakeClock(SystemClock().now())
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    lanes = tuple(LaneSection(name, "127.0.0.1:0", contest.config.meter) for name in "ABCD")
    contest = replace(contest, config=replace(contest.config, declared_lanes=lanes))
    meters = [FakeMeter(clock) for _ in lanes]
    streams = Streams(Publisher(contest), run_here)
    show = Show(streams, Charts(), TeamSessions(contest), run_here)
    server = make_server("127.0.0.1", 0, scoreboard_app(show), threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="the hall's server")
    with running_desk(contest, *meters) as desk:
        found = Hall(Event(contest, desk, meters[0]), f"http://127.0.0.1:{server.server_port}")
        found.event.register(*TEAMS, *LATER, organisation="Institute of Efficient Vision")
        set_order(contest, [*TEAMS, *LATER], "", "Kim")
        numbers = found.begin(*TEAMS)
        found.play_on(numbers, 300.0)
        found.end(numbers)
        streams.start()
        thread.start()
        yield found
        streams.close()
        server.shutdown()
        thread.join()
        server.server_close()
    contest.database.close()


def fits(browsers: Browsers, url: str, part: str, text: str) -> webdriver.Chrome:
    """Look at the page in each window, in some of them in each font; fail with what does not fit.

    Return the browser that has seen it in each window.
    """
    found = {}
    for font, browser in browsers.items():
        for width, height in FEW if found else WINDOWS:
            be_screen(browser, width, height)
            browser.get(url)
            wait_text(browser, part, text)
            found[f"{font} {width}x{height}"] = misfits(browser)
        errors = [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
        assert [] == [one for one in errors if "ERR_" not in one["message"]]
    assert {} == {window: told for window, told in found.items() if told}
    seen = next(iter(browsers.values()))
    assert [] == barriers(seen)
    return seen


def test_who_is_next_and_on_deck(hall: Hall, browsers: Browsers) -> None:
    """Each lane names both; names stand in two lines, or are cut with the whole at hand."""
    fits(browsers, hall.url, "now", "Next in lane B\nMüller")


def test_a_break_beside_what_is_next(hall: Hall, browsers: Browsers) -> None:
    """The organiser's words and the countdown have the place of those who run."""
    begin_break(hall.event.contest, "Kim", "Lunch in the foyer. Lane A goes on after it.", 30)
    browser = fits(browsers, hall.url, "now", "Lunch in the foyer. Lane A goes on after it.")
    wait_text(browser, "next", "Next in B: Müller")
    end_break(hall.event.contest, "Kim")
    wait_text(browser, "now", "Next in lane A")


def test_four_run_at_once(hall: Hall, browsers: Browsers) -> None:
    """Each has a place, the way to the next, and a line beside the leader's."""
    hall.running = hall.begin(*LATER)
    hall.play_on(hall.running, 300.0)
    browser = fits(browsers, hall.url, "now", "1st")
    lines = "return [...document.querySelectorAll('.plot path[d^=M]')].length"
    eventually(lambda: 8 == browser.execute_script(lines), "eight lines")


def test_what_the_last_row_reads_is_large(hall: Hall, browser: webdriver.Chrome) -> None:
    """Capitals of names, ranks, scores, places and clocks are a fortieth of the picture high."""
    be_screen(browser, 3840, 2160)
    browser.get(hall.url)
    wait_text(browser, "now", "1st")
    script = """
    const context = document.createElement("canvas").getContext("2d");
    const far = ".run .team, .run .clock, .place";
    const parts = `${far}, #entries tr:not(.champion) :is(.rank, .team a, .score)`;
    return [...document.querySelectorAll(parts)].map((one) => {
      const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(one);
      context.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
      return context.measureText("H").actualBoundingBoxAscent;
    });
    """
    heights = browser.execute_script(script)
    assert len(heights) >= 3 * 4 + 3 * 8
    assert min(heights) >= 2160 / 40


def test_a_result_is_seen_and_nothing_moves_for_those_who_ask(
    hall: Hall, browser: webdriver.Chrome
) -> None:
    """The head tells the newest result; a motion lasts under a second, for some not at all."""
    be_screen(browser, 1366, 681)
    be_dark(browser, True, calm=True)
    browser.get(hall.url)
    wait_text(browser, "now", "1st")
    script = """
    return [...document.querySelectorAll("*")].map((one) => (one.classList.add("fresh"), one))
      .flatMap((one) => getComputedStyle(one).animationName === "none" ? []
        : [parseFloat(getComputedStyle(one).animationDuration)]);
    """
    assert [] == browser.execute_script(script)
    be_dark(browser, True)
    durations = browser.execute_script(script)
    assert durations and max(durations) < 1
    # The head tells it for some seconds, in which a busy machine may not ask.
    browser.execute_script(
        "window.said = ''; new MutationObserver(() => {"
        " window.said += document.getElementById('news').textContent; }).observe("
        "document.getElementById('news'), {childList: true, characterData: true, subtree: true});"
    )
    hall.end(hall.running[-1:])
    said = "return window.said.match(/hornets: \\d\\w\\w with score [\\d.]+/)"
    eventually(lambda: browser.execute_script(said), "the result in the head")
    eventually(lambda: "hornets" in text_of(browser, "entries"), "the row of the result")


def test_the_page_of_a_team(hall: Hall, browsers: Browsers) -> None:
    """Figures, power and requests, and classes; all of these are behind a link."""
    browser = fits(browsers, f"{hall.url}/team/{LONG}", "figures", "SUSPECT")
    every = "const { src, naturalWidth } = document.getElementById('all-curves');"
    every += "return naturalWidth > 0 && src.includes('/classes.svg')"
    assert not browser.execute_script(every)
    browser.execute_script("document.getElementById('every').open = true")
    eventually(lambda: browser.execute_script(every), "all curves")
