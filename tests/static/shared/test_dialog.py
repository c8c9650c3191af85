# SPDX-License-Identifier: Apache-2.0
"""The one dialog of the operators' pages: what it answers, refuses, and how it is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

OPEN = """
const [asked, refusal, done] = arguments;
import("/static/shared/dialog.js").then(({ openDialog }) => {
  const refused = ({ name }) => (name === "wrong" ? refusal : "");
  window.answered = openDialog({ ...asked, refused });
  done();
});
"""
FIELDS = [{"name": "name", "label": "Name"}, {"name": "rest", "label": "Rest", "optional": True}]
NUMBER = {"name": "seconds", "label": "Seconds", "type": "number", "value": 60}

Open = Callable[..., webdriver.Chrome]


@pytest.fixture
def opened(one_chromium: webdriver.Chrome, address: str) -> Open:
    """Return what opens a dialog on the page of the parts."""

    def opens(**asked: Any) -> webdriver.Chrome:
        one_chromium.get(f"{address}parts")
        asked = {"text": "Do it?", "yes": "Do it"} | asked
        one_chromium.execute_async_script(OPEN, asked, "Not that name.")
        return one_chromium

    return opens


def answer(browser: webdriver.Chrome) -> Any:
    """Return what the dialog answers, or 'open'.

    A dialog is closed at once, but its page learns of that in a task of its own, which may come
    after any timer. So the answer of a closed one is awaited, and that of one that opens again.
    """
    return browser.execute_async_script("""
        const [done] = arguments;
        const dialog = document.getElementById("confirm");
        const look = () => {
          if (dialog.open) done("open");
          else if (dialog.isConnected) setTimeout(look);
        };
        window.answered.then(done);
        if (dialog) look();
    """)


def types(browser: webdriver.Chrome, *keys: str) -> None:
    """Type where the focus is."""
    ActionChains(browser).send_keys(*keys).perform()


def missing(browser: webdriver.Chrome) -> str:
    """Return what the dialog says is wrong."""
    return browser.find_element(By.ID, "confirm-missing").text


def test_it_answers_the_texts_and_the_numbers(opened: Open) -> None:
    """Blanks around a text go; a field that may be empty is."""
    browser = opened(fields=[*FIELDS, NUMBER])
    types(browser, "  Kim ", Keys.ENTER)
    assert {"name": "Kim", "rest": "", "seconds": 60} == answer(browser)
    assert not browser.find_elements(By.ID, "confirm")


def test_what_is_missing_is_named_until_somebody_types(opened: Open) -> None:
    """Blanks alone are nothing, and so is a number that is none."""
    browser = opened(fields=[*FIELDS, NUMBER])
    types(browser, "  ", Keys.ENTER)
    assert ("open", "Please fill in: Name.") == (answer(browser), missing(browser))
    types(browser, "K")
    assert "" == missing(browser)
    browser.find_element(By.NAME, "seconds").clear()
    types(browser, Keys.ENTER)
    browser.find_element(By.ID, "confirm-yes").click()
    assert ("open", "Please fill in: Seconds.") == (answer(browser), missing(browser))


def test_a_refusal_is_said_and_the_dialog_stays(opened: Open) -> None:
    """What was typed stays, marked for the next try."""
    browser = opened(fields=FIELDS[:1])
    types(browser, "wrong", Keys.ENTER)
    assert ("open", "Not that name.") == (answer(browser), missing(browser))
    types(browser, "Kim", Keys.ENTER)
    assert {"name": "Kim"} == answer(browser)


@pytest.mark.parametrize(("no", "left"), [("Leave it", None), ("", "open")])
def test_escape_leaves_it_unless_nothing_goes_on_without_it(
    opened: Open, no: str, left: str | None
) -> None:
    """A login has no other end than a login."""
    browser = opened(no=no)
    types(browser, Keys.ESCAPE)
    assert left == answer(browser)


def test_a_double_click_does_not_answer_it(opened: Open) -> None:
    """Its second click is for the button that opened the dialog."""
    browser = opened()
    button = browser.find_element(By.ID, "confirm-yes")
    click = "arguments[0].dispatchEvent(new MouseEvent('click', {detail: arguments[1], "
    click += "bubbles: true, cancelable: true}))"
    browser.execute_script(click, button, 2)
    assert "open" == answer(browser)
    browser.execute_script(click, button, 1)
    assert {} == answer(browser)
