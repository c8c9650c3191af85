# SPDX-License-Identifier: Apache-2.0
"""OVIC's leaderboard on the console and on the scoreboard, in a real browser."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.extras.ovic.submission.entries import NewEvent, record_entry_event
from referee.service.setup.config_file import load_config
from referee.store.database import Database
from tests.e2e.test_scoreboard import Audience
from tests.support.barriers import barriers
from tests.support.browsing import be_screen, wait_text
from tests.support.hits import misses_in_fonts
from tests.support.ovic_contests import SCORED, UTC, make_ovic_contest, put_entry
from tests.support.running import Program, program

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = [pytest.mark.slow, pytest.mark.browser]

SLOW = 12.5


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    """Return a contest with entries in each state, whose queue is paused by nothing to do."""
    opened = make_ovic_contest(tmp_path, entries_a_day=100)
    path, database = opened.config.path, opened.database
    put = [
        ("Team Rocket", (95.5, 9.1)),
        ("ants", (89.0, 8.0)),
        ("bees", (89.0, 7.0)),
        ("A team whose name is so long that it must wrap in its column", (93.0, 9.99)),
        ("Team Rocket", (90.0, 9.0)),
        ("wasps", (99.0, SLOW)),
    ]
    for number, (team, figures) in enumerate(put, 1):
        put_entry(database, *SCORED, team=team, number=number, figures=figures)
    why = "time: expected a model that ends within 120 s; found it had not ended and was stopped."
    put_entry(database, "validating", team="flies", number=7)
    with database.write() as connection:
        record_entry_event(connection, 7, NewEvent("refused", UTC, actor="queue", text=why))
    put_entry(database, "voided", team="bees", number=8, text="two accounts of one team")
    opened.database.close()
    text = path.read_text().replace('resource = "TCPIP', 'resource = "none"\n# "TCPIP')
    path.write_text(text + '[server]\ncontest = "127.0.0.1:0"\nconsole = "127.0.0.1:0"\n')
    return path


def cells(browser: webdriver.Chrome, section: str) -> list[list[str]]:
    """Return the texts of a table's rows."""
    rows = browser.find_elements(By.CSS_SELECTOR, f"#{section} tr:has(td)")
    return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]


def no_errors(browser: webdriver.Chrome) -> None:
    """Fail if the browser has found an error on the page."""
    assert [] == [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def open_page(browser: webdriver.Chrome, running: Program) -> None:
    """Open the leaderboard from the console's link."""
    browser.get(running.console)
    wait_text(browser, "guests", "No model runs now. 0 to validate, 0 to measure.")
    browser.find_element(By.CSS_SELECTOR, "#guests a").click()
    wait_text(browser, "connection", "live")


def test_the_page_ranks_the_teams_and_shows_each_entry(
    contest: Path, browser: webdriver.Chrome, browsers: Mapping[str, webdriver.Chrome]
) -> None:
    """The best entry of each team stands in order with ties, and a change comes by itself.

    After the end of the referee the page keeps its rows and says how old they are.
    """
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        open_page(browser, running)
        wait_text(browser, "classification", "Team Rocket")
        found = cells(browser, "classification")
        assert ["1", "2", "2", "4", "–"] == [row[0] for row in found]
        assert ["Team Rocket", "ants", "bees"] == [row[1] for row in found[:3]]
        assert ["95.50", "9.100", "1", "2"] == found[0][3:]
        assert "too slow" == found[4][2]
        assert [] == barriers(browser)
        url = browser.current_url
        assert {} == misses_in_fonts(browsers, url, "classification", "Team Rocket")
        be_screen(browser)
        entries = cells(browser, "entries")
        assert ["8", "7", "6", "5", "4", "3", "2", "1"] == [row[0] for row in entries]
        assert ["void", "two accounts of one team"] == entries[0][3:]
        assert entries[1][4].startswith("time: expected a model that ends within 120 s")
        with closing(Database(load_config(contest).database)) as database:
            put_entry(database, *SCORED, team="moths", number=9, figures=(96.5, 9.1))
        wait_text(browser, "classification", "moths")
        assert ["1", "moths"] == cells(browser, "classification")[0][:2]
        no_errors(browser)
    wait_text(browser, "connection", "connection lost")
    assert "Team Rocket" in browser.find_element(By.ID, "classification").text


def test_the_audience_sees_the_leaderboard_beside_the_ranking(
    tmp_path: Path, browser: webdriver.Chrome
) -> None:
    """The scoreboard shows heading, columns and cells as OVIC gives them."""
    # The page of the test before asks a server that has ended; its errors are none of this page.
    browser.get("about:blank")
    browser.get_log("browser")
    opened = make_ovic_contest(tmp_path, mode="event")
    put_entry(opened.database, *SCORED, figures=(95.5, 9.1))
    put_entry(opened.database, *SCORED, team="wasps", number=2, figures=(99.0, SLOW))
    audience = Audience(opened, tmp_path)
    try:
        # On a narrow screen the boards stand below the ranking; a wide one shows them in turn.
        be_screen(browser, 900, 1000)
        browser.get(audience.url)
        wait_text(browser, "boards", "OVIC classification")
        rows = cells(browser, "boards")
        assert ["1", "95.50", "9.100"] == [rows[0][0], *rows[0][3:]]
        assert ["–", "wasps", "too slow", "99.00", "12.500"] == rows[1]
        heads = browser.find_elements(By.CSS_SELECTOR, "#boards th")
        assert ["rank", "team", "points", "accuracy %", "ms"] == [head.text for head in heads]
        assert [] == barriers(browser)
        no_errors(browser)
    finally:
        audience.stop()
        audience.listener.close()
        opened.database.close()
