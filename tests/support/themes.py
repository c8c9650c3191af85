# SPDX-License-Identifier: Apache-2.0
"""The themes of a system in which pages are looked at."""

from __future__ import annotations

from selenium import webdriver

THEMES = {
    "light": {"prefers-color-scheme": "light", "forced-colors": "none"},
    "dark": {"prefers-color-scheme": "dark", "forced-colors": "none"},
    "forced": {"prefers-color-scheme": "light", "forced-colors": "active"},
}
"""What a page is told of its system, by the theme; with forced colours the system has its own."""


def be_theme(browser: webdriver.Chrome, theme: str) -> None:
    """Let the browser's system have a theme. Nothing moves, so no colour is on its way."""
    told = THEMES[theme] | {"prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in told.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def forget_theme(browser: webdriver.Chrome) -> None:
    """Give the browser its own theme back."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
