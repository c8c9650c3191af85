# SPDX-License-Identifier: Apache-2.0
"""The focus after a dialog, and keys that somebody types where no field is."""

from __future__ import annotations

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

PAGE = """
<main><section><h2 id="title">Teams</h2><table><tr><td id="row"></td></tr></table>
<p><input id="field"></p></section></main>
"""
MENU = """<details class="menu" open><summary data-key="More ants" id="more">More</summary>
<button id="opener" data-key="Rename ants">Rename</button></details>"""
BUTTON = '<button id="opener" data-key="Rename ants">Rename</button>'

# Take the way back after something has happened to the page, and tell where it leads.
GO = """
document.body.innerHTML = a[0];
document.getElementById("row").innerHTML = a[1];
const opener = document.getElementById("opener");
opener.focus();
const back = m.wayBack();
document.getElementById("field").focus();
new Function("opener", a[2])(opener);
document.activeElement.blur();
m.backIfLost(back);
return document.activeElement.id;
"""


@pytest.mark.parametrize(
    ("row", "happens", "found"),
    [
        (BUTTON, "", "opener"),
        (BUTTON, "opener.outerHTML = opener.outerHTML.replace('opener', 'again')", "again"),
        (BUTTON, "opener.remove()", "title"),
        (BUTTON, "opener.disabled = true", "title"),
        (BUTTON, "opener.hidden = true", "title"),
        (BUTTON, "opener.closest('section').remove()", "body"),
        (MENU, "opener.parentElement.open = false", "more"),
        (MENU, "const m = opener.parentElement; m.open = false; "
         "m.outerHTML = m.outerHTML.replace('\"more\"', '\"again\"')", "again"),
    ],
)  # fmt: skip
def test_the_focus_comes_back(fresh: Scripts, row: str, happens: str, found: str) -> None:
    """It comes to the opener, what took its place, its menu, or the heading above."""
    place = fresh.run("shared/focus.js", GO, PAGE, row, happens)
    assert ("" if found == "body" else found) == place


def test_a_focus_that_is_elsewhere_stays(fresh: Scripts) -> None:
    """Who has gone on is not called back."""
    body = GO.replace("document.activeElement.blur();", "")
    assert "field" == fresh.run("shared/focus.js", body, PAGE, BUTTON, "")


@pytest.fixture
def pressed(fresh: Scripts) -> webdriver.Chrome:
    """Return a page whose button counts its presses, and has the focus."""
    fresh.run(
        "shared/focus.js",
        """
        document.body.innerHTML = a[0];
        document.getElementById("row").innerHTML = a[1];
        m.pressNothingByAccident();
        window.presses = 0;
        const button = document.getElementById("opener");
        button.addEventListener("click", () => { window.presses += 1; });
        button.focus();
        """,
        PAGE,
        BUTTON,
    )
    return fresh.browser


def presses(browser: webdriver.Chrome, *keys: str) -> int:
    """Type, and return how often the button has been pressed so far."""
    ActionChains(browser).send_keys(*keys).perform()
    return int(browser.execute_script("return window.presses"))


@pytest.mark.parametrize("text", ["Busy Bees", "Team 7 of Ulm", "Bees" + Keys.ENTER])
def test_a_text_typed_on_a_button_presses_nothing(pressed: webdriver.Chrome, text: str) -> None:
    """The blank and the Enter in it belong to the text."""
    assert 0 == presses(pressed, text)


def test_a_button_is_pressed_by_a_blank_and_by_enter(pressed: webdriver.Chrome) -> None:
    """Each alone presses it, also after a text that has ended, and after a shortcut."""
    assert [1, 2] == [presses(pressed, Keys.SPACE), presses(pressed, Keys.ENTER)]
    assert 2 == presses(pressed, "a ")
    assert 3 == presses(pressed, Keys.SPACE)
    ActionChains(pressed).key_down(Keys.CONTROL).send_keys("b").key_up(Keys.CONTROL).perform()
    assert 4 == presses(pressed, Keys.SPACE)


def test_a_key_that_is_held_down_presses_once(pressed: webdriver.Chrome) -> None:
    """The browser repeats the key; the button must not."""
    for repeats in (False, True, True):
        pressed.execute_cdp_cmd(
            "Input.dispatchKeyEvent",
            {"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r",
             "windowsVirtualKeyCode": 13, "autoRepeat": repeats},
        )  # fmt: skip
    assert 1 == presses(pressed)


def test_keys_that_press_nothing_are_the_pages(pressed: webdriver.Chrome) -> None:
    """A blank that is held down scrolls, and a presenter's keys reach the ceremony."""
    pressed.execute_script("""
        window.stopped = 0;
        addEventListener("keydown", (event) => {
          window.stopped += Number(event.defaultPrevented);
        });
        document.activeElement.blur();
        for (const [key, repeat] of [["a", false], [" ", false], [" ", true], ["Enter", true]]) {
          const init = { key, repeat, bubbles: true, cancelable: true };
          document.body.dispatchEvent(new KeyboardEvent("keydown", init));
        }
    """)
    assert 0 == pressed.execute_script("return window.stopped")


def test_a_field_takes_every_key(pressed: webdriver.Chrome) -> None:
    """Blanks among letters are what a field is for."""
    pressed.find_element(By.ID, "field").send_keys("Busy Bees of Ulm")
    field = pressed.find_element(By.ID, "field")
    assert "Busy Bees of Ulm" == field.get_property("value")
