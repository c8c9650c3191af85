# SPDX-License-Identifier: Apache-2.0
"""The page that explains a score, in a real browser: read at once, in each window and font."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.formats.truth_file import GroundTruthFile
from referee.scoring.ilsvrc import evaluate
from referee.service.results.score_explanation import write_explanation
from tests.support.barriers import barriers
from tests.support.browsing import be_screen
from tests.support.fitting import be_dark, misfits
from tests.support.scoring_cases import make_detections, make_truth

pytestmark = [pytest.mark.slow, pytest.mark.browser]

WINDOWS = ((390, 844), (1024, 768), (1366, 768), (1920, 1080), (3840, 2160))
TEAM = "東京低消費電力画像認識研究室 and the Long Beach Convention Centre Vision Collective"
BOX = (10, 10, 59, 59)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of an explanation of sixty classes, each taken for another one."""
    folder: Path = tmp_path_factory.mktemp("why")
    classes = [*range(1, 61)]
    truth = make_truth([*range(1, 26)], classes, [(1 + n % 25, n, BOX) for n in classes])
    truth.class_names.update({n: f"golf ball with a long name {n}" for n in classes})
    detections = make_detections([(1 + n % 25, 1 + n % 60, 0.9, BOX) for n in classes])
    result = evaluate(truth, detections)
    subject = f"session 3 of '{TEAM}'"
    write_explanation(folder, result, GroundTruthFile(truth), detections, None, subject)
    return (folder / "index.html").as_uri()


def test_the_page_fits(page: str, browsers: Mapping[str, webdriver.Chrome]) -> None:
    """Nothing is cut or covered, in light and dark; nothing keeps anybody out of it."""
    found = {}
    for font, browser in browsers.items():
        for window in WINDOWS if not found else WINDOWS[:1]:
            be_screen(browser, *window)
            browser.get(page)
            found[f"{font} {window}"] = misfits(browser)
    for dark in (True, False):
        be_dark(browser, dark)
        found[f"{dark=}"] = barriers(browser)
    assert {} == {where: told for where, told in found.items() if told}


@pytest.mark.parametrize("window", WINDOWS)
def test_the_first_mistake_is_in_the_first_window(
    page: str, browser: webdriver.Chrome, window: tuple[int, int]
) -> None:
    """The curves stand below all mistakes, folded, and a link leads to them."""
    be_screen(browser, *window)
    browser.get(page)
    first = browser.find_element(By.CSS_SELECTOR, "figure")
    assert "wrong class" in first.text
    assert first.rect["y"] < window[1]
    assert browser.find_element(By.ID, "classes").rect["height"] < 300
    browser.find_element(By.LINK_TEXT, "Curves of the classes").click()
    assert browser.execute_script("return location.hash") == "#classes"
