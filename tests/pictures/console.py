# SPDX-License-Identifier: Apache-2.0
"""The pictures of an event: the console of one lane and of two, results, audit, scoreboards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.pictures.album import Album
from tests.pictures.station import Station
from tests.support.browsing import be_screen, press, wait_text
from tests.support.operators import Operator, answer, wait
from tests.support.ports import free_address
from tests.support.running import program


def one_lane(
    album: Album, station: Station, acting: webdriver.Chrome, watching: webdriver.Chrome
) -> None:
    """Play a session of each of four teams: the last two meet with faults of the meter.

    The third one's energy is sound all the same, the fourth one's is SUSPECT.
    """
    first, second, third, fourth = station.teams
    kim = station.kim(acting)
    watching.get(f"http://{station.audience}/")
    kim.goes_to("Check")
    wait_text(acting, "urgent", "WARN")
    album.take("check", acting)
    kim.goes_to("Session")
    kim.calls(first, 1, 1)
    kim.arms(1)
    album.take("console-armed", acting)
    with station.playing(first):
        kim.sees("state", "SCORED")
    kim.calls(second, 1, 2)
    kim.arms(1)
    with station.playing(second):
        kim.sees("state", "RUNNING")
        wait(acting, lambda: third in kim.text("next-team"), f"{third} to be next")
        press(acting, "create")
        _left(kim, 33)
        album.take("console", acting)
        _left(kim, 9)
        album.take("console-last", acting)
        kim.sees("state", "SCORED")
    press(acting, "arm")
    kim.sees("session-title", f"Session 3: {third}")
    kim.sees("state", "ARMED")
    with station.playing(third):
        kim.sees("state", "RUNNING")
        _left(kim, 40)
        wait_text(watching, "now", third)
        _drawn(watching)
        album.take("scoreboard", watching)
        _without_the_meter(album, station, kim)
        kim.sees("state", "SCORED")
    for session in (1, 2, 3):
        kim.sees("last-text", f"Look at session {session}")
        press(acting, "seen")
    wait_text(watching, "entries", third)
    watching.get(f"http://{station.audience}/team/{quote(second)}")
    _drawn(watching)
    album.take("team", watching)
    watching.get(f"http://{station.audience}/")
    kim.goes_to("Results")
    press(acting, "freeze")
    answer(acting, "Freeze it")
    kim.goes_to("Session")
    kim.calls(fourth, 1, 4)
    kim.arms(1)
    with station.playing(fourth):
        kim.sees("state", "RUNNING")
        _left(kim, 25)
        station.meters[0].show_nothing()
        kim.sees("state", "SCORED")
    kim.sees("verdict", "SUSPECT")
    album.take("console-suspect", acting)
    wait_text(watching, "state", "FROZEN")
    _drawn(watching)
    album.take("scoreboard-frozen", watching)
    kim.goes_to("Results")
    kim.sees("open", "SUSPECT, and nobody has reviewed it")
    be_screen(acting, 1366, 900)
    album.take("results", acting)
    be_screen(acting, 1366, 768)
    kim.goes_to("Audit")
    kim.sees("rows", f"session 4, {fourth}")
    album.take("audit", acting)


def ceremony(album: Album, station: Station, browser: webdriver.Chrome) -> None:
    """Approve the results of that event, reveal them, and make the winner's diploma."""
    for session in range(1, len(station.teams) + 1):
        review = ("review", str(session), "--by", "Ada Lovelace", "--reason", "a trial of the hall")
        assert 0 == station.referee(*review)
    approved = ("--approved-by", "Ada Lovelace", "--approved-by", "Grace Hopper")
    assert 0 == station.referee("finalize", *approved)
    browser.get(f"{station.console}/ceremony")
    # Whoever has which place: some results are known, and one is still hidden.
    _reveal(browser, ".waiting h2", "Still to come")
    album.take("ceremony", browser)
    _reveal(browser, "h1", "The winner")
    _drawn(browser)
    album.take("ceremony-winner", browser)
    page = station.folder / "diplomas.html"
    assert 0 == station.referee("diploma", "--out", str(page))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.get(page.as_uri())
    album.take("diploma", browser.find_element(By.TAG_NAME, "article"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def published(album: Album, station: Station, browser: webdriver.Chrome) -> None:
    """Publish the results of that event, and open them from the disk."""
    assert 0 == station.referee("scoreboard", "unfreeze", "--by", "Kim")
    site = station.folder / "site"
    assert 0 == station.referee("publish", str(site))
    browser.get((site / "results.html").as_uri())
    loaded = "return [...document.images].every((one) => one.complete && one.naturalWidth > 0);"
    wait(browser, lambda: browser.execute_script(loaded), "the charts")
    album.take("published", browser)


def _reveal(browser: webdriver.Chrome, part: str, text: str) -> None:
    """Press the key of the ceremony until a part of the page shows a text."""
    script = "return document.querySelector(arguments[0])?.textContent"
    wait_text(browser, "place", " of ")
    for _ in range(50):
        if text == browser.execute_script(script, part):
            wait(browser, lambda: not browser.execute_script(_MOVING), "everybody to stand")
            return
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.SPACE)
    raise AssertionError(f"no scene of the ceremony says {text}")


_MOVING = "return document.getAnimations().length"


def _without_the_meter(album: Album, station: Station, kim: Operator) -> None:
    """Lose the meter of a session that runs, and find it again."""
    station.meters[0].pull_cable()
    kim.sees("alarm-text", "The power meter is lost")
    kim.sees("score-note", "the meter is lost")
    album.take("console-alarm", kim.browser)
    station.meters[0].put_cable_back()
    press(kim.browser, "alarm-seen")
    wait(kim.browser, lambda: not kim.text("alarm-text"), "the alarm to be over")


def two_lanes(album: Album, station: Station, acting: webdriver.Chrome) -> None:
    """Play two sessions at once, and lose the meter of one of them."""
    kim = station.kim(acting)
    with ExitStack() as stack:
        for lane, team in enumerate(station.teams, 1):
            kim.calls(team, lane, lane)
            kim.arms(lane)
        for lane, team in enumerate(station.teams, 1):
            stack.enter_context(station.playing(team, lane))
        for lane in (1, 2):
            kim.sees("state", "RUNNING", lane)
        _left(kim, 38)
        station.meters[0].pull_cable()
        kim.sees("alarm-text", "Lane left: The power meter is lost")
        album.take("console-lanes", acting)
        station.meters[0].put_cable_back()
        for lane in (1, 2):
            kim.sees("state", "SCORED", lane)


def joint_board(
    album: Album,
    stations: Sequence[Station],
    watching: webdriver.Chrome,
    end_last: Callable[[], object],
) -> None:
    """Rank the teams of several stations together, and end the programs of the last one."""
    address = free_address()
    folder = stations[0].folder / "board"
    folder.mkdir()
    command = ["board", "--listen", address, "--title", "LPIRC 2026"]
    for one in stations:
        command += ["--follow", f"{one.folder.name}=http://{one.audience}"]
    with program(command, folder):
        watching.get(f"http://{address}/")
        for team in (team for one in stations for team in one.teams):
            wait_text(watching, "entries", team)
        end_last()
        wait_text(watching, "now", "station silent for 1")
        entries = watching.find_element(By.ID, "entries")
        wait(watching, entries.is_displayed, "the ranking's turn")
        album.take("board", watching)


def _drawn(browser: webdriver.Chrome) -> None:
    """Wait until the page has its charts, and no longer what keeps their places."""
    script = "const charts = [...document.images].filter((one) => one.loading !== 'lazy' && "
    script += "one.checkVisibility());"
    script += "return charts.length > 0 && charts.every((one) => one.naturalWidth > 0"
    script += " && !one.currentSrc.endsWith('nothing.svg') && !one.closest('.loading'))"
    wait(browser, lambda: browser.execute_script(script), "the charts")


def _left(kim: Operator, seconds: int) -> None:
    """Wait until the first lane's session has no more than this time left."""
    wait(kim.browser, lambda: kim.seconds_left() <= seconds, f"{seconds} s to be left")
