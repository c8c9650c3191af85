# SPDX-License-Identifier: Apache-2.0
"""What a person who has only keys cannot reach or see: the page itself tells it."""

from __future__ import annotations

from pathlib import Path

from selenium import webdriver

_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def unreachable(browser: webdriver.Chrome) -> list[str]:
    """Return in words which parts of the open page no key reaches, scrolls or shows.

    Each part that has the focus shows it by an outline of 2 pixels at least, which stands out from
    its ground 3 to 1. A place that scrolls takes the focus, or has a part that does, and says what
    it is.
    """
    found: list[str] = browser.execute_script(_SCRIPT)
    return found
