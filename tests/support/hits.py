# SPDX-License-Identifier: Apache-2.0
"""Which points of what can be pressed are not its own: the page itself tells it, in any window."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from selenium import webdriver

from tests.support.browsing import be_screen, wait_text
from tests.support.windows import FEW

_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")

Window = tuple[int, int, float]


def misses(browser: webdriver.Chrome) -> list[str]:
    """Return where a click would miss its button, link or field, in words.

    Each is scrolled to and asked at a grid of points, and the page is left where it was. Large
    letters that stick out of their line may take no pointer, also where nothing is beside them yet.
    """
    found: list[str] = browser.execute_script(_SCRIPT)
    return found


def misses_in_windows(browser: webdriver.Chrome) -> dict[Window, list[str]]:
    """Return the misses of the page that is open, by the window, where there are any.

    The page stays open and its windows change, which takes a tenth of the time of a new page.
    """
    found = {}
    for window in FEW:
        be_screen(browser, *window)
        found[window] = misses(browser)
    return {window: told for window, told in found.items() if told}


def misses_in_fonts(
    browsers: Mapping[str, webdriver.Chrome], url: str, part: str, text: str
) -> dict[str, dict[Window, list[str]]]:
    """Open a page in each font, wait for a text of a part, and return its misses in each window."""
    found = {}
    for font, browser in browsers.items():
        browser.get(url)
        wait_text(browser, part, text)
        found[font] = misses_in_windows(browser)
    return {font: told for font, told in found.items() if told}
