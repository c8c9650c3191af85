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

from tests.support.browsing import wait_text

pytestmark = pytest.mark.browser

OPEN = """
const [asked, refusal, done] = arguments;
(async () => {
  const { openDialog } = await import("/static/shared/dialog.js");
  const { world } = await import("/tests/static/world.js");
  if (asked.clock) window.clock = world();
  window.asked = 0;
  const refused = ({ name }) => {
    window.asked += 1;
    if (name === "slow") return new Promise((finish) => { window.finish = finish; });
    return name === "wrong" ? refusal : "";
  };
  window.answered = openDialog({ ...asked, refused });
})().then(done);
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


def is_open(browser: webdriver.Chrome) -> bool:
    """Tell whether the dialog is there."""
    return bool(browser.find_elements(By.CSS_SELECTOR, "dialog[open]"))


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


def test_a_refusal_is_said_and_the_dialog_keeps_its_texts(opened: Open) -> None:
    """The sentence is read aloud in the dialog, and the field that was used has the focus again."""
    browser = opened(fields=[NUMBER, *FIELDS])
    browser.find_element(By.NAME, "name").send_keys("wrong", Keys.ENTER)
    assert ("open", "Not that name.") == (answer(browser), missing(browser))
    assert "alert" == browser.find_element(By.ID, "confirm-missing").get_attribute("role")
    assert "wrong" == browser.find_element(By.NAME, "name").get_property("value")
    types(browser, " one", Keys.ENTER)
    assert {"seconds": 60, "name": "wrong one", "rest": ""} == answer(browser)


def test_a_refused_password_is_typed_over(opened: Open) -> None:
    """Nobody sees what is wrong with it, so the next letter takes its place."""
    browser = opened(fields=[{"name": "name", "label": "Password", "type": "password"}])
    types(browser, "wrong", Keys.ENTER)
    assert "Not that name." == missing(browser)
    types(browser, "right", Keys.ENTER)
    assert {"name": "right"} == answer(browser)


def test_no_field_cuts_a_text(opened: Open) -> None:
    """What is too long is the desk's to say: a text that is cut is another one."""
    browser = opened(fields=FIELDS[:1])
    types(browser, "x" * 250, Keys.ENTER)
    assert {"name": "x" * 250} == answer(browser)


@pytest.mark.parametrize(
    ("fields", "focused"),
    [
        (FIELDS, "name"),
        ([NUMBER, *FIELDS], "seconds"),
        ([{"name": "kind", "label": "Kind", "choices": [["a", "A"]]}, FIELDS[0]], "kind"),
        ([], None),
    ],
)
def test_the_first_field_has_the_focus(
    opened: Open, fields: list[Any], focused: str | None
) -> None:
    """A field that is filled in, too; without a field no button has the focus, but the question."""
    focus = opened(fields=fields).switch_to.active_element
    if focused is None:
        assert "confirm-text" == focus.get_attribute("id")
    else:
        assert focused == focus.get_attribute("name")


@pytest.mark.parametrize("fields", [[], [NUMBER]])
def test_a_key_that_was_pressed_too_early_answers_nothing(opened: Open, fields: list[Any]) -> None:
    """Enter and the blank, before anything was typed, leave the dialog open; the button answers."""
    browser = opened(fields=fields)
    types(browser, Keys.ENTER, Keys.SPACE, Keys.ENTER)
    assert "open" == answer(browser)
    types(browser, Keys.TAB, Keys.TAB, Keys.ENTER)
    assert {one["name"]: 60 for one in fields} == answer(browser)


def test_enter_before_anything_is_typed_says_what_to_press(opened: Open) -> None:
    """A dialog that is filled in already does not seem dead."""
    browser = opened(fields=[NUMBER])
    types(browser, Keys.ENTER)
    assert "Nothing is done yet. Press “Do it”." == missing(browser)
    types(browser, "0", Keys.ENTER)
    assert {"seconds": 600} == answer(browser)


def test_a_letter_that_is_still_composed_answers_nothing(opened: Open) -> None:
    """Enter ends a word of Japanese or Chinese before it ends a line."""
    browser = opened(fields=FIELDS[:1])
    types(browser, "Kim")
    browser.execute_script(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"
    )
    assert "open" == answer(browser)


def test_it_stays_open_until_the_answer(opened: Open) -> None:
    """Neither a button nor Escape closes it while the desk is asked, and it asks once."""
    browser = opened(fields=FIELDS[:1])
    types(browser, "slow", Keys.ENTER, Keys.ENTER)
    browser.find_element(By.ID, "confirm-yes").click()
    browser.find_element(By.ID, "confirm-no").click()
    types(browser, Keys.ESCAPE, Keys.ESCAPE)
    assert "open" == answer(browser)
    browser.execute_script("window.finish('Too late.')")
    wait_text(browser, "confirm-missing", "Too late.")
    assert 1 == browser.execute_script("return window.asked")
    types(browser, Keys.ENTER)
    browser.execute_script("window.finish('')")
    assert {"name": "slow"} == answer(browser)


def test_a_desk_that_does_not_answer_keeps_nobody_in_it(opened: Open) -> None:
    """After some seconds a sentence says so, and the dialog can be closed."""
    browser = opened(clock=True, fields=FIELDS[:1])
    types(browser, "slow", Keys.ENTER)
    browser.execute_async_script("window.clock.pass(4900).then(arguments[0])")
    types(browser, Keys.ESCAPE)
    assert ("", True) == (missing(browser), is_open(browser))
    browser.execute_async_script("window.clock.pass(200).then(arguments[0])")
    assert missing(browser).startswith("The desk has not answered yet.")
    types(browser, Keys.ESCAPE)
    assert None is browser.execute_async_script("window.answered.then(arguments[0])")
    browser.execute_script("window.finish('')")


@pytest.mark.parametrize(("no", "left"), [("Cancel", None), ("", "open")])
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
