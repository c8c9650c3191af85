# SPDX-License-Identifier: Apache-2.0
"""Long and foreign names on the operators' pages: what matters beside them is always in view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from selenium import webdriver

from tests.support.browsing import be_screen, wait_text
from tests.support.event_console import event_console
from tests.support.events import Event
from tests.support.fitting import misfits

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LONG = "The Long Beach Convention Centre Low Power Vision Collective"
TEAMS = (LONG, "東京低消費電力画像認識研究室チームさくら", "فريق الرؤية منخفضة الطاقة", "ants")
REASON = "The power cable came loose in minute three, and the meter showed nothing for 40 s"
WINDOWS = ((1920, 1080), (1366, 768), (1024, 768), (390, 844))
# The page of operators, the list on it, and where reasons stand.
PAGES = (
    ("results", "entries", ".note"),
    ("teams", "teams", ".attempts"),
    ("", "sessions", ".reason"),
)
# What is in view of each part that a selector names, without scrolling sideways.
IN_VIEW = """
return [...document.querySelectorAll(arguments[0])].every((one) => {
  const { left, right, width } = one.getBoundingClientRect();
  return width > 0 && left >= 0 && right <= document.documentElement.clientWidth + 1
    && one.scrollWidth <= one.clientWidth + 1;
});
"""


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Event]:
    """Return an event with a void session, whose reason is long, and results of each kind."""
    with event_console(tmp_path_factory.mktemp("names")) as found:
        found.register(
            *TEAMS, organisation="Institute of Efficient Vision, University of the North"
        )
        number = found.play(LONG)
        found.desk.steps_of(number).void(number, "Kim", REASON)
        found.play(LONG, verdict="SUSPECT")
        found.play(TEAMS[1], found=3)
        found.play(TEAMS[2], found=2)
        yield found


@pytest.mark.parametrize(("page", "part", "reasons"), PAGES, ids=["results", "teams", "console"])
def test_rows_keep_what_matters(
    event: Event, browsers: Mapping[str, webdriver.Chrome], page: str, part: str, reasons: str
) -> None:
    """Nothing is cut without its whole, and reasons are read whole, in each window and font."""
    found = {}
    for font, browser in browsers.items():
        for window in WINDOWS if not found else WINDOWS[1::2]:
            be_screen(browser, *window)
            browser.get(f"{event.url}/{page}")
            wait_text(browser, part, "ants" if page else "VOID")
            told = misfits(browser)
            if not browser.execute_script(IN_VIEW, f"#{part} {reasons}"):
                told.append("a reason is out of view")
            found[f"{font} {window}"] = told
    assert {} == {where: told for where, told in found.items() if told}


def test_results_on_a_phone_show_rank_score_and_verdict(
    event: Event, browser: webdriver.Chrome
) -> None:
    """They are in view without scrolling sideways, whatever the names."""
    be_screen(browser, 390, 844)
    browser.get(f"{event.url}/results")
    wait_text(browser, "entries", "SUSPECT")
    parts = ", ".join(f"#entries td.{field}" for field in ("rank", "score", "verdict"))
    assert browser.execute_script(IN_VIEW, parts)
    scores = (
        "return [...document.querySelectorAll('#entries td.score')].map((one) => one.innerText)"
    )
    assert ["5.00", "~3.8", "~2.5", "–"] == browser.execute_script(scores)


def test_a_name_in_the_list_of_sessions_loses_its_middle(
    event: Event, browser: webdriver.Chrome
) -> None:
    """Its end is read, and the keys show the whole."""
    be_screen(browser, 1024, 768)
    browser.get(event.url)
    wait_text(browser, "sessions", "SUSPECT")
    cut = """
    return [...document.querySelectorAll("#sessions .name")]
      .filter((one) => one.title === arguments[0])
      .map((one) => [one.querySelector(".end")?.textContent, one.tabIndex]);
    """
    found = browser.execute_script(cut, LONG)
    assert len(found) == 2
    for end, stop in found:
        assert (end, LONG.endswith(end or "?"), stop) == (end, True, 0)
