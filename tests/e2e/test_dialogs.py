# SPDX-License-Identifier: Apache-2.0
"""Each dialog of each page, on a real desk: where the focus is, what is refused, what is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from referee.service.teams.registration_changes import withdraw
from referee.service.teams.roster import read_roster
from tests.support.browsing import text_of
from tests.support.event_console import event_console
from tests.support.events import Event
from tests.support.operators import click, types, wait

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# The buttons that open a dialog, by their page. Their words end in an ellipsis, as everywhere.
DIALOGS = {
    "": {"Stop…", "Void…", "Re-run…", "Note…", "Extra time…", "Mark as rehearsal…"},
    "teams": set(
        "Register…, Slips for all…, Lottery…, Save the order…, Slip…, Rename…, "
        "To the end…, Withdraw…, Return…".split(", ")
    ),
    "results": set(
        "Freeze the scoreboard…, Break…, Score again…, Put off…, Review…, Void…, Withdraw…".split(
            ", "
        )
    ),
    "check": {"Acknowledge…"},
}
EACH = [(page, one) for page, words in DIALOGS.items() for one in sorted(words)]
OPENERS = """
return [...document.querySelectorAll("main button")]
  .filter((one) => one.textContent.endsWith("…") && !one.hidden && !one.disabled)
"""
# Whether the focus is on the button with these words, or on the menu that has it.
IS_BACK = """
const here = document.activeElement;
const menu = here.tagName === "SUMMARY" ? here.parentElement.querySelectorAll("button") : [here];
return [...menu].some((one) => one.textContent === arguments[0]);
"""
HARMLESS = {"Cancel", "Let it run"}


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Event]:
    """Return an event in which every kind of dialog can be opened."""
    with event_console(tmp_path_factory.mktemp("event"), "127.0.0.1:8009") as found:
        found.register("ants", "bees", "wasps", "flies")
        withdraw(found.contest, "flies", "ill", "Kim")
        found.play("ants", verdict="SUSPECT")
        found.begin("bees")
        yield found


def opened(browser: webdriver.Chrome, event: Event, page: str, words: str) -> WebElement:
    """Open a page, and a dialog by the words of its button; return the button."""
    browser.get(f"{event.url}/{page}")
    wait(browser, lambda: openers(browser), f"buttons of {page}")
    if page == "teams":
        click(browser, "Move bees up")
    wait(browser, lambda: words in openers(browser), words)
    button = openers(browser)[words]
    menu = button.find_elements(By.XPATH, "ancestor::details")
    if menu:
        menu[0].find_element(By.TAG_NAME, "summary").click()
    button.send_keys(Keys.ENTER)
    assert browser.find_element(By.CSS_SELECTOR, "dialog[open]")
    return button


def openers(browser: webdriver.Chrome) -> dict[str, WebElement]:
    """Return the buttons of the page that open a dialog, by their words."""
    found = browser.execute_script(OPENERS)
    return {str(one.get_property("textContent")): one for one in reversed(found)}


def active(browser: webdriver.Chrome) -> str:
    """Return the id, the name or the text of what has the focus."""
    script = "const one = document.activeElement; return one.id || one.name || one.textContent"
    return str(browser.execute_script(script))


@pytest.mark.parametrize(("page", "words"), EACH)
def test_each_dialog_is_left_by_keys(
    browser: webdriver.Chrome, event: Event, page: str, words: str
) -> None:
    """The first field has the focus, keys that came too early do nothing, Escape leads back."""
    opened(browser, event, page, words)
    fields = browser.find_elements(By.CSS_SELECTOR, "dialog :is(input, select)")
    first = fields[0] if fields else browser.find_element(By.ID, "confirm-text")
    assert first == browser.switch_to.active_element
    assert browser.find_element(By.ID, "confirm-no").text in HARMLESS
    types(browser, Keys.ENTER, Keys.ENTER, Keys.ENTER)
    assert browser.find_elements(By.CSS_SELECTOR, "dialog[open]")
    types(browser, Keys.ESCAPE)
    wait(browser, lambda: not browser.find_elements(By.TAG_NAME, "dialog"), "no dialog")
    assert browser.execute_script(IS_BACK, words), active(browser)


@pytest.mark.parametrize(("page", "words"), EACH)
def test_each_dialog_keeps_what_the_desk_refuses(
    browser: webdriver.Chrome, event: Event, page: str, words: str
) -> None:
    """Whatever a field takes, the desk's own limit counts, and is said in the dialog."""
    opened(browser, event, page, words)
    texts = browser.find_elements(By.CSS_SELECTOR, "dialog input[type=text]")
    if not texts:
        assert "Stop…" == words
        return
    browser.execute_script(
        "for (const one of arguments[0]) one.value = arguments[1]", texts, "x" * 249
    )
    texts[0].send_keys("x", Keys.ENTER)
    wait(browser, lambda: text_of(browser, "confirm-missing"), "the refusal")
    said = text_of(browser, "confirm-missing")
    assert "at most 200 characters" in said and "_" not in said
    assert 250 == len(str(texts[0].get_property("value")))
    assert texts[0] == browser.switch_to.active_element
    assert "" == text_of(browser, "refusal")


def test_the_table_has_every_dialog(browser: webdriver.Chrome, event: Event) -> None:
    """A button that is new to a page is in the table above."""
    for page, words in DIALOGS.items():
        opened(browser, event, page, sorted(words)[0])
        wait(browser, lambda: set(openers(browser)) == words, str(words))  # noqa: B023


def test_a_team_is_registered_by_keys_alone(browser: webdriver.Chrome, event: Event) -> None:
    """What is typed before the dialog is open presses no button, and registers nothing."""
    browser.get(f"{event.url}/teams")
    wait(browser, lambda: openers(browser), "the buttons")
    browser.find_element(By.ID, "add").send_keys("Busy Bees", Keys.ENTER)
    assert not browser.find_elements(By.TAG_NAME, "dialog")
    types(browser, Keys.ENTER, "ANTS", Keys.TAB * 5, "Kim", Keys.ENTER)
    wait(browser, lambda: text_of(browser, "confirm-missing"), "the refusal")
    assert "'ants' is registered already" in text_of(browser, "confirm-missing")
    back = ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB * 5).key_up(Keys.SHIFT)
    back.send_keys("Busy Bees", Keys.ENTER).perform()
    wait(browser, lambda: not browser.find_elements(By.TAG_NAME, "dialog"), "no dialog")
    assert "add" == active(browser)
    wait(browser, lambda: "Busy Bees" in text_of(browser, "teams"), "the team")
    names = [team.name for team in read_roster(event.contest).teams]
    assert "Busy Bees" in names and "Bees" not in names
    browser.find_element(By.CSS_SELECTOR, "summary[aria-label='More for Busy Bees']").send_keys(
        Keys.ENTER, Keys.TAB * 3, Keys.ENTER
    )
    types(browser, " 2", Keys.ENTER)
    wait(browser, lambda: "Busy Bees 2" in text_of(browser, "teams"), "the new name")
    assert not browser.find_elements(By.TAG_NAME, "dialog")
    assert "BODY" != browser.switch_to.active_element.tag_name.upper()
