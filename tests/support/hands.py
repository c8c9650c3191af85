# SPDX-License-Identifier: Apache-2.0
"""What acts on a page as a person does: a mouse alone, or a keyboard alone."""

from __future__ import annotations

from contextlib import suppress

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.running import PATIENCE_S

_MOST_TABS = 200
_MOST_TRIES = 5

# The middle of an element lies in the window, and nothing lies over it.
_AT_HAND = """
const box = arguments[0].getBoundingClientRect();
const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
return arguments[0].contains(at);
"""
_SCROLL = "arguments[0].scrollIntoView({block: 'center'})"

# Whether what has the focus is uncovered, and shows that it has it; null if it is another element.
_FOCUS = """
const at = document.activeElement;
if (!at.matches(arguments[0])) return null;
const box = at.getBoundingClientRect();
const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
const marked = at.matches(":focus-visible") && getComputedStyle(at).outlineStyle !== "none";
return [at.contains(top), marked];
"""


class Hand:
    """Somebody at a page, who finds its parts by CSS selectors."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def found(self, selector: str) -> WebElement:
        """Wait until the page shows and allows an element, and return it."""
        script = "return [...document.querySelectorAll(arguments[0])]"
        script += ".find((one) => one.checkVisibility() && !one.disabled)"
        found: WebElement = WebDriverWait(self.browser, PATIENCE_S, 0.1).until(
            lambda driver: driver.execute_script(script, selector), f"{selector} to be there"
        )
        return found

    def presses(self, selector: str) -> None:
        """Press a button, or follow a link."""
        raise NotImplementedError

    def writes(self, selector: str, text: str) -> None:
        """Write into a field, in place of what stands there."""
        raise NotImplementedError

    def chooses(self, selector: str, text: str) -> None:
        """Choose an entry of a list by the first letters of its text."""
        raise NotImplementedError

    def _types(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def _replaces(self, text: str) -> None:
        everything = ActionChains(self.browser).key_down(Keys.CONTROL).send_keys("a")
        everything.key_up(Keys.CONTROL).send_keys(text).perform()


class Mouse(Hand):
    """A mouse scrolls until it sees what it wants, and clicks; text needs keys all the same."""

    def presses(self, selector: str) -> None:
        """Click in the middle of it: the driver refuses where something lies over it."""
        for _ in range(_MOST_TRIES):
            # The page has just built it anew, or it has moved since this hand saw it.
            with suppress(StaleElementReferenceException, ElementClickInterceptedException):
                element = self.found(selector)
                if not self.browser.execute_script(_AT_HAND, element):
                    self.browser.execute_script(_SCROLL, element)
                element.click()
                return
        raise AssertionError(f"{selector} never stays, or something lies over it")

    def writes(self, selector: str, text: str) -> None:
        """Click into the field and write."""
        self.presses(selector)
        self._replaces(text)

    def chooses(self, selector: str, text: str) -> None:
        """Click on the entry: the list that opens is the browser's own."""
        entry = f".//option[starts-with(normalize-space(), '{text}')]"
        self.found(selector).find_element(By.XPATH, entry).click()


class Keyboard(Hand):
    """A keyboard goes on by Tab, and must see where it is."""

    def presses(self, selector: str) -> None:
        """Go to it and press Enter."""
        self._goes_to(selector)
        self._types(Keys.ENTER)

    def writes(self, selector: str, text: str) -> None:
        """Go to the field and write."""
        self._goes_to(selector)
        self._replaces(text)

    def chooses(self, selector: str, text: str) -> None:
        """Go to the list and type the first letters."""
        self._goes_to(selector)
        self._types(text)

    def _goes_to(self, selector: str) -> None:
        """Press Tab until the focus is there: it must be seen, and nothing may lie over it."""
        self.found(selector)
        for _ in range(_MOST_TABS):
            # The page may build it anew at any time, so it is looked for by its name.
            seen = self.browser.execute_script(_FOCUS, selector)
            if seen is not None:
                assert seen == [True, True], f"{selector}: uncovered and marked are {seen}"
                return
            self._types(Keys.TAB)
        raise AssertionError(f"Tab never comes to {selector}")
