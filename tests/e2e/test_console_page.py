# SPDX-License-Identifier: Apache-2.0
"""The operators' page in a real browser, on a real console with a meter and a clock in memory."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from werkzeug.serving import BaseWSGIServer, make_server

from referee.core.states import EndCause
from referee.errors import Unavailable
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.metering import LinkState
from referee.service.desk.readiness import Readiness
from referee.service.setup.contest import Contest
from referee.store.finals import insert_finalization
from referee.store.notices import Level, insert_notice
from referee.store.readings import energy_of, insert_energy
from referee.store.scores import ScoringRun, Snapshot, insert_scoring_run, insert_snapshot
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.browsing import be_screen, choose, press, text_of, wait_text
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock, FakeMeter, eventually, running_desk
from tests.support.hits import misses_in_fonts
from tests.support.running import PATIENCE_S
from tests.support.teams import give_password

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@dataclass
class Site:
    """A console on loopback, with its contest, its desk and its meter."""

    contest: Contest
    desk: ControlDesk
    meter: FakeMeter
    clock: FakeClock
    port: int = 0
    stack: ExitStack = field(default_factory=ExitStack)

    def serve(self) -> None:
        """Serve the console, on the same port as before."""
        board = Board(self.contest, [ShownLane(lambda: self.desk.lanes[0].metering.status)])
        broadcast = Broadcast(board.show, 4)
        app = console_app(self.contest, self.desk, board, broadcast)
        server = make_server("127.0.0.1", self.port, app, threaded=True)
        self.port = server.port
        thread = threading.Thread(target=server.serve_forever, name="console", daemon=True)
        thread.start()
        broadcast.start()
        self.stack.callback(_stop, server, broadcast, thread)

    @property
    def url(self) -> str:
        """Return the console's URL."""
        return f"http://127.0.0.1:{self.port}"

    def begin(self, team: str = "ants") -> int:
        """Let a team's session run."""
        session_id = self.desk.new_session(team, "Kim")
        self.desk.steps_of(session_id).arm(session_id, "Kim")
        return self.desk.begin(team, "10.0.0.2")

    def measure_with(self, resource: str) -> None:
        """Serve the console anew with a configuration that names this meter."""
        self.stack.close()
        config = self.contest.config
        config = replace(config, meter=replace(config.meter, resource=resource))
        self.contest = replace(self.contest, config=config)
        self.serve()

    def notice(self, session_id: int | None, text: str, level: Level = "warning") -> None:
        """Store a notice of this moment."""
        with self.contest.database.write() as connection:
            utc = self.clock.now().utc.isoformat()
            insert_notice(connection, session_id, utc, level, text)

    def judge(self, session_id: int, verdict: str, *reasons: str) -> None:
        """Store a judged energy of a watt-hour."""
        with self.contest.database.write() as connection:
            insert_energy(
                connection,
                session_id,
                utc="",
                energy_wh=1.0,
                uncertainty_wh=0.001,
                verdict=verdict,
                detail={"reasons": reasons},
            )

    def score(self, session_id: int, verdict: str, score: float) -> None:
        """Store a judged energy and a score, later than those of the desk itself."""
        reader = self.contest.database.connection
        eventually(lambda: energy_of(reader, session_id))
        self.judge(session_id, verdict)
        with self.contest.database.write() as connection:
            energy = energy_of(connection, session_id)
            assert energy is not None
            told = {"mean_ap": [0.2, 0.3], "score": [0.8 * score, 1.2 * score]}
            detail = {"verdict": verdict, "uncertainty": told}
            run = ScoringRun(0, energy.energy_id, 0.25, score, detail)
            insert_scoring_run(connection, session_id, self.clock.now(), run)


def _stop(server: BaseWSGIServer, broadcast: Broadcast, thread: threading.Thread) -> None:
    broadcast.close()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return the console of an event of 600 s with the teams 'ants' and 'bees'."""
    with _site(tmp_path, "event") as site:
        for team in ("ants", "bees"):
            give_password(site.contest.config.teams, team)
        yield site


@contextmanager
def _site(folder: Path, mode: str) -> Iterator[Site]:
    """Serve the console of a contest of 600 s without teams."""
    clock = FakeClock()
    contest = make_contest(folder, clock, mode=mode, seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        site = Site(contest, desk, meter, clock)
        with site.stack:
            site.serve()
            yield site
    contest.database.close()


def wait_until(browser: webdriver.Chrome, script: str) -> None:
    """Wait until an expression of the page is true."""
    WebDriverWait(browser, PATIENCE_S, 0.1).until(
        lambda driver: driver.execute_script(f"return {script}"), script
    )


def row_button(browser: webdriver.Chrome, session_id: int):
    """Return the button of a session's row."""
    return browser.find_element(By.CSS_SELECTOR, f"button[aria-label='Show session {session_id}']")


def states(site: Site) -> list[str]:
    """Return the sessions' states, the oldest first."""
    board = Board(site.contest, [ShownLane(lambda: site.desk.lanes[0].metering.status)]).show()
    return [row.state for row in reversed(board.sessions)]


# Before a session


def test_team_that_is_added_later_can_be_chosen(site: Site, browser: webdriver.Chrome) -> None:
    """An empty list says what to do; a team that registers then appears without a reload."""
    site.contest.config.teams.unlink()
    browser.get(site.url)
    wait_text(browser, "teams-text", "referee team add")
    assert not browser.find_element(By.ID, "create").is_enabled()
    give_password(site.contest.config.teams, "wasps")
    choose(browser, "team", "wasps")
    assert "" == text_of(browser, "teams-text")
    press(browser, "create")
    wait_text(browser, "session-title", "Session 1: wasps")
    assert "10:00" == text_of(browser, "clock")


def test_a_choice_made_before_the_reply_stays(site: Site, browser: webdriver.Chrome) -> None:
    """The page shows the new session before the reply comes; who chooses then chooses the next."""
    browser.get(site.url)
    browser.execute_script(
        "const real = window.fetch; window.fetch = async (...sent) => {"
        "  const reply = await real(...sent);"
        "  if (String(sent[0]).endsWith('sessions'))"
        "    await new Promise((done) => { window.release = done; });"
        "  return reply; };"
    )
    choose(browser, "team", "ants")
    press(browser, "create")
    wait_text(browser, "state", "READY")
    choose(browser, "team", "bees")
    browser.execute_script("window.release()")
    create = browser.find_element(By.ID, "create")
    WebDriverWait(browser, PATIENCE_S, 0.1).until(lambda driver: create.is_enabled())
    assert "bees" == browser.find_element(By.ID, "team").get_property("value")


def test_double_clicks_do_nothing_twice(site: Site, browser: webdriver.Chrome) -> None:
    """A double click makes or arms one session; the page says why there is no second one."""
    browser.get(site.url)
    choose(browser, "team", "ants")
    WebDriverWait(browser, PATIENCE_S, 0.1).until(
        lambda driver: driver.find_element(By.ID, "create").is_enabled()
    )
    ActionChains(browser).double_click(browser.find_element(By.ID, "create")).perform()
    wait_text(browser, "state", "READY")
    # The page forgets the choice when the reply comes, which may be after the session is shown.
    team = browser.find_element(By.ID, "team")
    WebDriverWait(browser, PATIENCE_S, 0.1).until(lambda driver: not team.get_property("value"))
    choose(browser, "team", "ants")
    press(browser, "create")
    wait_text(browser, "refusal", "Session 1 of 'ants' is READY")
    assert ["READY"] == states(site)
    ActionChains(browser).double_click(browser.find_element(By.ID, "arm")).perform()
    wait_text(browser, "state", "ARMED")
    assert 1 == site.meter.calls.count("prepare")
    assert "" == text_of(browser, "refusal")


def test_emulated_meter_is_said_plainly(site: Site, browser: webdriver.Chrome) -> None:
    """The page says that a program plays the meter; with a real meter it does not mention one."""
    browser.get(site.url)
    wait_text(browser, "meter-model", "WT310E")
    assert not browser.find_element(By.ID, "emulated").is_displayed()
    site.measure_with("emulated")
    browser.get(site.url)
    wait_text(browser, "emulated", "EMULATED")


def test_result_stays_until_the_next_is_armed(site: Site, browser: webdriver.Chrome) -> None:
    """The ended session keeps the card; the next one waits beside it with its own button."""
    first = site.begin("ants")
    browser.get(site.url)
    wait_text(browser, "state", "RUNNING")
    second = site.desk.new_session("bees", "Kim")
    wait_text(browser, "in-line-text", f"Next in line: session {second} of bees.")
    assert not browser.find_element(By.ID, "arm").is_enabled()
    site.clock.advance(30)
    site.desk.steps_of(first).end(first, EndCause.LOGOUT, "ants")
    site.score(first, "VALID", 12.5)
    wait_text(browser, "clock", "12.5")
    assert f"Session {first}: ants" == text_of(browser, "session-title")
    press(browser, "arm")
    wait_text(browser, "state", "ARMED")
    assert f"Session {second}: bees" == text_of(browser, "session-title")
    assert not browser.find_element(By.ID, "in-line").is_displayed()


def test_first_of_two_that_are_ready_is_next(site: Site, browser: webdriver.Chrome) -> None:
    """The card shows the older READY session with its Arm button; the newer waits in the list."""
    first = site.desk.new_session("ants", "Kim")
    browser.get(site.url)
    wait_text(browser, "session-title", f"Session {first}: ants")
    second = site.desk.new_session("bees", "Kim")
    wait_text(browser, "sessions", "bees")
    assert f"Session {first}: ants" == text_of(browser, "session-title")
    assert not browser.find_element(By.ID, "in-line").is_displayed()
    press(browser, "arm")
    wait_text(browser, "state", "ARMED")
    wait_text(browser, "in-line-text", f"session {second} of bees")


# Which session is shown


def test_click_on_a_row_selects_the_session_to_act_on(
    site: Site, browser: webdriver.Chrome
) -> None:
    """The panel shows and changes the clicked session; one click leads back to the live one."""
    first = site.desk.new_session("ants", "Kim")
    running = site.begin("bees")
    browser.get(site.url)
    wait_text(browser, "session-title", f"Session {running}: bees")
    row_button(browser, first).find_element(By.XPATH, "../../td[2]").click()
    wait_text(browser, "session-title", f"Session {first}: ants")
    wait_text(browser, "elsewhere-text", f"Session {running} of bees is RUNNING, ")
    assert text_of(browser, "elsewhere-text").endswith(" to go.")
    assert "true" == row_button(browser, first).get_attribute("aria-pressed")
    assert not browser.find_element(By.ID, "arm").is_displayed()
    press(browser, "void")
    browser.find_element(By.ID, "reason").send_keys("made by mistake")
    press(browser, "confirm-yes")
    wait_text(browser, "state", "VOID")
    assert ["VOID", "RUNNING"] == states(site)
    press(browser, "show-live")
    wait_text(browser, "session-title", f"Session {running}: bees")
    assert not browser.find_element(By.ID, "elsewhere").is_displayed()


def test_rows_are_selected_by_keyboard(site: Site, browser: webdriver.Chrome) -> None:
    """A row's button takes the focus, Enter selects the row, and new boards keep the focus."""
    site.desk.new_session("ants", "Kim")
    second = site.desk.new_session("bees", "Kim")
    browser.get(site.url)
    wait_text(browser, "session-title", "Session 1: ants")
    row_button(browser, second).send_keys(Keys.ENTER)
    wait_text(browser, "session-title", "Session 2: bees")
    site.desk.steps_of(second).arm(second, "Kim")
    wait_text(browser, "state", "ARMED")
    focus = browser.switch_to.active_element
    assert "Show session 2" == focus.get_attribute("aria-label")


# Questions before an action


@pytest.mark.parametrize("button", ["stop", "void"])
def test_dialog_can_always_be_left(site: Site, browser: webdriver.Chrome, button: str) -> None:
    """The left button and Escape close the dialog and do nothing, even with a reason typed."""
    site.begin()
    browser.get(site.url)
    for leave in ("button", "escape"):
        press(browser, button)
        if button == "void" and leave == "escape":
            browser.find_element(By.ID, "reason").send_keys("half a reas")
        if leave == "button":
            press(browser, "confirm-no")
        else:
            browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        wait_until(browser, "!document.getElementById('confirm')")
    assert ["RUNNING"] == states(site)


def test_enter_in_the_reason_voids(site: Site, browser: webdriver.Chrome) -> None:
    """Enter without a reason keeps the dialog open; Enter with a reason voids the session."""
    site.begin()
    browser.get(site.url)
    press(browser, "void")
    reason = browser.find_element(By.ID, "reason")
    assert reason == browser.switch_to.active_element
    for nothing in ("", "   "):
        reason.send_keys(nothing, Keys.ENTER)
        assert browser.find_element(By.ID, "confirm").is_displayed()
        assert "Please fill in: Reason (kept in the evidence)." == text_of(
            browser, "confirm-missing"
        )
    reason.send_keys("wrong device", Keys.ENTER)
    wait_text(browser, "sessions", "wrong device")
    wait_text(browser, "state-text", "wrong device")
    assert ["VOID"] == states(site)


def test_what_is_missing_covers_no_button(site: Site, browser: webdriver.Chrome) -> None:
    """The dialog itself says that the reason is missing; the browser shows no bubble of its own."""
    site.begin()
    browser.get(site.url)
    press(browser, "void")
    press(browser, "confirm-yes")
    assert browser.execute_script("return document.querySelector('#confirm form').noValidate")
    reason = browser.find_element(By.ID, "reason")
    assert reason == browser.switch_to.active_element
    assert "true" == reason.get_attribute("aria-invalid")
    message, button = (browser.find_element(By.ID, i) for i in ("confirm-missing", "confirm-yes"))
    assert message.rect["y"] + message.rect["height"] <= button.rect["y"]
    reason.send_keys("w")
    assert ("", "false") == (message.text, reason.get_attribute("aria-invalid"))
    press(browser, "confirm-no")
    assert ["RUNNING"] == states(site)


def test_focus_goes_somewhere_after_an_action(site: Site, browser: webdriver.Chrome) -> None:
    """A closed dialog gives the focus back; a button that becomes disabled passes it on."""
    site.begin()
    browser.get(site.url)
    press(browser, "void")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait_until(browser, "document.activeElement.id === 'void'")
    press(browser, "void")
    browser.switch_to.active_element.send_keys("wrong device", Keys.ENTER)
    wait_text(browser, "state", "VOID")
    wait_until(browser, "document.activeElement.id === 'session-title'")


def test_red_bar_is_read_out_once(site: Site, browser: webdriver.Chrome) -> None:
    """The red bar's sentence is an alert for screen readers; the age below it is not."""
    browser.get(site.url)
    site.notice(None, "The scorer was killed.", "alarm")
    wait_text(browser, "alarm-text", "The scorer was killed.")
    live = "[role=alert], [role=status], [aria-live]"
    assert browser.execute_script(f"return document.getElementById('alarm-text').matches('{live}')")
    assert not browser.execute_script(
        f"return Boolean(document.getElementById('alarm-detail').closest('{live}'))"
    )


def test_enter_does_not_stop_by_accident(site: Site, browser: webdriver.Chrome) -> None:
    """A key pressed twice opens the Stop dialog and presses none of its buttons."""
    site.begin()
    browser.get(site.url)
    press(browser, "stop")
    for key in (Keys.ENTER, Keys.SPACE):
        browser.switch_to.active_element.send_keys(key)
    assert browser.find_element(By.ID, "confirm").is_displayed()
    assert ["RUNNING"] == states(site)
    browser.switch_to.active_element.send_keys(Keys.TAB, Keys.TAB, Keys.ENTER)
    wait_text(browser, "state", "ENDED")


# Trouble


def test_lost_meter_while_running(site: Site, browser: webdriver.Chrome) -> None:
    """The bar says what happens and what to leave alone; old figures are grey, with their time."""
    session_id = site.begin()
    site.clock.advance(37)
    with site.contest.database.write() as connection:
        insert_snapshot(connection, session_id, "", Snapshot(1, 0.5, 1))
    browser.get(site.url)
    wait_text(browser, "energy", f"{5 * 37 / 3600:.6f}")
    wait_text(browser, "score-name", "score so far")
    wait_until(browser, "document.getElementById('score').textContent !== '–'")
    height = browser.find_element(By.ID, "stop").location["y"]
    site.meter.lost = True
    wait_text(browser, "alarm-text", "but the session goes on")
    assert "do not cut its power" in text_of(browser, "alarm-text")
    assert "The clock runs." == text_of(browser, "state-text")
    assert "No link to the meter." in text_of(browser, "alarm-detail")
    site.clock.advance(20)
    wait_text(browser, "meter-age", "20 s ago")
    assert "lost" == text_of(browser, "link")
    # The page counts on by itself where a board comes late.
    wait_text(browser, "clock", "9:03")
    for figure in ("power", "energy"):
        assert re.fullmatch(r"at \d\d:\d\d:37 \S+", text_of(browser, f"{figure}-note"))
        box = browser.find_element(By.ID, f"{figure}-box")
        assert "old" in str(box.get_attribute("class")).split()
    assert ("–", "0.5000") == (text_of(browser, "score"), text_of(browser, "map"))
    assert height == browser.find_element(By.ID, "stop").location["y"]
    site.meter.lost = False
    wait_until(browser, "document.getElementById('alarm').hidden")
    eventually(lambda: site.desk.lanes[0].metering.status.link is LinkState.OK)


def test_end_with_a_lost_meter_says_what_it_waits_for(
    site: Site, browser: webdriver.Chrome
) -> None:
    """The card says how long it waits, what follows, and what is impossible meanwhile."""
    session_id = site.begin()
    site.meter.lost = True
    eventually(lambda: site.desk.lanes[0].metering.status.link is LinkState.LOST)
    site.clock.advance(601)
    browser.get(site.url)
    wait_text(browser, "state", "ENDED")
    wait_text(browser, "state-text", "without it the energy is INVALID")
    assert "no other session can begin" in text_of(browser, "state-text")
    assert re.search(r"waits [12]:\d\d more", text_of(browser, "state-text"))
    wait_text(browser, "alarm-text", f"The final energy of session {session_id} is not read yet")
    site.meter.lost = False


def test_result_with_its_reasons(site: Site, browser: webdriver.Chrome) -> None:
    """The verdict stands with its reasons; notices show 24-hour times to the second."""
    session_id = site.begin()
    site.clock.advance(37)
    site.notice(session_id, "something happened")
    site.judge(session_id, "SUSPECT", "The range was changed.", "It was read once.")
    browser.get(site.url)
    wait_text(browser, "verdict", "SUSPECT")
    reasons = browser.find_elements(By.CSS_SELECTOR, "#reasons li")
    assert ["The range was changed.", "It was read once."] == [reason.text for reason in reasons]
    wait_text(browser, "notices", "something happened")
    text = text_of(browser, "notices")
    assert re.search(r"(?m)^[0-2]\d:00:37\s+session 1 at 0:37\s+something happened$", text), text


def struck(browser: webdriver.Chrome, element: str) -> bool:
    """Tell whether a figure is struck out."""
    line = browser.find_element(By.ID, element).value_of_css_property("text-decoration-line")
    return line == "line-through"


def test_figures_of_a_void_session_are_struck(site: Site, browser: webdriver.Chrome) -> None:
    """Energy and mAP stay readable, struck out and marked; the meter's own power is not struck."""
    session_id = site.begin()
    site.clock.advance(37)
    browser.get(site.url)
    wait_text(browser, "energy", f"{5 * 37 / 3600:.6f}")
    assert not struck(browser, "energy")
    site.desk.steps_of(session_id).void(session_id, "Kim", "wrong device")
    wait_text(browser, "clock", "void")
    wait_text(browser, "energy", f"{5 * 37 / 3600:.6f}")
    assert struck(browser, "energy") and struck(browser, "map")
    assert not struck(browser, "power")
    assert ("void", "energy") == (
        text_of(browser, "energy-note"),
        text_of(browser, "energy-name").partition(",")[0],
    )
    wait_text(browser, "verdict-text", "counts for nothing")
    row = row_button(browser, session_id).find_element(By.XPATH, "../..")
    assert "void" in str(row.get_attribute("class")).split()


@pytest.mark.parametrize(
    ("seconds", "verdict", "points", "note"),
    [
        (0.2, "SUSPECT", "800", "too short to be exact"),
        (30.0, "SUSPECT", "800", ""),
        (30.0, "VALID", "~800", ""),
    ],
)
def test_score_has_the_digits_that_count(
    site: Site, browser: webdriver.Chrome, seconds: float, verdict: str, points: str, note: str
) -> None:
    """A doubtful score has few digits, and a very short session is marked as too short."""
    session_id = site.begin()
    site.clock.advance(seconds)
    site.desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
    site.score(session_id, verdict, 799.748296)
    browser.get(site.url)
    wait_text(browser, "state", "SCORED")
    assert (points, points) == (text_of(browser, "clock"), text_of(browser, "score"))
    assert note == text_of(browser, "score-note")
    assert bool(note) == ("too short" in text_of(browser, "clock-label"))
    assert bool(note) == ("It ran 0.2 s." in text_of(browser, "state-text"))
    assert points in text_of(browser, "sessions").split()
    intervals = ["mAP, 95 % interval: 0.200 to 0.300", "score, 95 % interval: 640 to 960"]
    told = intervals if verdict == "VALID" else intervals[:1]
    if told:
        browser.find_element(By.CSS_SELECTOR, "#more-of-result summary").click()
    assert told == text_of(browser, "intervals").splitlines()


def test_desk_that_is_away_and_comes_back(site: Site, browser: webdriver.Chrome) -> None:
    """The page says that it is old and what failed, and connects to the new desk by itself."""
    site.desk.new_session("ants", "Kim")
    browser.get(site.url)
    wait_text(browser, "connection", "live")
    site.stack.close()
    press(browser, "arm")
    wait_text(browser, "refusal", "Find out whether it was done")
    wait_text(browser, "connection", "connection lost")
    assert "what you see is old" in text_of(browser, "alarm-text")
    site.serve()
    wait_text(browser, "connection", "live")
    press(browser, "arm")
    wait_text(browser, "state", "ARMED")


def test_alarm_of_any_kind_is_shown_large(site: Site, browser: webdriver.Chrome) -> None:
    """The newest alarm stands in the red bar for two minutes, or until another notice follows.

    Acknowledge leaves it there with a name, and the button goes.
    """
    browser.get(site.url)
    site.notice(None, "The scorer was killed.", "alarm")
    wait_text(browser, "alarm-text", "The scorer was killed.")
    press(browser, "alarm-seen")
    wait_text(browser, "alarm-detail", "Acknowledged by operator")
    assert not browser.find_element(By.ID, "alarm-seen").is_displayed()
    site.notice(None, "The scorer runs again.", "info")
    wait_until(browser, "document.getElementById('alarm').hidden")
    site.notice(None, "The scorer was killed again.", "alarm")
    wait_text(browser, "alarm-text", "killed again")
    site.clock.advance(121)
    wait_until(browser, "document.getElementById('alarm').hidden")


def test_power_is_drawn(site: Site, browser: webdriver.Chrome) -> None:
    """The running session's readings become a line, and its text says the watts."""
    site.begin()
    browser.get(site.url)
    wait_until(browser, "document.querySelector('#chart .power')?.getAttribute('d')")
    wait_until(browser, "document.getElementById('chart-text').textContent.startsWith('5.000 W')")


def test_nothing_is_wrong_only_while_sessions_can_be_armed(
    site: Site, browser: webdriver.Chrome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a check fails the page says so and leads to it; when it is over, nothing is wrong."""
    usage, free = shutil.disk_usage, [2**40]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(path)._replace(free=free[0]))
    browser.get(site.url)
    wait_text(browser, "calm", "Nothing is wrong.")
    free[0] = 0
    site.clock.advance(10)
    wait_text(browser, "calm", "No session can be armed: a check fails. Check says what to do.")
    assert "hindered" in str(browser.find_element(By.ID, "calm").get_attribute("class"))
    free[0] = 2**40
    site.clock.advance(10)
    wait_text(browser, "calm", "Nothing is wrong.")


def test_nothing_is_wrong_is_never_guessed(
    site: Site, browser: webdriver.Chrome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of checks that cannot be had is not known, and final results arm no session."""
    show = Readiness.show

    def broken(_: Readiness) -> dict[str, Any]:
        raise Unavailable("The disk does not answer.")

    monkeypatch.setattr(Readiness, "show", broken)
    browser.get(site.url)
    wait_text(browser, "calm", "The checks are not known yet.")
    assert "hindered" in str(browser.find_element(By.ID, "calm").get_attribute("class"))
    monkeypatch.setattr(Readiness, "show", show)
    wait_text(browser, "calm", "Nothing is wrong.")
    with site.contest.database.write() as connection:
        insert_finalization(connection, site.clock.now(), ["Ada"], {})
    wait_text(browser, "calm", "The results are final, so no session can be armed.")


# Appearance

CONTRASTS = """
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const bad = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  if (!own || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const colour = element.namespaceURI.includes("svg") ? style.fill : style.color;
  const [a, b] = [light(parse(colour)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(`${element.id || element.textContent}: ${ratio.toFixed(2)}`);
}
return bad;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(site: Site, browser: webdriver.Chrome, scheme: str) -> None:
    """All texts stand out by 4.5 to 1 at least, in both schemes, with an alarm and a verdict."""
    session_id = site.begin()
    site.notice(session_id, "a warning")
    site.judge(session_id, "INVALID", "A reason.")
    site.meter.lost = True
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(site.url)
    wait_text(browser, "verdict", "INVALID")
    wait_text(browser, "alarm-text", "The power meter")
    wait_text(browser, "notices", "a warning")
    press(browser, "void")
    press(browser, "confirm-yes")
    assert [] == browser.execute_script(CONTRASTS)
    press(browser, "confirm-no")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    site.meter.lost = False


@pytest.mark.parametrize("width", [320, 400, 768, 1920])
def test_nothing_sticks_out(site: Site, browser: webdriver.Chrome, width: int) -> None:
    """The page needs no sideways scrolling at any width, even with long names."""
    team = "The Very Long Name of a Team, University of Somewhere " + 40 * "x"
    give_password(site.contest.config.teams, team)
    session_id = site.begin(team)
    site.judge(session_id, "SUSPECT", 90 * "y")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(site.url)
    wait_text(browser, "verdict", "SUSPECT")
    assert width >= browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_stop_and_void_look_different(site: Site, browser: webdriver.Chrome) -> None:
    """They stand apart, and differ in colour and frame as soon as somebody points at them."""
    site.begin()
    browser.get(site.url)
    wait_text(browser, "state", "RUNNING")
    stop, void = (browser.find_element(By.ID, name) for name in ("stop", "void"))
    looks = []
    for button in (stop, void):
        ActionChains(browser).move_to_element(button).perform()
        looks.append([button.value_of_css_property(one) for one in ("color", "border-top-style")])
    assert all(one != other for one, other in zip(*looks, strict=True)), looks
    assert void.location["x"] > stop.location["x"] + stop.size["width"] + 90


# A rehearsal


def test_every_point_of_a_rehearsals_buttons_is_its_own(
    tmp_path: Path, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """The page that a contestant rehearses with takes each click that is meant for a button."""
    with _site(tmp_path, "practice") as site:
        site.notice(None, "The power meter answers.", "info")
        assert {} == misses_in_fonts(browsers, site.url, "notices", "The power meter answers.")


@pytest.mark.parametrize("width_px", [1280, 1366, 1920])
def test_lists_of_a_rehearsal_share_the_width(
    tmp_path: Path, browser: webdriver.Chrome, width_px: int
) -> None:
    """Without a card for the next session, both lists fill the page, and a notice is readable."""
    with _site(tmp_path, "practice") as site:
        site.notice(None, "The power meter answers.", "info")
        be_screen(browser, width_px, 720)
        try:
            browser.get(site.url)
            wait_text(browser, "notices", "The power meter answers.")
            lists = [browser.find_element(By.ID, f"{it}-title") for it in ("sessions", "notices")]
            sessions, notices = (it.find_element(By.XPATH, "./..").rect for it in lists)
        finally:
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert notices["width"] > width_px / 3
    assert notices["x"] + notices["width"] > width_px - 50
    assert sessions["x"] < 30
