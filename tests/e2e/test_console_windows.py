# SPDX-License-Identifier: Apache-2.0
"""The console of several lanes in windows of many sizes, with long names and much to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from referee.core.states import EndCause
from referee.store.notices import insert_notice
from referee.store.readings import energy_of, insert_energy
from referee.store.scores import ScoringRun, insert_scoring_run
from tests.support.browsing import be_screen, wait_text
from tests.support.events import Event
from tests.support.lane_console import begin, lanes_event

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SIZES = ((1024, 600), (1366, 681), (1366, 768), (1920, 1080))
LATIN = "The Embedded Vision Laboratory of the University of Technolo"
JAPANESE = "東京工業大学コンピュータビジョン研究室低消費電力画像認識チーム"
ARABIC = "فريق الرؤية الحاسوبية في جامعة العلوم والتكنولوجيا بالقاهرة"
TEAMS = (LATIN, JAPANESE, ARABIC, "Wasps", "Ants")
DECIDING = "The integrator was reset before its result was read."
REASONS = (
    DECIDING,
    "The meter integrated 0 s, but the session lasted 21.5 s.",
    "The integration time went back: the meter was restarted.",
    "The current range was set to 1 A and changed to 0.1 A.",
    "The ranges are not known, so the uncertainty is not known.",
)

# The rectangles of all texts, as far as their places let them be seen.
TEXTS = """
const visible = (rect, element) => {
  let {left, top, right, bottom} = rect;
  for (let at = element; at && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at), box = at.getBoundingClientRect();
    if (style.clipPath !== "none") return null;
    if (style.overflowX !== "visible") {
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    }
    if (style.overflowY !== "visible") {
      [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
  }
  return right - left > 1 && bottom - top > 1 ? {left, top, right, bottom} : null;
};
const texts = [];
for (const element of document.querySelectorAll("#lanes *, .lower *, header *")) {
  if (!element.checkVisibility() || element.closest("option, th")) continue;
  for (const node of element.childNodes) {
    if (node.nodeType !== 3 || !node.data.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      // A font keeps room above and below its letters, in which lines may touch.
      const room = 0.2 * line.height;
      const {left, right} = line;
      const letters = {left, right, top: line.top + room, bottom: line.bottom - room};
      const seen = visible(letters, element);
      if (seen) texts.push({...seen, element, text: node.data.trim().slice(0, 30)});
    }
  }
}
"""
OVERLAPS = (
    TEXTS
    + """
const found = [];
texts.forEach((one, n) => texts.slice(n + 1).forEach((other) => {
  if (one.element === other.element) return;
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  if (wide > 2 && high > 2) found.push(`${one.text} | ${other.text}`);
}));
return found;
"""
)

WITHOUT_THE_WHOLE = """
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const style = getComputedStyle(element);
  if (!element.checkVisibility() || style.textOverflow !== "ellipsis") continue;
  if (element.scrollWidth <= element.clientWidth + 1) continue;
  const text = element.textContent.trim();
  const whole = element.closest("[title]") ?? element.querySelector("[title]");
  if (!whole?.title.includes(text)) found.push(text);
}
return found;
"""

OVER_THE_BAR = """
const alarm = document.getElementById("alarm");
const box = alarm.getBoundingClientRect();
const found = [];
for (let x = 5; x < box.right; x += 20) for (let y = box.top + 1; y < box.bottom; y += 6) {
  const at = document.elementFromPoint(x, y);
  if (!alarm.contains(at)) found.push(at?.id || at?.tagName);
}
const text = document.getElementById("alarm-text").getBoundingClientRect();
if (text.top < box.top) found.push("the bar's own edge");
return [...new Set(found)];
"""

CAN_BE_PRESSED = """
const button = document.getElementById("create");
button.scrollIntoView({block: "center"});
const box = button.getBoundingClientRect();
const points = [[box.left + 3, box.top + 3], [box.right - 3, box.bottom - 3]];
return points.every(([x, y]) => button.contains(document.elementFromPoint(x, y)));
"""

FIRST_REASON = """
const first = document.querySelector("#reasons li");
const place = document.getElementById("result");
place.scrollIntoView({block: "center"});
const at = first.getBoundingClientRect();
const seen = document.elementFromPoint(at.left + 20, at.bottom - 4);
return [first.textContent, at.bottom <= place.getBoundingClientRect().bottom + 1 && seen === first];
"""

# Words that are broken in the middle, as VAL-ID.
BROKEN = """
const lines = (one) => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight);
return [...document.querySelectorAll(".state, .actions button")].filter((one) =>
  one.checkVisibility() && lines(one) > 2.2).map((one) => one.textContent);
"""


@pytest.fixture(params=[2, 4])
def event(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Event]:
    """Return an event of two or four lanes with teams of long and foreign names."""
    with lanes_event(tmp_path, request.param, "emulated", *TEAMS) as found:
        yield found
        for meter in found.meters:
            meter.lost = False


def judge(event: Event, session: int, verdict: str, energy_wh: float | None, *reasons: str) -> None:
    """End a session, and store a verdict and a score of it."""
    event.desk.end(session, EndCause.STOP, "Kim")
    event.settle(session)
    with event.contest.database.write() as connection:
        insert_energy(
            connection,
            session,
            utc="",
            energy_wh=energy_wh,
            uncertainty_wh=None if energy_wh is None else 0.000522,
            verdict=verdict,
            detail={"reasons": reasons},
        )
        energy = energy_of(connection, session)
        assert energy is not None
        score = None if energy_wh is None else 0.8547 / energy_wh
        run = ScoringRun(0, energy.energy_id, 0.8547, score, {"verdict": verdict})
        insert_scoring_run(connection, session, event.contest.clock.now(), run)


def play(event: Event) -> None:
    """Bring about what fills the page most: verdicts, what is next in line, and two alarms."""
    lanes = len(event.meters)
    first = begin(event, LATIN, 1)
    second = begin(event, JAPANESE, 2)
    judge(event, first, "INVALID", None, *REASONS)
    if lanes > 2:
        judge(event, second, "VALID", 0.010000, "The meter was an emulator: not official.")
        judge(event, begin(event, ARABIC, 3), "SUSPECT", 0.020180, *REASONS[1:])
        begin(event, "Wasps", 4)
    event.desk.new_session("Ants", "Kim", 1)
    event.meters[lanes - 1].lost = True
    with event.contest.database.write() as connection:
        utc = event.contest.clock.now().utc.isoformat()
        text = "The emulated meter of lane left ended (-9) and is started again; its log says why."
        insert_notice(connection, None, utc, "alarm", text)


def test_everything_can_be_read_in_every_window(event: Event, browser: webdriver.Chrome) -> None:
    """No text covers another, what is cut has a title, and the first reason is in sight.

    Nothing lies over the red bar, and New session can be pressed.
    """
    play(event)
    last = len(event.meters)
    browser.get("about:blank")
    for size in SIZES:
        be_screen(browser, *size)
        browser.get(event.url)
        wait_text(browser, "verdict", "INVALID")
        wait_text(browser, "last-text", "Look at session 1")
        wait_text(browser, "in-line-text", "of Ants")
        wait_text(browser, f"state-{last}", "RUNNING")
        wait_text(browser, "alarm-text", "The power meter is lost")
        wait_text(browser, "alarm-text", "is started again")
        assert [] == browser.execute_script(OVERLAPS), size
        assert [] == browser.execute_script(BROKEN), size
        assert [] == browser.execute_script(WITHOUT_THE_WHOLE), size
        assert [] == browser.execute_script(OVER_THE_BAR), size
        assert browser.execute_script(CAN_BE_PRESSED), size
        assert [DECIDING, True] == browser.execute_script(FIRST_REASON), size
    browser.get("about:blank")


def test_a_short_name_is_whole_beside_the_tag(event: Event, browser: webdriver.Chrome) -> None:
    """The title of a session shows a name of five letters, however many lanes there are."""
    begin(event, "Wasps", 1)
    for size in SIZES[1:]:
        be_screen(browser, *size)
        browser.get(event.url)
        wait_text(browser, "session-title", "Session 1: Wasps")
        wait_text(browser, "state", "RUNNING")
        cut = "const at = document.getElementById('session-title');"
        cut += "return at.scrollWidth - at.clientWidth"
        assert 0 >= browser.execute_script(cut), size
    browser.get("about:blank")
