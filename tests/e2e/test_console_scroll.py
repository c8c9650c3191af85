# SPDX-License-Identifier: Apache-2.0
"""The console of two lanes at a laptop's window: nothing of it has to be scrolled to act."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from tests.e2e.test_console_windows import TEAMS, judge, play, states_of
from tests.support.browsing import be_screen, wait_text
from tests.support.events import Event
from tests.support.lane_console import begin, lanes_event

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Event]:
    """Return an event of two lanes with teams of long and foreign names."""
    with lanes_event(tmp_path, 2, "emulated", *TEAMS) as found:
        yield found
        for meter in found.meters:
            meter.lost = False


# By how much the page scrolls, and which verdicts take more than a line in the list of sessions.
MOVES = """
const page = document.getElementById("page");
const line = Number.parseFloat(getComputedStyle(document.body).lineHeight) || 24;
const verdicts = [...document.querySelectorAll("#sessions td:nth-child(6)")].filter((cell) => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  return words.getBoundingClientRect().height > 1.5 * line;
});
return [page.scrollHeight - page.clientHeight, ...verdicts.map((cell) => cell.textContent)]
  .filter(Boolean);
"""


def test_two_lanes_never_scroll_at_a_laptops_window(
    event: Event, browser: webdriver.Chrome
) -> None:
    """Their clocks and buttons stay, also below five reasons, two alarms and a session in line.

    A verdict has one line in the list of sessions, with the mark of an emulator too.
    """
    be_screen(browser, 1366, 768)
    browser.get(event.url)
    wrong: dict[str, object] = {}
    for part, text in states_of(event):
        wait_text(browser, part, text)
        wrong[text] = browser.execute_script(MOVES)
    wait_text(browser, "link", "ok")
    number = begin(event, "Wasps", 1)
    judge(event, number, "SUSPECT", 0.02)
    event.judge(number, "SUSPECT", 0.02, emulated=True)
    wait_text(browser, "sessions", "SUSPECT EMULATED")
    play(event)
    wait_text(browser, "in-line-text", "of Ants")
    wait_text(browser, "alarm-text", "is started again")
    wrong["much"] = browser.execute_script(MOVES)
    assert {} == {what: found for what, found in wrong.items() if found}
    browser.get("about:blank")
