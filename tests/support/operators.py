# SPDX-License-Identifier: Apache-2.0
"""Somebody at the console's pages in a real browser: what an operator presses, types and reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.browsing import be_screen, choose, press, text_of, wait_text
from tests.support.running import PATIENCE_S


def wait(browser: webdriver.Chrome, true: Callable[[], object], what: str) -> None:
    """Wait until something is true; what the page draws anew meanwhile is looked at again."""
    redrawn = [StaleElementReferenceException]
    WebDriverWait(browser, PATIENCE_S, 0.1, redrawn).until(lambda driver: true(), what)


def click(browser: webdriver.Chrome, spoken: str) -> None:
    """Press the button that a screen reader calls this."""
    found = f"button[aria-label='{spoken}']"
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, found), spoken)
    button = browser.find_element(By.CSS_SELECTOR, found)
    browser.execute_script("arguments[0].closest('details')?.setAttribute('open', '')", button)
    button.click()


def answer(browser: webdriver.Chrome, yes: str, **texts: str) -> None:
    """Fill in the open dialog and press its button."""
    dialog = browser.find_element(By.CSS_SELECTOR, "dialog[open]")
    for name, text in texts.items():
        field = dialog.find_element(By.NAME, name)
        field.clear()
        field.send_keys(text)
    dialog.find_element(By.XPATH, f".//button[.='{yes}']").click()


def types(browser: webdriver.Chrome, *keys: str) -> None:
    """Type where the focus is."""
    ActionChains(browser).send_keys(*keys).perform()


def part_of(part: str, lane: int) -> str:
    """Return the id of a part of a lane's card."""
    return part if lane == 1 else f"{part}-{lane}"


class Operator:
    """A person who has logged in at the console of an event, in a browser of their own."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser, self.url = browser, url

    def log_in(self, name: str, password: str) -> None:
        """Log in by name at the page to which the console leads."""
        self.browser.get(self.url)
        wait(self.browser, lambda: "/login" in self.browser.current_url, "the login page")
        self.browser.find_element(By.NAME, "name").send_keys(name)
        self.browser.find_element(By.NAME, "password").send_keys(f"{password}\n")
        wait(self.browser, lambda: self.browser.current_url == f"{self.url}/", "the console")
        self.sees("person", name)
        self.sees("connection", "live")

    def goes_to(self, page: str) -> None:
        """Follow a link of the pages' head, as 'Results'."""
        self.browser.find_element(By.LINK_TEXT, page).click()
        self.sees("connection", "live")

    def sees(self, part: str, text: str, lane: int = 1) -> None:
        """Wait until a part of the page, or of a lane's card, shows a text."""
        wait_text(self.browser, part_of(part, lane), text)

    def text(self, part: str, lane: int = 1) -> str:
        """Return what a part of the page, or of a lane's card, shows."""
        return text_of(self.browser, part_of(part, lane))

    def seconds_left(self, lane: int = 1) -> int:
        """Return the time on the clock of a lane's card."""
        minutes, seconds = self.text("clock", lane).split(":")
        return 60 * int(minutes) + int(seconds)

    def asks(self, action: str, lane: int = 1, reason: str = "", seconds: int = 0) -> None:
        """Press a button of a lane's card, fill in its question and say yes."""
        button = part_of(action, lane)
        if not self.browser.find_element(By.ID, button).is_displayed():
            self.browser.find_element(By.CSS_SELECTOR, f"#{part_of('more', lane)} summary").click()
        press(self.browser, button)
        if seconds:
            self.browser.find_element(By.ID, "seconds").clear()
            self.browser.find_element(By.ID, "seconds").send_keys(str(seconds))
        if reason:
            self.browser.find_element(By.ID, "reason").send_keys(reason)
        press(self.browser, "confirm-yes")

    def chosen(self, field: str) -> str:
        """Return the team, or the lane's number, that the page has chosen for the next session."""
        script = f"return document.getElementById('{field}').value"
        return str(self.browser.execute_script(script))

    def calls(self, team: str, lane: int, session: int) -> None:
        """Make the session of the team that the page says is next, and put it on a lane's card."""
        wait(self.browser, lambda: team in self.text("next-team"), f"{team} to be next")
        if self.chosen("lane") != str(lane):
            choose(self.browser, "lane", str(lane))
        if self.chosen("team") != team:
            choose(self.browser, "team", team)
        press(self.browser, "create")
        click(self.browser, f"Show session {session}")
        self.sees("session-title", f"Session {session}: {team}", lane)
        self.sees("state", "READY", lane)

    def arms(self, lane: int) -> None:
        """Arm the session of a lane's card."""
        press(self.browser, part_of("arm", lane))
        self.sees("state", "ARMED", lane)

    def complaints(self) -> list[str]:
        """Return what the browser complained of, but for refusals and a desk that was away."""
        severe = [one for one in self.browser.get_log("browser") if one["level"] == "SEVERE"]
        said = [one["message"] for one in severe]
        return [text for text in said if "ERR_" not in text and "409 (CONFLICT)" not in text]


@dataclass
class People:
    """Kim acts. Sam watches, in another browser, which has the scoreboard in a second window."""

    kim: Operator
    sam: Operator
    window: str

    def audience_sees(self, part: str, text: str) -> None:
        """Wait until the scoreboard shows a text."""
        with self._at_the_scoreboard():
            self.sam.sees(part, text)

    def audience_finds(self, expression: str) -> None:
        """Wait until an expression of the scoreboard's page is true."""
        browser = self.sam.browser
        with self._at_the_scoreboard():
            wait(browser, lambda: browser.execute_script(f"return {expression}"), expression)

    @contextmanager
    def _at_the_scoreboard(self) -> Iterator[None]:
        console = self.sam.browser.current_window_handle
        self.sam.browser.switch_to.window(self.window)
        yield
        self.sam.browser.switch_to.window(console)

    def both_see(self, part: str, text: str, lane: int = 1) -> None:
        """Wait until both consoles show a text."""
        self.kim.sees(part, text, lane)
        self.sam.sees(part, text, lane)


def come_in(
    browsers: tuple[webdriver.Chrome, webdriver.Chrome],
    secrets: dict[str, str],
    console: str,
    audience: str,
) -> People:
    """Log in by name in both browsers, and open the scoreboard in a second window."""
    kim, sam = (Operator(browser, console) for browser in browsers)
    kim.log_in("Kim", secrets["Kim"])
    sam.log_in("Sam", secrets["Sam"])
    first = sam.browser.current_window_handle
    sam.browser.switch_to.new_window("window")
    be_screen(sam.browser, 1366, 768)
    sam.browser.get(f"http://{audience}/")
    window = sam.browser.current_window_handle
    sam.browser.switch_to.window(first)
    return People(kim, sam, window)
