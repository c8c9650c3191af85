# SPDX-License-Identifier: Apache-2.0
"""The console's pages keep nobody out, whether the system is light or dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver

from tests.e2e.test_console_windows import TEAMS, play
from tests.support.barriers import barriers
from tests.support.browsing import be_screen, wait_text
from tests.support.fitting import be_dark
from tests.support.lane_console import lanes_event

pytestmark = [pytest.mark.slow, pytest.mark.browser]

UNFOLD = "for (const one of document.querySelectorAll('details')) one.open = true;"
CONSOLE = (
    ("", "verdict", "INVALID"),
    ("results", "entries", "INVALID"),
    ("teams", "teams", "Ants"),
    ("check", "urgent", "WARN"),
    ("audit", "audit-title", "Audit"),
)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_console_keeps_nobody_out(
    tmp_path: Path, browser: webdriver.Chrome, dark: bool
) -> None:
    """Each page of two lanes with an alarm has nothing worse than minor, folded or not."""
    be_screen(browser, 1366, 681)
    be_dark(browser, dark)
    with lanes_event(tmp_path, 2, "emulated", *TEAMS) as event:
        play(event)
        found = {}
        for page, part, text in CONSOLE:
            browser.get(f"{event.url}/{page}")
            wait_text(browser, part, text)
            browser.execute_script(UNFOLD)
            found[page] = barriers(browser)
        browser.get("about:blank")
        event.meters[1].lost = False
    be_dark(browser, False)
    assert {page: [] for page, *_ in CONSOLE} == found
