# SPDX-License-Identifier: Apache-2.0
"""What does not fit on a page: the page itself tells it, in any window."""

from __future__ import annotations

from pathlib import Path

from selenium import webdriver

from tests.support.hits import misses

_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def misfits(browser: webdriver.Chrome) -> list[str]:
    """Return what does not fit on the page that is open, in words; nothing is the empty list.

    A text covers another; is cut and has no title with the whole of it; a word, a number or a
    verdict is broken; the page or a place on it scrolls sideways; a click would miss (`misses`).
    """
    found: list[str] = browser.execute_script(_SCRIPT)
    return found + misses(browser)


def be_dark(browser: webdriver.Chrome, dark: bool, calm: bool = False) -> None:
    """Let the browser's system be dark or light, and want less motion if `calm`."""
    features = [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
