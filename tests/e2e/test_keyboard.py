# SPDX-License-Identifier: Apache-2.0
"""An event by the keyboard alone: from the first team to final results, without a pointer."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from referee.store.sessions import all_sessions
from tests.support.browsing import be_screen, text_of, wait_text
from tests.support.lane_console import lanes_event
from tests.support.running import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TABS_MOST = 120
FOCUSED = "const at = document.activeElement; return at.id || at.getAttribute('aria-label')"
SEEN = """
const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
"""


class Keyboard:
    """The keys of a person who has no pointer: Tab, Enter, blank, arrows and letters."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def type(self, *keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(*keys)

    def reach(self, element: str) -> None:
        """Press Tab until the focus is there, and see that it shows."""
        for _ in range(TABS_MOST):
            if element == self.browser.execute_script(FOCUSED):
                assert self.browser.execute_script(SEEN), f"nobody sees the focus on {element}"
                return
            self.type(Keys.TAB)
        raise AssertionError(f"no Tab reaches {element}")

    def press(self, element: str) -> None:
        """Reach a button when it can be pressed, and press it."""
        eventually(
            lambda: (
                self.browser.find_element(By.ID, element).is_enabled()
                and self.browser.find_element(By.ID, element).is_displayed()
            ),
            element,
        )
        self.reach(element)
        self.type(Keys.ENTER)

    def fill(self, **fields: str) -> None:
        """Fill in the dialog's fields by their names, and agree."""
        for name, text in fields.items():
            for _ in range(TABS_MOST):
                focused = self.browser.switch_to.active_element
                if name == focused.get_attribute("name"):
                    break
                focused.send_keys(Keys.TAB)
            else:
                raise AssertionError(f"no Tab reaches the field {name}")
            self.type(text)
        self.press("confirm-yes")
        eventually(lambda: not self.browser.find_elements(By.CSS_SELECTOR, "dialog"), "an end")


def test_an_event_is_run_without_a_pointer(tmp_path: Path, browser: webdriver.Chrome) -> None:
    """Register, withdraw, choose, begin, arm, stop, acknowledge, approve: each shows its focus."""
    be_screen(browser, 1366, 681)
    keys = Keyboard(browser)
    with lanes_event(tmp_path, 1, "emulated", "فريق 7") as event:
        browser.get(f"{event.url}/teams")
        wait_text(browser, "teams", "فريق 7")
        keys.press("add")
        keys.fill(team="Busy Bees", operator="Kim")
        wait_text(browser, "teams", "Busy Bees")
        for name in ("More for فريق 7", "Withdraw فريق 7"):
            keys.reach(name)
            keys.type(Keys.ENTER)
        keys.fill(reason="no device")
        wait_text(browser, "teams", "no device")

        browser.get(event.url)
        wait_text(browser, "team", "Busy Bees")
        keys.reach("team")
        keys.type("Busy")
        keys.press("create")
        wait_text(browser, "session-title", "Busy Bees")
        keys.press("arm")
        wait_text(browser, "state", "ARMED")
        event.desk.begin("Busy Bees", "10.0.0.2", 1)
        wait_text(browser, "state", "RUNNING")
        (session,) = all_sessions(event.contest.database.connection)
        event.answer(session.session_id, range(1, 5))
        keys.press("stop")
        keys.fill()
        event.settle(session.session_id)
        event.judge(session.session_id, "VALID", 0.1)
        wait_text(browser, "verdict", "VALID")
        keys.press("seen")
        eventually(
            lambda: not browser.find_element(By.ID, "seen").is_displayed(), "the result seen"
        )

        browser.get(f"{event.url}/results")
        wait_text(browser, "entries", "Busy Bees")
        keys.press("finalize")
        keys.fill(approvers="Kim")
        wait_text(browser, "state", "FINAL")
        assert "Kim" in text_of(browser, "state-text")
        browser.get("about:blank")
