# SPDX-License-Identifier: Apache-2.0
"""The console of two lanes on a small laptop's screen, and what stays until it is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.core.states import EndCause
from referee.service.teams.order import set_order
from referee.service.teams.registration_changes import amend, withdraw
from referee.store.annotations import annotations_of
from referee.store.sessions import all_sessions, load_session
from tests.support.browsing import (
    be_screen,
    choose,
    press,
    text_of,
    wait_text,
)
from tests.support.events import Event
from tests.support.fakes import eventually
from tests.support.fitting import misfits
from tests.support.lane_console import LONG, begin, lanes_event
from tests.support.operators import wait

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# What must be read and pressed at once, and does not lie above the foot of the page.
BELOW = """
const foot = document.getElementById("page").getBoundingClientRect().bottom;
const parts = [...document.querySelectorAll(".lane :is(.clock, .step-act, [data-id=power])")];
const low = parts.filter((part) => part.checkVisibility()
  && part.getBoundingClientRect().bottom > foot);
return [parts.length >= arguments[0], ...low.map((part) => part.id)];
"""


@pytest.fixture(scope="module")
def browser(browser: webdriver.Chrome) -> webdriver.Chrome:
    """Return the browser, as large as a small laptop's screen."""
    be_screen(browser, 1366, 768)
    return browser


@pytest.fixture
def event(
    tmp_path: Path, browser: webdriver.Chrome, request: pytest.FixtureRequest
) -> Iterator[Event]:
    """Return an event of two lanes, or as many as asked for, whose console the browser may open."""
    with lanes_event(tmp_path, *getattr(request, "param", (2,))) as found:
        yield found
        browser.get("about:blank")


def test_two_lanes_fit_a_small_screen(event: Event, browser: webdriver.Chrome) -> None:
    """Clock, watts and step of both cards stand on it, with an alarm and an unseen result."""
    first = begin(event, "ants", 1)
    event.desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    event.settle(first)
    event.meter.lost = True
    begin(event, "bees", 2)
    browser.get(event.url)
    wait_text(browser, "session-title-2", "bees")
    wait_text(browser, "state-2", "RUNNING")
    wait_text(browser, "last-text", f"Look at session {first} of ants")
    wait_text(browser, "alarm-text", "Lane left: The power meter")
    assert "Lane right" not in text_of(browser, "alarm-text")
    assert ("lost", "ok") == (text_of(browser, "link"), text_of(browser, "link-2"))
    assert [True] == browser.execute_script(BELOW, 4)
    assert [] == misfits(browser)
    event.meter.lost = False


@pytest.mark.parametrize("event", [(4,)], indirect=True)
def test_four_lanes_fit_a_small_screen(event: Event, browser: webdriver.Chrome) -> None:
    """Clock, watts and step of four cards stand on it, with an alarm that is said once."""
    for lane, team in enumerate(("ants", "bees", LONG, "wasps"), 1):
        begin(event, team, lane)
    for meter in event.meters[1:3]:
        meter.lost = True
    browser.get(event.url)
    wait_text(browser, "state-4", "RUNNING")
    wait_text(browser, "alarm-text", "Lanes right, back: The power meter is lost")
    assert [True] == browser.execute_script(BELOW, 8)
    assert [] == misfits(browser)
    for meter in event.meters:
        meter.lost = False


def test_results_that_nobody_has_seen_are_counted(event: Event, browser: webdriver.Chrome) -> None:
    """The oldest is named, with how many more there are; one alone is no number."""
    for team in ("ants", "bees", "wasps"):
        session = begin(event, team, 1)
        event.desk.steps_of(session).end(session, EndCause.STOP, "Kim")
        event.settle(session)
    browser.get(event.url)
    wait_text(browser, "last-text", "Look at session 1 of ants")
    assert text_of(browser, "last-text").endswith(". 2 more to see.")
    assert "unseen-result" in str(browser.find_element(By.ID, "last").get_attribute("class"))
    press(browser, "seen")
    wait(browser, lambda: text_of(browser, "last-text").endswith(". 1 more to see."), "one more")
    press(browser, "seen")
    wait_text(browser, "last-text", "Look at session 3")
    assert "more to see" not in text_of(browser, "last-text")
    press(browser, "seen")
    wait_text(browser, "last-text", "Last: session 3")
    assert "unseen-result" not in str(browser.find_element(By.ID, "last").get_attribute("class"))


IN_THE_WAY = """
const alarm = document.getElementById("alarm");
const box = alarm.getBoundingClientRect();
const found = [];
for (let x = 5; x < innerWidth; x += 20) for (let y = box.top + 1; y < innerHeight; y += 6) {
  const at = document.elementFromPoint(x, y);
  if (!alarm.contains(at)) found.push(at.id || at.tagName);
}
return [...new Set(found)];
"""


@pytest.mark.parametrize("event", [(4, "emulated")], indirect=True)
def test_four_lanes_in_a_low_window(event: Event, browser: webdriver.Chrome) -> None:
    """Nothing lies over the red bar, each name can be read, and New session can be pressed."""
    for lane, team in enumerate(("ants", "bees", LONG, "wasps"), 1):
        begin(event, team, lane)
    event.meters[1].lost = True
    be_screen(browser, 1366, 681)
    browser.get(event.url)
    wait_text(browser, "state-4", "RUNNING")
    wait_text(browser, "alarm-text", "Lane right: The power meter is")
    wait_text(browser, "emulated-3", "EMULATED")
    assert [] == browser.execute_script(IN_THE_WAY)
    assert browser.find_element(By.ID, "session-title-3").rect["width"] >= 170
    assert "127.0.0.1:8030" == text_of(browser, "address-3")
    choose(browser, "team", "ants")
    press(browser, "create")
    wait_text(browser, "confirm-text", "is RUNNING")
    press(browser, "confirm-no")
    event.meters[1].lost = False
    be_screen(browser, 1366, 768)


def test_each_table_sees_its_next_team(event: Event, browser: webdriver.Chrome) -> None:
    """A lane chooses its next team; a team that is bound to the other lane is refused in words."""
    amend(event.contest, "bees", lambda old: replace(old, lane="left"), "needs 120 V", "Kim")
    set_order(event.contest, ["ants", "bees", "wasps"], "", "Kim")
    browser.get(event.url)
    wait_text(browser, "next-team", "Next in lane left: bees · right: ants")
    assert ["1", "bees"] == chosen(browser)
    choose(browser, "lane", "2")
    assert ["2", "ants"] == chosen(browser)
    assert "'bees' runs only in lane left. 'ants' is next in lane right and is now chosen." == (
        text_of(browser, "refusal")
    )
    choose(browser, "team", "bees")
    wait_text(browser, "refusal", "'bees' runs only in lane left.")
    press(browser, "create")
    wait_text(browser, "refusal", "'bees' runs in lane 'left' only")
    assert [] == all_sessions(event.contest.database.connection)


def chosen(browser: webdriver.Chrome) -> list[str]:
    """Return the lane's number and the team that are chosen for the next session."""
    script = "return [...document.querySelectorAll('#lane, #team')].map((one) => one.value).sort()"
    return list(browser.execute_script(script))


def test_the_team_that_was_chosen_gets_the_session(event: Event, browser: webdriver.Chrome) -> None:
    """A team stays chosen when the lane is chosen after it, whoever is next there."""
    set_order(event.contest, ["ants", "bees", "wasps"], "", "Kim")
    browser.get(event.url)
    wait_text(browser, "next-team", "Next in lane left: ants · right: bees")
    choose(browser, "team", "wasps")
    choose(browser, "lane", "2")
    # The running order moves on under the operator's hand.
    withdraw(event.contest, "ants", "no device", "Kim")
    wait_text(browser, "next-team", "Next in lane left: bees · right: wasps")
    assert ["2", "wasps"] == chosen(browser)
    press(browser, "create")
    wait_text(browser, "session-title-2", "Session 1: wasps")
    # Now the order proposes again, and what is proposed stays with another lane too.
    wait(browser, lambda: chosen(browser) == ["1", "bees"], "the next team")
    choose(browser, "lane", "2")
    assert ["2", "bees"] == chosen(browser)


def test_nobody_is_chosen_where_nobody_is_next(event: Event, browser: webdriver.Chrome) -> None:
    """Without a running order somebody chooses; a team whose result counts is asked about."""
    first = begin(event, "ants", 1)
    event.desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    event.settle(first)
    begin(event, "bees", 2)
    browser.get(event.url)
    wait_text(browser, "team", "ants – has run")
    wait_text(browser, "team", "bees – RUNNING in lane right")
    assert ["", "1"] == chosen(browser)
    assert not browser.find_element(By.ID, "create").is_enabled()
    choose(browser, "team", "ants")
    press(browser, "create")
    wait_text(browser, "confirm-text", f"Session {first} of 'ants' is over, and its result counts.")
    press(browser, "confirm-no")
    assert 2 == len(all_sessions(event.contest.database.connection))
    press(browser, "create")
    press(browser, "confirm-yes")
    wait_text(browser, "in-line-text", "session 3 of ants")
    choose(browser, "team", "wasps")
    press(browser, "create")
    wait_text(browser, "sessions", "wasps")
    assert not browser.find_elements(By.ID, "confirm")


def test_an_operator_acts_in_the_second_lane(event: Event, browser: webdriver.Chrome) -> None:
    """New session, extra time, arm and re-run happen in the lane that was chosen, on record."""
    browser.get(event.url)
    wait_text(browser, "session-title-2", "No session yet")
    choose(browser, "team", "ants")
    choose(browser, "lane", "2")
    press(browser, "create")
    wait_text(browser, "state-2", "READY")
    assert "No session yet" == text_of(browser, "session-title")
    browser.find_element(By.CSS_SELECTOR, "#more-2 summary").click()
    press(browser, "extra-2")
    browser.find_element(By.ID, "reason").send_keys("a late start")
    press(browser, "confirm-yes")
    wait_text(browser, "clock-2", "11:00")
    press(browser, "arm-2")
    wait_text(browser, "state-2", "ARMED")
    press(browser, "rerun-2")
    browser.find_element(By.ID, "reason").send_keys("wrong device")
    press(browser, "confirm-yes")
    wait_text(browser, "session-title-2", "Session 2")
    wait_text(browser, "sessions", "wrong device")
    assert 2 == load_session(event.contest.database.connection, 2).lane


def test_a_result_stays_until_somebody_has_seen_it(event: Event, browser: webdriver.Chrome) -> None:
    """It comes back after a reload and across the next session, until it is acknowledged."""
    first = begin(event, "ants", 1)
    event.desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    event.settle(first)
    browser.get(event.url)
    wait_text(browser, "last-text", f"Look at session {first}")
    number = event.desk.new_session("bees", "Kim", 1)
    event.desk.steps_of(number).arm(number, "Kim")
    wait_text(browser, "session-title", "bees")
    browser.refresh()
    wait_text(browser, "last-text", f"Look at session {first}")
    press(browser, "seen")
    wait_text(browser, "last-text", f"Last: session {first}")
    annotations = annotations_of(event.contest.database.connection, first)
    assert ["seen"] == [annotation.kind for annotation in annotations]
    browser.refresh()
    wait_text(browser, "last-text", f"Last: session {first}")
    assert not browser.find_element(By.ID, "seen").is_displayed()
    eventually(lambda: not event.desk.lanes[1].live())
