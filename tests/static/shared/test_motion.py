# SPDX-License-Identifier: Apache-2.0
"""Motion: teams come from where they stood, unless somebody can do without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.static.conftest import Scripts
from tests.support.fitting import be_dark

pytestmark = pytest.mark.browser

MOVE = """
document.body.innerHTML = '<ol><li data-team="ants">ants</li><li data-team="bees">bees</li></ol>';
const list = document.querySelector("ol");
const before = m.placesIn(list);
list.append(list.firstChild);
list.insertAdjacentHTML("beforeend", '<li data-team="wasps">wasps</li>');
m.moveFrom(before, list);
const moving = document.getAnimations().map((one) => one.effect.target.dataset.team);
"""
SWITCH = """
document.body.innerHTML = "<button></button>";
const button = document.querySelector("button");
m.switchMotion(button);
"""


@pytest.fixture(autouse=True)
def forgotten(fresh: Scripts) -> Iterator[None]:
    """Let the browser keep no choice of a test."""
    yield
    be_dark(fresh.browser, False)
    fresh.browser.execute_script(
        "localStorage.clear(); delete document.documentElement.dataset.motion"
    )


def test_those_who_change_places_move(fresh: Scripts) -> None:
    """Who has only now come has no place to come from."""
    assert ["bees", "ants"] == fresh.run("shared/motion.js", f"{MOVE} return moving;")


def test_who_is_calm_sees_no_motion(fresh: Scripts) -> None:
    """The system's wish for less motion counts while the page is open."""
    be_dark(fresh.browser, False, calm=True)
    assert [] == fresh.run("shared/motion.js", f"{MOVE} return moving;")


def test_the_button_switches_all_motion_off_and_on(fresh: Scripts) -> None:
    """The browser keeps the choice for the next page."""
    body = f"{SWITCH} button.click(); {MOVE} return [moving, localStorage.getItem('motion')];"
    assert [[], "off"] == fresh.run("shared/motion.js", body)
    body = f"""{SWITCH}
    const said = [button.textContent, button.getAttribute("aria-pressed")];
    button.click();
    {MOVE}
    return [...said, moving.length];
    """
    assert ["Motion is off", "false", 2] == fresh.run("shared/motion.js", body)
