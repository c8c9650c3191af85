# SPDX-License-Identifier: Apache-2.0
"""The console of several lanes in windows of many sizes, with long names and much to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.core.states import EndCause
from referee.service.teams.order import set_order
from referee.store.notices import insert_notice
from referee.store.readings import energy_of, insert_energy
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import all_sessions
from tests.support.browsing import be_screen, drawn, press, text_of, wait_text
from tests.support.events import Event
from tests.support.fitting import be_dark, misfits
from tests.support.hits import misses_in_windows
from tests.support.lane_console import begin, lanes_event
from tests.support.windows import PHONES, WINDOWS

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# A second font shows little in these that it does not show in the others.
FEWER = tuple(one for one in WINDOWS if one[:3] not in ((1366, 681, 1), (3840, 2160, 1)))
LATIN = "The Embedded Vision Laboratory of the University of Technolo"
JAPANESE = "東京工業大学コンピュータビジョン研究室低消費電力画像認識チーム"
ARABIC = "فريق الرؤية الحاسوبية في جامعة العلوم والتكنولوجيا بالقاهرة"
TEAMS = (LATIN, JAPANESE, ARABIC, "Wasps", "Ants")
DECIDING = "The integrator was reset before its result was read."
REASONS = (
    DECIDING,
    "The meter integrated 0 s, but the session lasted 21.5 s.",
    "The integration time went back: the meter was restarted.",
    "The current range was set to 1 A and changed to 0.1 A.",
    "The ranges are not known, so the uncertainty is not known.",
)

OVER_THE_BAR = """
const alarm = document.getElementById("alarm");
const box = alarm.getBoundingClientRect();
const found = [];
for (let x = 5; x < box.right; x += 20) for (let y = box.top + 1; y < box.bottom; y += 6) {
  const at = document.elementFromPoint(x, y);
  if (!alarm.contains(at)) found.push(at?.id || at?.tagName);
}
const text = document.getElementById("alarm-text").getBoundingClientRect();
if (text.top < box.top) found.push("the bar's own edge");
return [...new Set(found)];
"""

CAN_BE_PRESSED = """
const button = document.getElementById("create");
button.scrollIntoView({block: "center"});
const box = button.getBoundingClientRect();
const points = [[box.left + 3, box.top + 3], [box.right - 3, box.bottom - 3]];
return points.every(([x, y]) => button.contains(document.elementFromPoint(x, y)));
"""

# What must be read and pressed without scrolling, of the first card: its clock, its watts, its
# verdict with the reasons, and the large button.
AT_ONCE = """
const foot = document.getElementById("page").getBoundingClientRect().bottom;
const wanted = "#clock, #power, #verdict, #reasons li, #seen.step-act";
const parts = [...document.querySelectorAll(wanted)];
const low = parts.filter((part) => part.getBoundingClientRect().bottom > foot + 1);
return [parts.length, ...low.map((part) => part.id || part.textContent)];
"""
CURVES = """
return [...document.querySelectorAll(".chart")].filter((chart) => chart.checkVisibility())
  .map((chart) => chart.getBoundingClientRect().height)
"""


PAGES = (
    ("results", "entries", "SUSPECT"),
    ("check", "urgent", "WARN"),
    ("teams", "teams", "Wasps"),
    ("audit", "rows", "void"),
)
UNFOLD = """
const menu = document.querySelector("details.menu");
for (const one of document.querySelectorAll("details.fold")) one.open = arguments[0];
if (menu) menu.open = arguments[0];
"""


@pytest.fixture(params=[1, 2, 3, 4])
def event(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Event]:
    """Return an event of one to four lanes with teams of long and foreign names."""
    with lanes_event(tmp_path, request.param, "emulated", *TEAMS) as found:
        yield found
        for meter in found.meters:
            meter.lost = False


def judge(event: Event, session: int, verdict: str, energy_wh: float | None, *reasons: str) -> None:
    """End a session, and store a verdict and a score of it."""
    event.desk.steps_of(session).end(session, EndCause.STOP, "Kim")
    event.settle(session)
    with event.contest.database.write() as connection:
        insert_energy(
            connection,
            session,
            utc="",
            energy_wh=energy_wh,
            uncertainty_wh=None if energy_wh is None else 0.000522,
            verdict=verdict,
            detail={"reasons": reasons},
        )
        energy = energy_of(connection, session)
        assert energy is not None
        score = None if energy_wh is None else 0.8547 / energy_wh
        detail = {"verdict": verdict, "energy_wh": energy_wh, "uncertainty_wh": 0.000522}
        run = ScoringRun(0, energy.energy_id, 0.8547, score, detail)
        insert_scoring_run(connection, session, event.contest.clock.now(), run)


def play(event: Event) -> None:
    """Bring about what fills the page most: verdicts, what is next in line, and two alarms."""
    lanes = len(event.meters)
    first = begin(event, LATIN, 1)
    others = [begin(event, team, lane) for lane, team in list(enumerate(TEAMS, 1))[1:lanes]]
    judge(event, first, "INVALID", None, *REASONS)
    if lanes > 2:
        judge(event, others[0], "VALID", 0.010000, "The meter was an emulator: not official.")
    if lanes > 3:
        judge(event, others[1], "SUSPECT", 0.020180, *REASONS[1:])
    event.desk.new_session("Ants", "Kim", 1)
    event.meters[lanes - 1].lost = True
    with event.contest.database.write() as connection:
        utc = event.contest.clock.now().utc.isoformat()
        address = "The meter at TCPIP::192.168.100.200,36313::inst0::INSTR has closed the link."
        insert_notice(connection, None, utc, "info", address)
        text = "The emulated meter of lane left ended (-9) and is started again; its log says why."
        insert_notice(connection, None, utc, "alarm", text)


def test_everything_can_be_read_in_every_window(
    event: Event, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """No text covers another, what is cut has a title, no word is broken, nothing scrolls sideways.

    All points of what can be pressed belong to it. Nothing lies over the red bar, New session can
    be pressed, and a curve is 80 pixels high. All that in each font.
    """
    play(event)
    wrong = {}
    for font, browser in browsers.items():
        for number, (*window, dark) in enumerate(FEWER if wrong else WINDOWS):
            be_screen(browser, *window)
            be_dark(browser, dark)
            # In the first font each window opens the page; in the others the window changes.
            if font == next(iter(browsers)) or number == 0:
                open_filled(browser, event)
            drawn(browser)
            wrong[font, *window] = not_as_wanted(browser, len(event.meters), tuple(window))
        be_dark(browser, False)
        browser.get("about:blank")
    assert {} == {where: found for where, found in wrong.items() if found}


def open_filled(browser: webdriver.Chrome, event: Event) -> None:
    """Open the console, and wait until it shows all that `play` has brought about."""
    browser.get(event.url)
    wait_text(browser, "verdict", "INVALID")
    wait_text(browser, "last-text", "Look at session 1")
    wait_text(browser, "in-line-text", "of Ants")
    wait_text(browser, "alarm-text", "The power meter is lost")
    if len(event.meters) > 1:
        wait_text(browser, "alarm-text", "is started again")


def not_as_wanted(
    browser: webdriver.Chrome, lanes: int, window: tuple[int, int, float]
) -> list[object]:
    """Return what is wrong on the console that is open."""
    wrong: list[object] = [*misfits(browser), *browser.execute_script(OVER_THE_BAR)]
    if not browser.execute_script(CAN_BE_PRESSED):
        wrong.append("New session cannot be pressed")
    wrong += [height for height in browser.execute_script(CURVES) if height < 80]
    if lanes < 3 and window[0] > 1024 and window[2] == 1:
        browser.execute_script("document.getElementById('page').scrollTop = 0")
        parts, *low = browser.execute_script(AT_ONCE)
        wrong += low if parts == 3 + len(REASONS) + 1 else [f"{parts} parts"]
    return wrong


@pytest.mark.parametrize("event", [1, 2, 4], indirect=True)
def test_every_point_of_a_button_is_its_own(
    event: Event, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """In each state of a session, in each font and window, with an open dialog too."""
    for browser in browsers.values():
        browser.get(event.url)
    wrong = {}
    for part, text in states_of(event):
        for font, browser in browsers.items():
            wait_text(browser, part, text)
            wrong[font, text] = misses_in_windows(browser)
            if text in ("RUNNING", "VOID"):
                press(browser, "note")
                wrong[font, text, "dialog"] = misses_in_windows(browser)
                browser.execute_script("document.querySelector('dialog').close()")
    for browser in browsers.values():
        browser.get("about:blank")
    assert {} == {where: found for where, found in wrong.items() if found}


def states_of(event: Event) -> Iterator[tuple[str, str]]:
    """Lead the lanes through the states of a session; yield a part of the page and its text."""
    desk = event.desk
    yield "session-title", "No session yet"
    numbers = [desk.new_session(team, "Kim", lane) for lane, team in lanes_of(event)]
    yield "arm", "Arm"
    for number in numbers:
        desk.steps_of(number).arm(number, "Kim")
    yield "state", "ARMED"
    for lane, team in lanes_of(event):
        desk.begin(team, "10.0.0.2", lane)
    yield "state", "RUNNING"
    for number in numbers:
        judge(event, number, "SUSPECT", 0.02, *REASONS)
    yield "seen", "Acknowledge"
    event.meters[0].lost = True
    yield "alarm-text", "is lost"
    event.meters[0].lost = False
    for number in numbers:
        desk.steps_of(number).void(number, "Kim", "the wrong device was on the table")
    yield "state", "VOID"


def lanes_of(event: Event) -> list[tuple[int, str]]:
    """Return the number of each lane and its team."""
    return list(enumerate(TEAMS[: len(event.meters)], 1))


SAME_LINES = """
const parts = ["session", "lane-name", "state", "state-text", "clock", "clock-label", "power",
  "map", "time-bar", "chart", "images", "link", "note", "void"];
const top = (id) => document.getElementById(id).getBoundingClientRect().top;
return parts.filter((part) => Math.abs(top(part) - top(`${part}-2`)) > 2);
"""


@pytest.mark.parametrize("event", [2], indirect=True)
def test_two_lanes_have_the_same_lines(event: Event, browser: webdriver.Chrome) -> None:
    """Whatever their names are, and also at 150 %; the page stays, and what is below scrolls."""
    begin(event, LATIN, 1)
    begin(event, "Wasps", 2)
    wrong: dict[tuple[float, ...], object] = {}
    for window in ((1366, 768, 1), (1920, 1080, 1), (1366, 768, 1.5), (1920, 1080, 1.5)):
        be_screen(browser, *window)
        browser.get(event.url)
        wait_text(browser, "state-2", "RUNNING")
        wrong[window] = browser.execute_script(SAME_LINES)
        if window[2] == 1:
            page = "const page = document.getElementById('page'); page.scrollTop = 999;"
            wrong[*window, 0] = browser.execute_script(f"{page} return page.scrollTop")
    assert {} == {where: found for where, found in wrong.items() if found}
    browser.get("about:blank")


# Which texts are not whole, or stand in a place that is less than a number of letters wide.
NARROW = """
const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 2;
return Object.entries(arguments[0]).flatMap(([selector, letters]) => {
  const found = [...document.querySelectorAll(selector)];
  if (!found.length) return [`${selector} is not there`];
  return found.filter((one) => one.clientWidth < letters * letter
    || one.scrollHeight > one.clientHeight + 2
    || one.scrollWidth > one.clientWidth + 1).map(() => selector);
});
"""


@pytest.mark.parametrize("event", [1, 2, 4], indirect=True)
def test_reasons_the_log_and_the_last_score_are_read(
    event: Event, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """Beside long names: why a session is void, what happened, and the score of the last one."""
    reason = "The device did not boot: its card was broken, and no other one was in the hall."
    number = begin(event, JAPANESE, 1)
    event.desk.steps_of(number).void(number, "Kim", reason)
    judge(event, begin(event, LATIN, 1), "VALID", 0.01)
    wrong = {}
    for font, browser in browsers.items():
        for window in ((1366, 768), (1920, 1080)):
            be_screen(browser, *window)
            browser.get(event.url)
            wait_text(browser, "last-text", "Look at session 2")
            wait_text(browser, "sessions", reason)
            wanted = {"#sessions .reason": 24, "#notices p": 32, "#last-text": 24}
            wrong[font, *window] = browser.execute_script(NARROW, wanted)
            assert ": VALID, 85.5 mAP/Wh, mAP 0.8547, " in text_of(browser, "last-text")
        browser.get("about:blank")
    assert {} == {where: found for where, found in wrong.items() if found}


def test_a_short_name_is_whole_beside_the_tag(event: Event, browser: webdriver.Chrome) -> None:
    """The title of a session shows a name of five letters, however many lanes there are."""
    begin(event, "Wasps", 1)
    for *window, _ in WINDOWS[1:]:
        be_screen(browser, *window)
        browser.get(event.url)
        wait_text(browser, "session-title", "Session 1: Wasps")
        wait_text(browser, "state", "RUNNING")
        cut = "const at = document.getElementById('session-title');"
        cut += "return at.scrollWidth - at.clientWidth"
        assert 0 >= browser.execute_script(cut), window
    browser.get("about:blank")


@pytest.mark.parametrize("event", [2], indirect=True)
def test_the_other_pages_fit_every_window(
    event: Event, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """Long and foreign names, a menu that is open and what is folded break no page."""
    event.play(LATIN, verdict="SUSPECT")
    event.play(JAPANESE, found=6)
    number = event.begin(ARABIC)
    event.desk.steps_of(number).void(number, "Kim", "the wrong device was on the table")
    first, *others = browsers
    windows = ((1024, 600, 2, True), (512, 683, 1, False), *PHONES, *WINDOWS[1:])
    wrong = {}
    for font, few in ((first, windows), *((font, windows[:3]) for font in others)):
        for page, part, text in PAGES:
            browsers[font].get(f"{event.url}/{page}")
            wait_text(browsers[font], part, text)
            for *window, dark in few:
                be_screen(browsers[font], *window)
                be_dark(browsers[font], dark)
                drawn(browsers[font])
                found = misfits(browsers[font])
                browsers[font].execute_script(UNFOLD, True)
                wrong[font, page, *window] = found + misfits(browsers[font])
                browsers[font].execute_script(UNFOLD, False)
        be_dark(browsers[font], False)
        browsers[font].get("about:blank")
    assert {} == {where: found for where, found in wrong.items() if found}


@pytest.mark.parametrize("event", [2], indirect=True)
def test_a_line_of_the_audit_log_leads_to_its_session(
    event: Event, browser: webdriver.Chrome
) -> None:
    """Also to one that is not on a card; the address forgets it, so a reload shows what is live."""
    number = event.begin("Ants")
    event.desk.steps_of(number).void(number, "Kim", "a wrong cable")
    begin(event, "Wasps", 1)
    be_screen(browser, 1366, 768)
    browser.get(f"{event.url}/audit")
    wait_text(browser, "rows", "a wrong cable")
    browser.find_element(By.PARTIAL_LINK_TEXT, "session 1, Ants").click()
    wait_text(browser, "session-title", "Session 1: Ants")
    wait_text(browser, "elsewhere-text", "Session 2 of Wasps is RUNNING")
    assert browser.current_url == f"{event.url}/"


@pytest.mark.parametrize("event", [2], indirect=True)
def test_a_click_right_after_seen_counts(event: Event, browser: webdriver.Chrome) -> None:
    """Two clicks in one moment are two actions, one after the other; a double click is one."""
    first = begin(event, LATIN, 1)
    judge(event, first, "VALID", 0.01)
    event.desk.new_session("Ants", "Kim", 1)
    be_screen(browser, 1366, 768)
    browser.get(event.url)
    wait_text(browser, "last-text", "Look at session 1")
    wait_text(browser, "arm", "Arm session 2")
    for part in ("seen", "seen", "arm", "arm"):
        browser.execute_script(f"document.getElementById('{part}').click()")
    wait_text(browser, "state", "ARMED")
    wait_text(browser, "last-text", "Last: session 1")
    assert "" == text_of(browser, "refusal")
    assert 2 == len(all_sessions(event.contest.database.connection))


@pytest.mark.parametrize("event", [2], indirect=True)
def test_the_large_button_leads_from_team_to_team(event: Event, browser: webdriver.Chrome) -> None:
    """New session, Arm, wait, Acknowledge, the next team: each lane shows one of them, large."""
    set_order(event.contest, ["Wasps", "Ants", LATIN, JAPANESE, ARABIC], "", "Kim")
    large = "return [...document.querySelectorAll('.step-act')].map((one) => one.textContent)"
    be_screen(browser, 1366, 768)
    browser.get(event.url)
    wait_text(browser, "step-text", "Wasps is next.")
    wait_text(browser, "step-text-2", "Ants is next.")
    assert ["New session", "New session"] == browser.execute_script(large)
    press(browser, "begin")
    wait_text(browser, "arm", "Arm")
    press(browser, "arm")
    wait_text(browser, "state", "ARMED")
    assert ["New session"] == browser.execute_script(large)
    event.desk.begin("Wasps", "10.0.0.2", 1)
    wait_text(browser, "state-text", "There is nothing to do.")
    judge(event, 1, "VALID", 0.01)
    wait_text(browser, "seen", "Acknowledge")
    assert ["Acknowledge", "New session"] == browser.execute_script(large)
    press(browser, "seen")
    wait_text(browser, "step-text", "is next.")
    assert ["New session", "New session"] == browser.execute_script(large)
