# SPDX-License-Identifier: Apache-2.0
"""No page keeps anybody out, in any theme: names, roles, contrast, and the focus of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.support.barriers import barriers
from tests.support.browsing import be_screen
from tests.support.every_page import NAMES, Page, every_page
from tests.support.focus import unreachable
from tests.support.operators import wait
from tests.support.themes import THEMES, be_theme, forget_theme

pytestmark = [pytest.mark.slow, pytest.mark.browser]

UNFOLD = "for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true;"
WINDOW = (1024, 768)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Page]]:
    """Return all pages, served once for all tests."""
    with every_page(tmp_path_factory.mktemp("pages")) as found:
        yield found


@pytest.fixture(scope="module")
def browser(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return the browser in a small window, where places scroll."""
    be_screen(browser, *WINDOW)
    yield browser
    forget_theme(browser)
    browser.get("about:blank")


def see(browser: webdriver.Chrome, page: Page) -> None:
    """Open a page, wait until it is there, and unfold it."""
    browser.get("about:blank")  # An address that differs behind its # alone loads nothing.
    browser.get(page.url)
    wait(
        browser,
        lambda: page.text in browser.find_element(By.CSS_SELECTOR, page.selector).text,
        f"{page.selector} to show {page.text!r}",
    )
    browser.execute_script(UNFOLD)
    if page.press:
        wait(
            browser,
            lambda: browser.find_element(By.CSS_SELECTOR, page.press).is_enabled(),
            page.press,
        )
        browser.execute_script("document.querySelector(arguments[0]).click()", page.press)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_keeps_nobody_out(
    pages: Mapping[str, Page], browser: webdriver.Chrome, name: str
) -> None:
    """Nothing is worse than minor, keys reach and scroll everything, and the focus is seen."""
    see(browser, pages[name])
    found = {}
    for theme in THEMES:
        be_theme(browser, theme)
        found[theme] = barriers(browser, only_colours=bool(found)) + unreachable(browser)
    assert {} == {theme: told for theme, told in found.items() if told}


def test_the_list_of_pages_is_whole(pages: Mapping[str, Page]) -> None:
    """Each page that is served here is looked at."""
    assert set(NAMES) == pages.keys()
