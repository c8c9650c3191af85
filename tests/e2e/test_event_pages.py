# SPDX-License-Identifier: Apache-2.0
"""The pages of teams and results in a real browser, from the lottery to final results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from referee.service.event.finalizing import finalize
from referee.service.event.results import read_results
from referee.service.teams.roster import read_roster
from tests.support.browsing import be_screen, press, text_of, wait_text
from tests.support.event_console import event_console
from tests.support.events import Event
from tests.support.operators import answer, click, wait

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser(browser: webdriver.Chrome) -> webdriver.Chrome:
    """Return the browser, as large as a small laptop's screen."""
    be_screen(browser, 1366, 768)
    return browser


@pytest.fixture
def event(tmp_path: Path, browser: webdriver.Chrome) -> Iterator[Event]:
    """Return an event whose console is open to the browser; `url` is its address."""
    with event_console(tmp_path) as found:
        yield found
        browser.get("about:blank")


def order_of(browser: webdriver.Chrome) -> list[str]:
    """Return the teams as the page lists them."""
    cells = browser.find_elements(By.CSS_SELECTOR, "#teams td:nth-child(2)")
    return [cell.text.splitlines()[0] for cell in cells]


def test_the_running_order_from_the_page(event: Event, browser: webdriver.Chrome) -> None:
    """An operator draws the lottery, moves a team by hand, and withdraws one."""
    browser.get(f"{event.url}/teams")
    wait_text(browser, "none", "No team is registered yet.")
    event.register("ants", "bees", "wasps")
    wait(browser, lambda: order_of(browser) == ["ants", "bees", "wasps"], "the teams")
    press(browser, "lottery")
    answer(browser, "Draw", seed="noon")
    assert "Your name" in browser.find_element(By.CSS_SELECTOR, "dialog .missing").text
    answer(browser, "Draw", operator="Kim")
    wait_text(browser, "order-text", "Lottery with the seed 'noon' by Kim")
    drawn = order_of(browser)
    assert drawn == [team.name for team in read_roster(event.contest).teams]
    click(browser, f"Move {drawn[2]} up")
    assert [drawn[0], drawn[2], drawn[1]] == order_of(browser)
    assert drawn == [team.name for team in read_roster(event.contest).teams]
    press(browser, "save")
    answer(browser, "Save it", reason="a train to catch")
    wait_text(browser, "order-text", "Set by hand by Kim")
    assert [drawn[0], drawn[2], drawn[1]] == order_of(browser)
    click(browser, f"Withdraw {drawn[0]}")
    answer(browser, "Withdraw it", reason="device broken")
    wait_text(browser, "teams", "device broken")
    wait(browser, lambda: read_roster(event.contest).next == drawn[2], "the next team")
    assert "NEXT" in browser.find_element(By.CSS_SELECTOR, "tr.next-team").text


def test_a_team_and_its_slip_from_the_page(event: Event, browser: webdriver.Chrome) -> None:
    """An operator registers a team and opens its slip: a new password, and a code for the Wi-Fi."""
    browser.get(f"{event.url}/teams")
    wait_text(browser, "none", "No team is registered yet.")
    press(browser, "add")
    answer(browser, "Register it", team="ants", organisation="Uni North", operator="Kim")
    wait(browser, lambda: order_of(browser) == ["ants"], "the team")
    click(browser, "Slip of ants")
    answer(browser, "Make slips", wifi_name="lpirc", wifi_password="quiet-fan")
    wait_text(browser, "slips-text", "1 slip has a new password.")
    link = browser.find_element(By.LINK_TEXT, "Open and print them").get_attribute("href")
    assert link is not None
    browser.get(link)
    slip = browser.find_element(By.TAG_NAME, "section")
    assert all(text in slip.text for text in ("ants", "quiet-fan", "Password"))
    # 26 mm: the page's own style counts under its policy.
    assert 97 < slip.find_element(By.TAG_NAME, "svg").size["width"] < 100
    assert read_roster(event.contest).teams[0].has_password


def test_a_login_stands_below_the_name_and_on_the_slip(
    event: Event, browser: webdriver.Chrome
) -> None:
    """The question before a renaming says that the login stays, and the slip has it to type."""
    event.register("東京大学")
    browser.get(f"{event.url}/teams")
    wait_text(browser, "teams", "logs in as team1")
    click(browser, "Rename 東京大学")
    asked = browser.find_element(By.CSS_SELECTOR, "dialog").text
    assert "Its login team1, password, place and sessions stay." in asked
    assert "Its old name still logs in." in asked
    answer(browser, "Rename", new_name="京都大学", operator="Kim")
    wait(browser, lambda: order_of(browser) == ["京都大学"], "the new name")
    click(browser, "Slip of 京都大学")
    answer(browser, "Make slips")
    wait_text(browser, "slips-text", "1 slip has a new password.")
    link = browser.find_element(By.LINK_TEXT, "Open and print them").get_attribute("href")
    assert link is not None
    browser.get(link)
    slip = browser.find_element(By.TAG_NAME, "section").text
    assert ("京都大学" in slip, "User name\nteam1" in slip) == (True, True)


def test_a_refusal_is_told_in_its_dialog(event: Event, browser: webdriver.Chrome) -> None:
    """A name that another team has, or that is too long, is refused in words, and can be mended."""
    event.register("ants", "bees")
    browser.get(f"{event.url}/teams")
    click(browser, "Rename ants")
    answer(browser, "Rename", new_name="BEES", operator="Kim")
    wait_text(browser, "confirm-missing", "'bees' is registered already")
    assert ["ants", "bees"] == order_of(browser)
    long = "a" * 130
    answer(browser, "Rename", new_name=long)
    wait_text(browser, "confirm-missing", "1 to 100 printable characters")
    field = browser.find_element(By.CSS_SELECTOR, "dialog [name=new_name]")
    assert (long, field) == (field.get_property("value"), browser.switch_to.active_element)
    field.send_keys(Keys.BACK_SPACE * 30, Keys.ENTER)
    wait(browser, lambda: order_of(browser) == [long[:100], "bees"], "the shorter name")
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog")
    assert "" == text_of(browser, "refusal")


def test_the_console_chooses_the_next_team(event: Event, browser: webdriver.Chrome) -> None:
    """With a running order the team that is next is chosen under 'Next session'."""
    event.register("ants", "bees")
    browser.get(f"{event.url}/teams")
    click(browser, "Move bees up")
    press(browser, "save")
    answer(browser, "Save it", operator="Kim")
    wait_text(browser, "order-text", "Set by hand")
    browser.find_element(By.LINK_TEXT, "Session").click()
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#team option"), "the teams")
    chosen = "return document.getElementById('team').value"
    wait(browser, lambda: browser.execute_script(chosen) == "bees", "the next team")


def test_from_provisional_to_final(event: Event, browser: webdriver.Chrome) -> None:
    """A re-run clears the result within a second; review and approval make the results final."""
    event.register("ants", "bees")
    event.play("ants", verdict="SUSPECT")
    second = event.play("bees", found=6)
    browser.get_log("browser")
    browser.get(f"{event.url}/results")
    wait_text(browser, "state", "PROVISIONAL")
    wait_text(browser, "open", "SUSPECT")
    assert not browser.find_element(By.ID, "finalize").is_enabled()
    event.desk.steps_of(second).void(second, "Kim", "wrong images")
    wait_text(browser, "entries", "void: wrong images")
    event.play("bees", found=5)
    # The page draws its rows anew with the new result, and then they stay.
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "td.VALID")) == 1, "bees")
    browser.find_element(By.XPATH, "//button[.='Review…']").click()
    answer(browser, "Let it stand", reason="the gap lies before the load", operator="Ada")
    entries = browser.find_element(By.ID, "entries")
    reviewed = "reviewed by Ada"  # It stands behind the word “more”.
    wait(browser, lambda: reviewed in str(entries.get_property("textContent")), reviewed)
    press(browser, "finalize")
    answer(browser, "Make it final", approvers=" Grace,, Lin ,")
    # Ada pressed the button, and approved nothing.
    wait_text(browser, "state-text", "Approved by Grace, Lin at")
    results = read_results(event.contest)
    assert (True, ["Grace", "Lin"]) == (results.final, list(results.approved_by))
    press(browser, "reopen")
    answer(browser, "Reopen", reason="a mistake")
    wait_text(browser, "state", "PROVISIONAL")
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [] == errors


def test_open_points_are_settled_beside_them(event: Event, browser: webdriver.Chrome) -> None:
    """Each point has its acts; what is open for one reason is settled at once, from one list."""
    event.register("ants", "bees", "wasps", "moths", "flies")
    event.play("ants", verdict="SUSPECT")
    event.play("bees", verdict="SUSPECT")
    voided = event.play("wasps", verdict="INVALID")
    browser.get(f"{event.url}/results")
    wait_text(browser, "open", "2 sessions have an energy that is SUSPECT, for the same reason")
    press_in(browser, "open", "Review all 2…")
    answer(browser, "Let them stand", reason="the clock jumped", operator="Ada")
    wait_no_text(browser, "open", "SUSPECT")
    press_in(browser, "open", "Void…")
    answer(browser, "Void it", reason="the meter was switched off")
    wait_no_text(browser, "open", "INVALID")
    press_in(browser, "open", "Put off…", "'wasps'")
    answer(browser, "Put it off", reason="a new cable")
    wait(browser, lambda: read_roster(event.contest).runners[-1].name == "wasps", "the order")
    press_in(browser, "open", "Withdraw all 3…")
    answer(browser, "Withdraw them", reason="no show")
    wait(browser, lambda: browser.find_element(By.ID, "finalize").is_enabled(), "nothing is open")
    assert f"Session {voided}" not in text_of(browser, "open")


def press_in(browser: webdriver.Chrome, part: str, words: str, about: str = "") -> None:
    """Press the button with these words in a part of the page, in the row that tells of `about`."""
    row = f"//*[@id='{part}']/li[contains(., \"{about}\")]//button[.='{words}']"

    def pressed() -> bool:
        browser.find_element(By.XPATH, row).click()
        return True

    wait(browser, pressed, words)


def wait_no_text(browser: webdriver.Chrome, part: str, text: str) -> None:
    """Wait until a part of the page does not show a text."""
    wait(browser, lambda: text not in text_of(browser, part), f"no {text}")


def test_a_team_is_moved_by_keys_by_a_pointer_and_to_the_end(
    event: Event, browser: webdriver.Chrome
) -> None:
    """End and Home move a team as far as it goes; a drag does too; 'To the end…' saves at once."""
    event.register("ants", "bees", "wasps", "moths")
    browser.get(f"{event.url}/teams")
    wait(browser, lambda: len(order_of(browser)) == 4, "the teams")
    down = browser.find_element(By.CSS_SELECTOR, "button[aria-label='Move ants down']")
    down.send_keys(Keys.END)
    assert ["bees", "wasps", "moths", "ants"] == order_of(browser)
    # The button keeps the focus, though its row was drawn anew.
    browser.switch_to.active_element.send_keys(Keys.HOME)
    assert ["ants", "bees", "wasps", "moths"] == order_of(browser)
    rows = browser.find_elements(By.CSS_SELECTOR, "#teams tr")
    handle = rows[1].find_element(By.CSS_SELECTOR, ".handle")
    drag = ActionChains(browser).click_and_hold(handle)
    drag.move_to_element(rows[3]).release().perform()
    assert ["ants", "wasps", "moths", "bees"] == order_of(browser)
    assert browser.find_element(By.ID, "draft").is_displayed()
    press(browser, "discard")
    click(browser, "Put ants off, to the end")
    answer(browser, "Put it off", reason="its train is late", operator="Kim")
    wait_text(browser, "order-text", "Set by hand by Kim")
    assert ["bees", "wasps", "moths", "ants"] == order_of(browser)
    assert not browser.find_element(By.ID, "draft").is_displayed()


def test_a_proposal_is_applied_whole(event: Event, browser: webdriver.Chrome) -> None:
    """It is made on the page; the table has old and new figures; nothing counts before 'Apply'."""
    event.register("ants", "bees")
    event.play("ants")
    event.play("bees")
    blacklist = event.contest.config.path.parent / "blacklist.csv"
    blacklist.write_text("5,1\n6,1\n")
    browser.get(f"{event.url}/results")
    wait(browser, lambda: browser.find_element(By.ID, "propose").is_enabled(), "two scores")
    press(browser, "propose")
    answer(browser, "Score again", reason="new blacklist", blacklist="black.csv", operator="Ada")
    wait_text(browser, "confirm-missing", "There is no 'black.csv' beside")
    assert browser.find_element(By.NAME, "reason").get_property("value") == "new blacklist"
    answer(browser, "Score again", blacklist="blacklist.csv")
    wait_text(browser, "proposals", "0.66667")
    assert "made by Ada" in text_of(browser, "proposals")
    assert not browser.find_element(By.ID, "propose").is_enabled()
    assert "0.66667" not in text_of(browser, "entries")
    browser.find_element(By.XPATH, "//button[.='Apply…']").click()
    answer(browser, "Apply it", reason="agreed", operator="Ada")
    wait_text(browser, "proposals", "applied by Ada")
    wait_text(browser, "entries", "0.66667")


def test_slow_checks_and_an_override_from_the_page(event: Event, browser: webdriver.Chrome) -> None:
    """Slow checks run once and say so; what fails is overridden with a reason, and taken back."""
    browser.get(f"{event.url}/check")
    wait_text(browser, "state", "READY")
    press(browser, "again")
    wait_text(browser, "again", "Slow checks are running…")
    assert not browser.find_element(By.ID, "again").is_enabled()
    wait_text(browser, "verdict", "No session can be armed while the slow checks run.")
    wait_text(browser, "state", "… CHECKING")
    wait_text(browser, "progress", "now: truth boxes")
    event.slow.end.set()
    wait_text(browser, "verdict", "No session can be armed: a check fails.")
    assert not browser.find_element(By.ID, "progress").is_displayed()
    wait_text(browser, "urgent", "golden client: the disk was full")
    click(browser, "Override servers, golden client")
    answer(browser, "Override it", operator="Kim")
    assert "Reason" in browser.find_element(By.CSS_SELECTOR, "dialog .missing").text
    answer(browser, "Override it", reason="known since yesterday")
    wait_text(browser, "urgent", "Overridden by Kim")
    wait_text(browser, "verdict", "Sessions can be armed. 1 overridden")
    click(browser, "Take back the override of servers, golden client")
    answer(browser, "Take it back", reason="room was made")
    wait_text(browser, "verdict", "No session can be armed: a check fails.")


def test_check_and_session_say_the_same_after_final_results(
    event: Event, browser: webdriver.Chrome
) -> None:
    """No page says READY when the results are final, and both give the same reason."""
    event.register("ants")
    event.play("ants", found=6)
    browser.get(f"{event.url}/check")
    wait_text(browser, "state", "✓ READY")
    finalize(event.contest, ["Ada"])
    said = "The results are final, so no session can be armed."
    wait_text(browser, "verdict", said)
    assert "FINAL" == text_of(browser, "state")
    browser.find_element(By.LINK_TEXT, "Session").click()
    wait_text(browser, "calm-text", said)


def test_a_known_warning_is_acknowledged_on_the_page(
    event: Event, browser: webdriver.Chrome
) -> None:
    """It is known by name and reason and counts no more, until somebody takes that back."""
    browser.get(f"{event.url}/check")
    wait_text(browser, "state", "READY")
    before = warnings(browser)
    click(browser, "Acknowledge meter, calibration")
    answer(browser, "Acknowledge it", operator="Kim", reason="a borrowed meter")
    wait_text(browser, "known-count", "1 acknowledged")
    browser.find_element(By.ID, "known-count").click()
    wait_text(browser, "known", "Acknowledged by Kim")
    wait_text(browser, "verdict", f"{before - 1} to look at")
    click(browser, "Take back the acknowledgement of meter, calibration")
    answer(browser, "Take it back", reason="it has a certificate")
    wait_text(browser, "verdict", f"{before} to look at")


def warnings(browser: webdriver.Chrome) -> int:
    """Return how many warnings the page counts."""
    found = re.search(r"(\d+) to look at", browser.find_element(By.ID, "verdict").text)
    assert found
    return int(found[1])
