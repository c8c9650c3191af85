# SPDX-License-Identifier: Apache-2.0
"""The page of the ceremony: one key leads through the scenes, and nothing is there before it."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from referee.extras.ceremony.rehearsal import PICTURED
from referee.extras.ceremony.scenes import scenes_of
from referee.extras.ceremony.stored import read_ceremony
from referee.service.event.finalizing import finalize
from tests.support.barriers import barriers
from tests.support.browsing import fresh_window
from tests.support.doors import Door
from tests.support.hits import misses_in_fonts
from tests.support.running import PATIENCE_S
from tests.support.served import served


def wait_step(browser, number):
    """Wait until the page shows a scene."""
    WebDriverWait(browser, PATIENCE_S, 0.05).until(
        lambda driver: driver.find_element(By.ID, "place").text.startswith(f"{number} of "),
        f"scene {number}",
    )


def test_scenes_come_with_the_approval(event):
    """Before it there are none; the picture is a PNG, and its second look is as good."""
    door = Door(event)
    browser = door.app.test_client()
    assert [] == browser.get("/ceremony/scenes").get_json()["scenes"]
    finalize(event.contest, ["Ada"])
    told = browser.get("/ceremony/scenes").get_json()
    assert (False, ["mAP", "Wh", "score"]) == (told["rehearsal"], told["heads"])
    assert [it.title for it in scenes_of(*read_ceremony(event.contest))] == [
        it["title"] for it in told["scenes"]
    ]
    (picture,) = {it["picture"] for it in told["scenes"]} - {None}
    for _ in range(2):
        got = browser.get(f"/ceremony/picture/{picture}")
        assert got.data.startswith(b"\x89PNG")
    assert 409 == browser.get("/ceremony/picture/1").status_code


def test_a_rehearsal_has_nothing_of_the_event(final):
    """Its teams and its picture are generated, before the approval and after it."""
    browser = Door(final).app.test_client()
    told = browser.get("/ceremony/scenes?rehearsal").get_json()
    assert told["rehearsal"]
    teams = {line["team"] for scene in told["scenes"] for line in scene["lines"]}
    assert PICTURED in teams and teams.isdisjoint({"ants", "bees", "wasps"})
    (picture,) = {it["picture"] for it in told["scenes"]} - {None}
    got = browser.get(f"/ceremony/picture/{picture}?rehearsal")
    assert got.data.startswith(b"\x89PNG")


@pytest.mark.browser
def test_one_key_leads_through_the_ceremony(final, one_chromium, browsers):
    """No element of the page has a place or a figure before its key; one key leads back."""
    scenes = scenes_of(*read_ceremony(final.contest))
    winner = next(n for n, scene in enumerate(scenes) if scene.kind == "card")
    browser = one_chromium
    fresh_window(browser)
    with served(Door(final).app) as address:
        browser.get(f"{address}/ceremony")
        wait_step(browser, 1)
        body = browser.find_element(By.TAG_NAME, "body")
        for step, scene in enumerate(scenes, start=1):
            wait_step(browser, step)
            text = browser.find_element(By.TAG_NAME, "html").get_attribute("textContent")
            figures = {figure for line in scene.lines for figure in line.figures}
            everybody = {figure for line in scenes[-1].lines for figure in line.figures}
            assert all(figure in text for figure in figures)
            assert not [it for it in everybody - figures if it in text and scene.lines]
            assert browser.find_element(By.ID, "scene").get_attribute("class") == scene.kind
            body.send_keys(Keys.SPACE if step % 2 else Keys.ARROW_RIGHT)
        wait_step(browser, len(scenes))
        body.send_keys(Keys.ARROW_LEFT)
        wait_step(browser, len(scenes) - 1)
        browser.get(f"{address}/ceremony#{winner}")
        browser.refresh()
        wait_step(browser, winner + 1)
        image = browser.find_element(By.CSS_SELECTOR, "#scene img")
        WebDriverWait(browser, PATIENCE_S, 0.05).until(
            lambda driver: driver.execute_script("return arguments[0].naturalWidth > 0", image)
        )
        assert not browser.find_element(By.ID, "rehearsal").is_displayed()
        assert [] == barriers(browser)
        assert {} == misses_in_fonts(browsers, f"{address}/ceremony#{winner}", "place", " of ")
        browser.get(f"{address}/ceremony?rehearsal")
        wait_step(browser, 1)
        assert "REHEARSAL" in browser.find_element(By.ID, "rehearsal").text
        browser.get("about:blank")


@pytest.mark.browser
def test_provisional_results_lead_to_a_rehearsal(event, one_chromium):
    """The page says what to do, and shows no team."""
    fresh_window(one_chromium)
    with served(Door(event).app) as address:
        one_chromium.get(f"{address}/ceremony")
        WebDriverWait(one_chromium, PATIENCE_S, 0.05).until(
            lambda driver: "PROVISIONAL" in driver.find_element(By.ID, "scene").text
        )
        assert "bees" not in one_chromium.find_element(By.TAG_NAME, "body").text
        one_chromium.get("about:blank")
