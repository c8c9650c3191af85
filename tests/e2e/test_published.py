# SPDX-License-Identifier: Apache-2.0
"""A site of an event in a browser: from a host of static files, and from a disk.

The command renews the site of an event whose sessions run on a real desk. Then it ends, the
referee too, and the site is what the world still has.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.extras.publish.names import team_page
from referee.service.event.finalizing import finalize
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.setup.clock import SystemClock
from tests.support.browsing import text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.running import PATIENCE_S, eventually
from tests.support.static_host import StaticHost, static_host

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TEAMS = ("ants & co", "Équipe <東京>")
# A team's page has its pictures when both have come.
DRAWN = """
return ["course", "curves"].every((id) => {
  const picture = document.getElementById(id);
  return picture.dataset.address && picture.complete && picture.naturalWidth > 0;
});
"""


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Event]:
    """Return an event of two teams, the first of which has a result."""
    clock = FakeClock(SystemClock().now())
    folder = tmp_path / "event"
    folder.mkdir()
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        found = Event(contest, desk, meter)
        found.register(*TEAMS)
        found.play(TEAMS[0])
        yield found
    contest.database.close()


@contextmanager
def publishing(event: Event, site: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Renew an event's site each second until the block ends with Ctrl-C."""
    command = [sys.executable, "-m", "referee", "publish", str(site), "--follow", "--every", "1s"]
    command += [*options, "--config", str(event.contest.config.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert "files written" in child.stdout.readline()
        try:
            yield child
        finally:
            child.send_signal(signal.SIGINT)
            assert 0 == child.wait(PATIENCE_S)


def rows(browser: webdriver.Chrome) -> list[str]:
    """Return the teams of the ranking in the order in which the page shows them."""
    script = "return [...document.querySelectorAll('#entries tr')].map((row) => row.dataset.team);"
    return list(browser.execute_script(script))


def refused(host: StaticHost) -> list[tuple[str, int]]:
    """Return the requests that the host could not answer."""
    return [
        (path, status) for path, status in host.asked if status >= 400 and "favicon" not in path
    ]


def test_an_event_is_followed_from_a_host_that_knows_no_referee(
    event: Event, tmp_path: Path, browser: webdriver.Chrome
) -> None:
    """Results, a freeze and final results come by polling, below a path, through caches."""
    site, copy = tmp_path / "www/of/us/site", tmp_path / "copy"
    site.parent.mkdir(parents=True)
    with static_host(tmp_path / "www") as host:
        with publishing(event, site, "--then", f"rm -rf '{copy}'; cp -r '{site}' '{copy}'"):
            browser.get(f"{host.url}/of/us/site/")
            wait_text(browser, "entries", TEAMS[0])
            event.play(TEAMS[1], found=7)
            eventually(lambda: rows(browser) == [*reversed(TEAMS)], "the new leader")
            freeze(event.contest, "Kim")
            wait_text(browser, "state", "FROZEN")
            thaw(event.contest, "Kim")
            finalize(event.contest, ["Ada"])
            wait_text(browser, "state", "FINAL")
            state = json.loads((site / "state.json").read_bytes())
            eventually(
                lambda: json.loads((copy / "state.json").read_bytes())["key"] == state["key"],
                "the copy of the newest state",
            )
        polled = [path for path, _ in host.asked if "state.json?" in path]
        assert len(polled) > 3 and [] == refused(host)
        assert [] == [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        require_pages(browser, f"{host.url}/of/us/site/")
        assert [] == refused(host)


def test_a_site_is_read_from_a_disk(
    event: Event, tmp_path: Path, browser: webdriver.Chrome
) -> None:
    """A browser that opens index.html shows all of it; it sees a renewal, too."""
    site = tmp_path / "a site, 東京"
    with publishing(event, site):
        browser.get((site / "index.html").as_uri())
        wait_text(browser, "entries", TEAMS[0])
        event.play(TEAMS[1], found=7)
        eventually(lambda: rows(browser) == [*reversed(TEAMS)], "the new leader")
    require_pages(browser, (site / "index.html").as_uri().removesuffix("index.html"))
    assert [] == [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def require_pages(browser: webdriver.Chrome, url: str) -> None:
    """Walk from the scoreboard to a team's page and to the results, with nobody behind it."""
    browser.get(f"{url}index.html")
    wait_text(browser, "entries", TEAMS[1])
    assert "as of" in text_of(browser, "connection")
    browser.find_element(By.CSS_SELECTOR, "#entries a").click()
    wait_text(browser, "team", TEAMS[1])
    assert browser.current_url.endswith(team_page(TEAMS[1]))
    eventually(lambda: browser.execute_script(DRAWN) or None, "the pictures of the session")
    browser.find_element(By.PARTIAL_LINK_TEXT, "Results").click()
    assert all(team in browser.find_element(By.TAG_NAME, "table").text for team in TEAMS)
    loaded = "return [...document.images].every((one) => one.complete && one.naturalWidth > 0);"
    eventually(lambda: browser.execute_script(loaded) or None, "the charts")
    browser.find_element(By.LINK_TEXT, "Scoreboard").click()
    wait_text(browser, "entries", TEAMS[0])
