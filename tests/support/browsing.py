# SPDX-License-Identifier: Apache-2.0
"""A real browser, and the actions of an operator on a page."""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from referee.demo.screen import FLAGS
from tests.support.fonts import fonts_file
from tests.support.programs import chromium_path, headless_path, path_of
from tests.support.running import PATIENCE_S

_WINDOW = (1280, 1000)


@contextmanager
def chromium(*, whole: bool = False, font: str = "") -> Iterator[webdriver.Chrome]:
    """Run Chromium, headless, until the block ends.

    `whole` asks for the browser that people have, where a page must know that it is hidden. `font`
    is the one family that it finds (`tests/support/fonts.py`); without it, all of the machine's.
    """
    options = webdriver.ChromeOptions()
    options.binary_location = (chromium_path() if whole else headless_path()) or ""
    for flag in (*FLAGS, "--window-size={},{}".format(*_WINDOW)):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as folder:
        file = fonts_file(font, Path(folder)) if font else None
        found = {} if file is None else {"FONTCONFIG_FILE": str(file)}
        service = webdriver.ChromeService(
            path_of("chromedriver"), log_output=subprocess.DEVNULL, env=os.environ | found
        )
        driver = webdriver.Chrome(options=options, service=service)
        driver.set_script_timeout(PATIENCE_S)
        try:
            yield driver
        finally:
            driver.quit()


def fresh_window(browser: webdriver.Chrome) -> None:
    """Leave a running browser one empty window, without cookies and complaints."""
    old = browser.window_handles
    browser.switch_to.new_window("window")
    fresh = browser.current_window_handle
    for window in old:
        browser.switch_to.window(window)
        browser.close()
    browser.switch_to.window(fresh)
    browser.set_window_size(*_WINDOW)
    browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
    browser.get_log("browser")


def be_screen(
    browser: webdriver.Chrome, width_px: int = 1920, height_px: int = 1080, ratio: float = 1
) -> None:
    """Give the browser a screen of so many device pixels, and a window that fills it.

    `ratio` is the number of device pixels in a pixel of the page, as the zoom 1.5 has it.
    """
    width, height = int(width_px / ratio), int(height_px / ratio)
    metrics = {"width": width, "height": height, "screenWidth": width, "screenHeight": height}
    metrics |= {"deviceScaleFactor": ratio, "mobile": False}
    browser.set_window_size(width, height)  # A page sees this size as its window's outer one.
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def drawn(browser: webdriver.Chrome) -> None:
    """Wait until a page has drawn itself in a window that has just changed, its curves too."""
    browser.execute_async_script(
        "const told = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(told))"
    )


def pixels_of(browser: webdriver.Chrome) -> Image.Image:
    """Return what the browser shows, in device pixels."""
    with Image.open(io.BytesIO(browser.get_screenshot_as_png())) as shot:
        return shot.convert("RGB")


def text_of(browser: webdriver.Chrome, element: str) -> str:
    """Return what an element of the page shows."""
    return str(browser.find_element(By.ID, element).text)


def wait_text(browser: webdriver.Chrome, element: str, text: str) -> None:
    """Wait until an element of the page shows this text; the page may replace it meanwhile."""
    gone = [StaleElementReferenceException]
    WebDriverWait(browser, PATIENCE_S, 0.1, gone).until(
        lambda driver: text in text_of(driver, element), f"{element} to show {text!r}"
    )


def press(browser: webdriver.Chrome, button: str) -> None:
    """Press a button as soon as the page allows it."""
    found = browser.find_element(By.ID, button)
    WebDriverWait(browser, PATIENCE_S, 0.1).until(lambda driver: found.is_enabled(), button)
    found.click()


def choose(browser: webdriver.Chrome, field: str, value: str) -> None:
    """Choose an entry of a list by its value, as soon as the page has it."""
    entry = f"#{field} option[value='{value}']"
    WebDriverWait(browser, PATIENCE_S, 0.1).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, entry), f"{field} to offer {value!r}"
    )
    browser.find_element(By.CSS_SELECTOR, entry).click()
