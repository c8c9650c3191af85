# SPDX-License-Identifier: Apache-2.0
"""The parts that pages are made of, on the page that shows each of them in each state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.static.conftest import Scripts
from tests.support.barriers import barriers
from tests.support.browsing import be_screen
from tests.support.fitting import be_dark, misfits
from tests.support.hits import misses

pytestmark = pytest.mark.browser

WINDOWS = ((360, 740), (683, 340), (1366, 681), (3840, 2160))
STYLE = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"


@pytest.fixture
def browser(one_chromium: webdriver.Chrome, address: str) -> Iterator[webdriver.Chrome]:
    """Return the browser with the page of the parts."""
    one_chromium.get(f"{address}parts")
    yield one_chromium
    one_chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    be_dark(one_chromium, False)
    one_chromium.get("about:blank")


def test_every_part_fits_every_window(
    browsers: Mapping[str, webdriver.Chrome], address: str
) -> None:
    """Long names, numbers and verdicts: nothing is broken, covered or cut, in each font."""
    for font, browser in browsers.items():
        browser.get(f"{address}parts")
        for window in WINDOWS:
            be_screen(browser, *window)
            browser.refresh()
            assert browser.execute_script("return document.querySelectorAll('.panel').length") > 10
            assert [] == misfits(browser), (font, window)
        assert [] == barriers(browser), font


def test_a_dialog_fits_a_low_window(browser: webdriver.Chrome) -> None:
    """Its question and its buttons can be reached."""
    be_screen(browser, 512, 300)
    browser.find_element(By.XPATH, "//button[text()='Show the dialog']").click()
    browser.find_element(By.ID, "confirm-yes").click()
    assert "Please fill in" in browser.find_element(By.ID, "confirm-missing").text
    assert [] == misfits(browser)


def test_who_wants_less_motion_gets_none(browser: webdriver.Chrome) -> None:
    """No part moves then, whatever its page asks for."""
    browser.execute_script("document.querySelector('.panel').style.transition = 'opacity 1s'")
    assert "opacity 1s" in browser.execute_script(STYLE, ".panel", "transition")
    be_dark(browser, False, calm=True)
    assert "none" in browser.execute_script(STYLE, ".panel", "transition")


def test_a_misfit_is_told(browser: webdriver.Chrome, address: str) -> None:
    """Two texts on one place, a cut one without title, a broken word, and a page too wide."""
    browser.get(address)
    browser.execute_script("""
        document.body.innerHTML = `<p style="position:absolute">Ants</p>
          <p style="position:absolute">Bees</p>
          <p style="overflow:hidden;width:1em;white-space:nowrap;margin-top:4em">cut off</p>
          <p style="width:2em;overflow-wrap:anywhere">broken</p>
          <p class="state" style="width:2em">NOT READY</p>
          <div style="width:5000px">wide</div>`;
    """)
    kinds = {fault.split(":")[0] for fault in misfits(browser)}
    assert {"overlap", "cut without its whole", "broken", "two lines", "sideways"} == kinds


def test_a_missed_click_is_told(browser: webdriver.Chrome, address: str) -> None:
    """A text over a button, a link that is cut, a field beyond an edge, and large letters."""
    browser.get(address)
    browser.execute_script("""
        document.body.innerHTML = `<div style="height:3000px"></div>
          <button style="width:10em;height:4em">Arm</button>
          <p style="position:relative;top:-2em;font-size:1rem">clock</p>
          <p style="overflow:hidden;height:9px"><a href="/">link</a></p>
          <div style="overflow:hidden;width:50px"><input name="far" style="margin-left:99px"></div>
          <p style="font-size:5rem;line-height:1">10:00</p>
          <button>Void</button>`;
    """)
    told = " ".join(misses(browser))
    assert "% of Arm by p" in told
    assert "of link by" in told
    assert "of far by" in told
    assert "large text takes a pointer: 10:00" in told
    assert "Void" not in told


def test_a_menu_says_what_it_is_about(scripts: Scripts) -> None:
    """Who hears the page hears more than the word on the button."""
    body = """
    const menu = m.menuOf("More", "More about ants", "an entry");
    const summary = menu.querySelector("summary");
    return [summary.textContent, summary.getAttribute("aria-label"), menu.className];
    """
    assert ["More", "More about ants", "menu"] == scripts.run("shared/parts.js", body)


def test_a_share_fills_no_more_than_its_bar(scripts: Scripts) -> None:
    """A share below 0 or above 1 is a full or an empty bar."""
    body = "return a[0].map((share) => m.barOf(share, '').firstChild.style.width)"
    shares = [-1, 0, 0.375, 1, 7]
    assert ["0%", "0%", "37.5%", "100%", "100%"] == scripts.run("shared/parts.js", body, shares)


def test_an_open_menu_closes_by_a_click_elsewhere_or_escape(browser: webdriver.Chrome) -> None:
    """A page of many rows has one open menu at most."""
    menu = "const menu = document.querySelector('details.menu'); "
    for close in (
        "document.body.click()",
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))",
        "menu.querySelector('button').click()",
    ):
        browser.execute_script(f"{menu} menu.open = true")
        assert browser.execute_script(f"{menu} {close}; return menu.open") is False, close
