# SPDX-License-Identifier: Apache-2.0
"""Operators at real pages: the login leads back, nothing typed is lost, and the audit is live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from referee.service.people.operators import replace_operator_password
from tests.support.barriers import barriers
from tests.support.browsing import be_screen, choose, press, wait_text
from tests.support.contests import make_contest
from tests.support.doors import Door, post
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.hits import misses_in_fonts, misses_in_windows
from tests.support.operators import click, wait
from tests.support.served import served
from tests.support.shown import as_json

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser(browser: webdriver.Chrome) -> webdriver.Chrome:
    """Return the browser, as large as a small laptop's screen."""
    be_screen(browser, 1366, 768)
    return browser


@pytest.fixture
def door(tmp_path: Path, browser: webdriver.Chrome) -> Iterator[Door]:
    """Return a console with people, open to the browser; `url` is its address."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register("ants", "bees")
        found = Door(event)
        found.register("Kim", "operator")
        found.register("Sam", "assistant")
        with served(found.app) as url:
            found.broadcast.start()
            found.url = url
            yield found
            browser.get("about:blank")
            browser.delete_all_cookies()
            found.broadcast.close()
    contest.database.close()


def shown(browser: webdriver.Chrome, selector: str) -> WebElement:
    """Wait for the first element that fits, and return it."""
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, selector), selector)
    return browser.find_element(By.CSS_SELECTOR, selector)


def type_login(browser: webdriver.Chrome, form: str, name: str, password: str) -> None:
    """Type name and password into a form, and press its button."""
    fields = [shown(browser, f"{form} input[type={kind}]") for kind in ("text", "password")]
    for field, text in zip(fields, (name, password), strict=True):
        field.clear()
        field.send_keys(text)
    shown(browser, f"{form} button[type=submit]").click()


def enter(browser: webdriver.Chrome, door: Door, path: str, name: str) -> None:
    """Open a page, and log in on the way."""
    browser.get(f"{door.url}{path}")
    shown(browser, "#login input").send_keys(name)
    shown(browser, "#login input[type=password]").send_keys(f"{door.secrets[name]}\n")
    wait_text(browser, "person", name)


def test_the_login_says_what_is_wrong_and_leads_back(browser: webdriver.Chrome, door: Door) -> None:
    """After a wrong password the page says so; after the right one it opens what was wanted."""
    browser.get(f"{door.url}/audit?person=Kim")
    wait(browser, lambda: "/login?next=/audit" in browser.current_url, "the login page")
    shown(browser, "#login input").send_keys("kim")
    shown(browser, "#login input[type=password]").send_keys("wrong\n")
    wait_text(browser, "refusal", "Name or password is wrong.")
    assert [] == barriers(browser)
    password = shown(browser, "#login input[type=password]")
    password.clear()
    password.send_keys(f"{door.secrets['Kim']}\n")
    wait_text(browser, "person", "Kim")
    assert browser.current_url == f"{door.url}/audit?person=Kim"


def test_every_point_of_the_login_is_its_own(
    browsers: Mapping[str, webdriver.Chrome], door: Door
) -> None:
    """So is each of the pages that a person sees then, with the button that logs out."""
    wrong = [misses_in_fonts(browsers, f"{door.url}/login", "login", "Log in")]
    for browser in browsers.values():
        be_screen(browser, 1366, 768)
        enter(browser, door, "/audit", "Kim")
        wait_text(browser, "rows", "log in")
        wrong.append(misses_in_windows(browser))
        for path, part, text in (("results", "entries", "ants"), ("teams", "teams", "ants")):
            browser.get(f"{door.url}/{path}")
            wait_text(browser, part, text)
            wrong.append(misses_in_windows(browser))
    assert [] == [found for found in wrong if found]
    be_screen(browsers[next(iter(browsers))], 1366, 768)


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org", "/\\example.org"])
def test_the_login_leads_to_this_console_only(
    browser: webdriver.Chrome, door: Door, elsewhere: str
) -> None:
    """A link that names another site's page after the login ends on the console."""
    enter(browser, door, f"/login?next={elsewhere}", "Kim")
    assert browser.current_url == f"{door.url}/"


def test_nothing_typed_is_lost_when_a_login_ends(browser: webdriver.Chrome, door: Door) -> None:
    """A login that ends while a dialog is open is begun anew there, and the action is done."""
    enter(browser, door, "/teams", "Kim")
    click(browser, "Withdraw bees")
    shown(browser, "dialog[open] input[name=reason]").send_keys("device broken")
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog[open] input[name=operator]")
    _, door.secrets["Kim"] = replace_operator_password(door.contest, "Kim", "boss")
    type_login(browser, "dialog#login", "Kim", "not this one")
    wait(
        browser,
        lambda: "wrong" in browser.find_element(By.CSS_SELECTOR, "dialog#login .missing").text,
        "the refusal",
    )
    type_login(browser, "dialog#login", "Kim", door.secrets["Kim"])
    wait(
        browser,
        lambda: not browser.find_elements(By.CSS_SELECTOR, "dialog#login"),
        "the dialog to go",
    )
    reason = browser.find_element(By.CSS_SELECTOR, "dialog[open] input[name=reason]")
    assert "device broken" == reason.get_property("value")
    shown(browser, "dialog[open] button[type=submit]").click()
    wait(
        browser,
        lambda: browser.find_elements(By.CSS_SELECTOR, "button[aria-label='Return bees']"),
        "the way back",
    )


def test_an_action_after_the_end_of_the_login_is_done_once(
    browser: webdriver.Chrome, door: Door
) -> None:
    """The console asks for a login when somebody acts without one, and then acts."""
    enter(browser, door, "/", "Kim")
    wait_text(browser, "connection", "live")
    choose(browser, "team", "ants")
    door.event.contest.clock.advance(7200)
    press(browser, "create")
    type_login(browser, "dialog#login", "Kim", door.secrets["Kim"])
    wait_text(browser, "session-title", "Session 1")
    assert ["ants"] == [row["team"] for row in as_json(door.board.show())["sessions"]]


def test_an_assistant_is_told_who_may_act(browser: webdriver.Chrome, door: Door) -> None:
    """The buttons of an assistant are those of the table of roles; the others say who may."""
    event = door.event
    number = event.play("ants", verdict="SUSPECT")
    event.begin("bees")
    enter(browser, door, "/", "Sam")
    choose(browser, "team", "ants")
    wait_text(browser, "person", "assistant")
    wait_text(browser, "state", "RUNNING")
    enabled = (
        "return [...document.querySelectorAll('main button')].filter((one) => !one.disabled"
        " && one.checkVisibility() && one.dataset.action).map((one) => one.dataset.action)"
    )
    wait(browser, lambda: browser.execute_script(enabled) == ["seen", "note"], "the two buttons")
    for part in ("stop", "void", "create"):
        assert "Only an operator" in browser.find_element(By.ID, part).get_property("title")
    for page in ("/teams", "/results", "/check"):
        browser.get(f"{door.url}{page}")
        wait_text(browser, "person", "assistant")
        wait_text(browser, "connection", "live")
        assert [] == browser.execute_script(enabled)
    # Who knows the address is refused all the same.
    answer = post(door.visitor("Sam"), f"/sessions/{number + 1}/stop")
    assert (403, "role_forbids") == (answer.status_code, answer.get_json()["code"])


def test_the_audit_is_live_and_can_be_filtered(browser: webdriver.Chrome, door: Door) -> None:
    """A new action appears by itself; the filters leave what fits, and stay in the address."""
    enter(browser, door, "/audit", "Kim")
    wait_text(browser, "rows", "log in")
    post(door.visitor("Sam"), "/sessions", team="ants")
    wait_text(browser, "rows", "only an operator may do this")
    shown(browser, "#filters input[name=person]").send_keys("kim")
    wait(browser, lambda: "Sam" not in browser.find_element(By.ID, "rows").text, "the filter")
    assert browser.current_url.endswith("/audit?person=kim")
    press(browser, "all")
    wait_text(browser, "rows", "Sam")


def test_another_filter_of_the_audit_begins_with_the_newest_lines(
    browser: webdriver.Chrome, door: Door
) -> None:
    """Who has asked for older lines gets as few as at first when the filter changes."""
    enter(browser, door, "/audit", "Kim")
    wait_text(browser, "rows", "log in")
    asked = (
        "return performance.getEntriesByType('resource').map((one) => new URL(one.name))"
        ".filter((one) => one.pathname.endsWith('/now'))"
        ".map((one) => `${one.searchParams.get('person')} ${one.searchParams.get('count')}`)"
    )
    browser.execute_script("document.getElementById('older').click()")
    wait(browser, lambda: "null 1200" in browser.execute_script(asked), "older lines")
    shown(browser, "#filters input[name=person]").send_keys("k")
    wait(browser, lambda: "k 200" in browser.execute_script(asked), "the newest lines")
    assert "k 1200" not in browser.execute_script(asked)


def test_heads_of_the_audit_are_whole_words_beside_a_long_line(
    browser: webdriver.Chrome, door: Door
) -> None:
    """An alarm's sentences in the log break no word of the table's head."""
    enter(browser, door, "/audit", "Kim")
    wait_text(browser, "rows", "log in")
    browser.execute_script(
        "document.querySelector('#rows td:nth-child(4)').textContent = 'The meter '.repeat(90)"
    )
    lines = (
        "return [...document.querySelectorAll('th')].map((head) => {"
        "const text = document.createRange(); text.selectNodeContents(head);"
        "return `${head.textContent} ${text.getClientRects().length}`; })"
    )
    heads = browser.execute_script(lines)
    assert {"who 1", "action 1", "about 1", "reason 1", "result 1"} <= set(heads), heads


def test_log_out(browser: webdriver.Chrome, door: Door) -> None:
    """After a logout every page leads to the login again."""
    enter(browser, door, "/results", "Kim")
    shown(browser, "#person button").click()
    wait(browser, lambda: browser.current_url.endswith("/login"), "the login page")
    browser.get(f"{door.url}/results")
    wait(browser, lambda: "/login?next=/results" in browser.current_url, "the login page")
