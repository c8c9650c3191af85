# SPDX-License-Identifier: Apache-2.0
"""A screen that nobody has to plug in: Chromium without a window shows the real display page."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# Suggestions of the address line, which nobody sees, would take a third of Chromium's work.
_UNSEEN = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,PreloadTopChromeWebUI"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-quic",
    f"--disable-features={_UNSEEN}",
)


def missing_for_camera() -> str:
    """Return a sentence that says what this machine lacks for a simulated camera, or ''."""
    if not any(map(shutil.which, _CHROMIUM)):
        return (
            "The camera demo shows its images in Chromium, and there is none: install it and its "
            "driver, for example with 'sudo apt install chromium chromium-driver'."
        )
    if shutil.which("chromedriver") is None:
        return (
            "The camera demo drives Chromium by its program chromedriver, and there is none: "
            "install it, for example with 'sudo apt install chromium-driver'."
        )
    libraries = {"cv2": "OpenCV", "selenium": "selenium"}
    lacking = [name for module, name in libraries.items() if not importlib.util.find_spec(module)]
    if lacking:
        return (
            f"The camera demo needs {' and '.join(lacking)}: "
            "pip install 'opencv-python-headless<5' selenium (the extra 'camera')."
        )
    return ""


@contextmanager
def shown_page(
    url: str, width_px: int = 1920, height_px: int = 1080
) -> Iterator[Callable[[], Pixels]]:
    """Open a page full screen until the block ends; yield a function that returns its pixels.

    The pixels are those that a monitor of this size would get (height, width, RGB).
    """
    from selenium import webdriver  # Only the simulated camera needs it.

    options = webdriver.ChromeOptions()
    options.binary_location = next(path for path in map(shutil.which, _CHROMIUM) if path)
    for flag in (*FLAGS, "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"), log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        metrics = {"width": width_px, "height": height_px, "deviceScaleFactor": 1, "mobile": False}
        metrics |= {"screenWidth": width_px, "screenHeight": height_px}
        driver.set_window_size(width_px, height_px)
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(url)
        yield lambda: _decoded(driver.get_screenshot_as_png())
    finally:
        driver.quit()


def _decoded(png: bytes) -> Pixels:
    with Image.open(io.BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGB"))
