# SPDX-License-Identifier: Apache-2.0
"""Actions: a refusal appears in its dialog or in the bar, and nobody has to type anything again."""

from __future__ import annotations

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.static.conftest import Scripts
from tests.support.browsing import text_of, wait_text
from tests.support.operators import wait

pytestmark = pytest.mark.browser

# A desk in the page: `window.desk` has what it answers next, and `window.heard` what it was asked.
DESK = """
window.clock = world();
document.body.innerHTML = "<main><section><h2>Teams</h2>"
  + "<button id='open'>Register…</button></section></main>";
window.heard = [];
window.desk = [];
const plain = window.fetch;
window.fetch = async (path, options = {}) => {
  if (path === "form-key") return { ok: true, json: async () => ({ key: "k" }) };
  if (!options.method) return plain(path, options);
  window.heard.push([path, JSON.parse(options.body)]);
  let next = window.desk.shift();
  if (next.slow) await new Promise((done) => { window.go = done; });
  next = next.slow ?? next;
  if (next === "away") throw new TypeError("no network");
  return { ok: !next.text, json: async () => next };
};
const { act, askAndAct } = await import("/static/shared/acting.js");
document.head.innerHTML += ["base", "desk"]
  .map((name) => `<link rel=stylesheet href=/static/shared/${name}.css>`).join("");
window.done = [];
window.act = (path) => act(path, {}, (answer) => { window.done.push(answer); });
document.getElementById("open").addEventListener("click", () => askAndAct(
  { text: "Register a team?", yes: "Register it", fields: [{ name: "team", label: "Name" }] },
  (texts) => ["teams/add", texts], (answer, texts) => { window.done.push([answer, texts]); }));
"""
REFUSED = {"code": "input_wrong", "text": "'bees' is registered already."}


@pytest.fixture
def page(fresh: Scripts) -> webdriver.Chrome:
    """Return a page with a desk whose answers the test says."""
    fresh.run("shared/page.js", DESK)
    return fresh.browser


def says(page: webdriver.Chrome, *answers: object) -> None:
    """Let the desk answer so."""
    page.execute_script("window.desk.push(...arguments[0])", list(answers))


def types(page: webdriver.Chrome, *keys: str) -> None:
    """Type where the focus is."""
    ActionChains(page).send_keys(*keys).perform()


def opens(page: webdriver.Chrome, text: str) -> None:
    """Open the dialog by its button, and answer it with a text."""
    page.find_element(By.ID, "open").send_keys(Keys.ENTER)
    types(page, text, Keys.ENTER)


def acts(page: webdriver.Chrome, path: str) -> None:
    """Act without a dialog, to the end."""
    page.execute_async_script("window.act(arguments[0]).then(arguments[1])", path)


def later(page: webdriver.Chrome, ms: int) -> None:
    """Let the page's clock go on."""
    page.execute_async_script("window.clock.pass(arguments[0]).then(arguments[1])", ms)


def of(page: webdriver.Chrome, expression: str) -> object:
    """Return the value of an expression of the page."""
    return page.execute_script(f"return {expression}")


def dialogs(page: webdriver.Chrome) -> int:
    """Return how many dialogs are open."""
    return len(page.find_elements(By.CSS_SELECTOR, "dialog[open]"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [(REFUSED, REFUSED["text"]), ("away", "The desk does not answer (no network). Find out")],
)
def test_a_refusal_stands_in_its_dialog(page: webdriver.Chrome, answer: object, said: str) -> None:
    """It has its text still, which is mended and sent again; then the focus is back."""
    says(page, answer, {})
    opens(page, "bees")
    wait_text(page, "confirm-missing", said)
    assert (1, "", []) == (dialogs(page), text_of(page, "refusal"), of(page, "window.done"))
    types(page, " 2", Keys.ENTER)
    wait_until_gone(page)
    asked = [["teams/add", {"team": "bees"}], ["teams/add", {"team": "bees 2"}]]
    assert asked == of(page, "window.heard")
    assert [[{}, {"team": "bees 2"}]] == of(page, "window.done")
    assert "open" == of(page, "document.activeElement.id")


def wait_until_gone(page: webdriver.Chrome) -> None:
    """Wait until no dialog is there."""
    wait(page, lambda: not page.find_elements(By.TAG_NAME, "dialog"), "the dialog to go")


def test_a_cancelled_dialog_asks_nothing(page: webdriver.Chrome) -> None:
    """Nothing is said of it, and nothing done, also after a refusal."""
    says(page, REFUSED)
    opens(page, "bees")
    wait_text(page, "confirm-missing", REFUSED["text"])
    types(page, Keys.ESCAPE)
    wait_until_gone(page)
    assert (1, [], "") == (
        of(page, "window.heard.length"), of(page, "window.done"), text_of(page, "refusal"),
    )  # fmt: skip


def test_a_warning_after_a_dialog_stands_in_the_bar(page: webdriver.Chrome) -> None:
    """The act is done, so its dialog is closed."""
    says(page, {"warning": "'bees' looks like 'Bees'."})
    opens(page, "bees")
    wait_text(page, "refusal", "'bees' looks like 'Bees'.")
    assert (0, 1) == (dialogs(page), of(page, "window.done.length"))


@pytest.mark.parametrize("answer", [REFUSED, "away"])
def test_another_refusal_stands_in_the_bar_until_a_click(
    page: webdriver.Chrome, answer: object
) -> None:
    """It is read aloud, is in view however long the page is, and a click or a key dismisses it."""
    page.execute_script("document.querySelector('main').style.height = '300vh'")
    for leave in ("refusal", "dismiss"):
        says(page, answer)
        acts(page, "teams/add")
        bar = page.find_element(By.ID, "refusal")
        assert bar.text and "alert" == bar.get_attribute("role")
        later(page, 600_000)
        for top in ("0", "document.body.scrollHeight"):
            page.execute_script(f"window.scrollTo(0, {top})")
            assert of(page, IN_VIEW)
        page.find_element(By.ID, leave).click()
        assert "" == bar.text
        assert not page.find_element(By.ID, "dismiss").is_displayed()


IN_VIEW = """(() => {
  const { left, right, top, bottom } = document.getElementById("refusal").getBoundingClientRect();
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return top >= 0 && bottom <= innerHeight && hit.id === "refusal";
})()"""


def test_the_next_act_takes_a_refusal_away(page: webdriver.Chrome) -> None:
    """What was said of the last one would be untrue of it. So does a dialog that opens."""
    for step in ("act", "dialog"):
        says(page, REFUSED, {})
        acts(page, "teams/add")
        assert REFUSED["text"] == text_of(page, "refusal")
        if step == "act":
            acts(page, "teams/add")
        else:
            page.find_element(By.ID, "open").send_keys(Keys.ENTER)
        assert "" == text_of(page, "refusal")


def test_a_desk_that_takes_its_time_is_waited_for(page: webdriver.Chrome) -> None:
    """After a second the bar says that it is asked; an answer that comes at once says nothing."""
    says(page, {"slow": {}})
    page.execute_script("window.acted = window.act('check/again')")
    later(page, 900)
    assert "" == text_of(page, "refusal")
    later(page, 200)
    assert "Asking the desk…" == text_of(page, "refusal")
    page.execute_async_script("window.go(); window.acted.then(arguments[0])")
    assert "" == text_of(page, "refusal")


@pytest.mark.parametrize(("answer", "done"), [({}, 1), (REFUSED, 0)])
def test_an_answer_after_its_dialog_was_closed_is_told(
    page: webdriver.Chrome, answer: object, done: int
) -> None:
    """Who has waited too long closes the dialog; the bar then says what came of it."""
    says(page, {"slow": answer})
    opens(page, "bees")
    later(page, 5100)
    types(page, Keys.ESCAPE)
    wait_until_gone(page)
    opens(page, "wasps")
    wait_text(page, "confirm-missing", "has not answered the last request yet")
    types(page, Keys.ESCAPE)
    wait_until_gone(page)
    assert (1, []) == (of(page, "window.heard.length"), of(page, "window.done"))
    page.execute_script("window.go()")
    if not done:
        wait_text(page, "refusal", REFUSED["text"])
    wait(page, lambda: of(page, "window.done.length") == done, "the end")
