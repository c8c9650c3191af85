# SPDX-License-Identifier: Apache-2.0
"""A whole event of two lanes: the operator in one browser, assistant and audience in another."""

from __future__ import annotations

import csv
import json
import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.core.turns import draw_lots
from tests.e2e.conftest import Material
from tests.support.browsing import be_screen, chromium, press
from tests.support.operators import People, answer, click, come_in, wait
from tests.support.running import Program, alive, descendants, eventually, kill_all, running_as
from tests.support.venue import LANES, LOAD_W, SECONDS, Venue

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LEFT, RIGHT = LANES
TEAMS = ("Ants", "Bees", "Moths", "Wasps")
SEED = "7 June, noon"
# The twins send the same answers. The third meets with a broken meter. The last sends fewer.
TWIN, OTHER_TWIN, UNLUCKY, LAST = (lot.name for lot in draw_lots(TEAMS, SEED))
MORE_S = 600 - SECONDS  # So much longer that only an operator ends the session.


@pytest.fixture(scope="module")
def browsers(browser: webdriver.Chrome) -> Iterator[tuple[webdriver.Chrome, webdriver.Chrome]]:
    """Return two browsers, each as large as a small laptop's screen."""
    with chromium() as watching:
        for one in (browser, watching):
            be_screen(one, 1366, 768)
        yield browser, watching


def test_a_whole_event(
    tmp_path: Path,
    material: Material,
    browsers: tuple[webdriver.Chrome, webdriver.Chrome],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From the table of teams to final results, with everything that happens at an event."""
    venue = Venue(tmp_path, material, TEAMS)
    venue.import_teams()
    secrets = {
        "Kim": venue.register_operator("Kim", "operator"),
        "Sam": venue.register_operator("Sam", "assistant"),
    }
    with venue.serve() as first:
        people = come_in(browsers, secrets, venue.console, venue.audience)
        draw_the_order(people)
        pass_a_failed_check(people, venue)
        two_teams_with_equal_scores(people, venue)
        a_meter_goes_away(people, venue, first)
        token, answers = venue.log_in(UNLUCKY, LEFT), people.kim.text("answers")
        status, said = venue.verify(token, RIGHT)
        assert (401, True) == (status, "lane 'left'" in said)
        the_desk_is_killed(people, first)
        everybody_is_back(people)
        the_laptop_is_cut_off(people, first)
        with venue.serve():
            everybody_is_back(people)
            assert (token, answers) == (venue.log_in(UNLUCKY, LEFT), people.sam.text("answers"))
            run_again_hidden(people, venue)
            apply_a_proposal(people, venue)
            make_it_final(people, venue)
            take_the_results(venue, capsys)
            assert [] == people.kim.complaints() + people.sam.complaints()


def draw_the_order(people: People) -> None:
    """The lottery decides who is next, and everybody sees it."""
    kim = people.kim
    kim.goes_to("Teams")
    press(kim.browser, "lottery")
    answer(kim.browser, "Draw", seed=SEED)
    kim.sees("order-text", f"Lottery with the seed '{SEED}' by Kim")
    for lane, team in ((LEFT, TWIN), (RIGHT, OTHER_TWIN)):
        people.audience_sees("now", f"Next in lane {LANES[lane]}\n{team}")


def pass_a_failed_check(people: People, venue: Venue) -> None:
    """A failed check keeps each lane from being armed, until somebody takes it on themselves."""
    kim = people.kim
    venue.touch_an_image()
    kim.goes_to("Session")
    kim.calls(TWIN, LEFT, 1)
    kim.sees("step-text", "A check fails:")
    kim.browser.find_element(By.ID, "step-link").click()
    kim.sees("urgent", "images and ground truth: 1 image is missing or has changed")
    kim.sees("verdict", "No session can be armed: a check fails.")
    click(kim.browser, "Override contest, images and ground truth")
    answer(kim.browser, "Override it", reason="copied again from the archive")
    kim.sees("urgent", "copied again from the archive")
    kim.sees("verdict", "Sessions can be armed. 1 overridden")


def two_teams_with_equal_scores(people: People, venue: Venue) -> None:
    """Both lanes run at once; equal answers and equal watt-hours share the first rank."""
    kim = people.kim
    kim.goes_to("Session")
    assert venue.log_in(TWIN, LEFT).startswith("It is not your turn yet")
    kim.arms(LEFT)
    assert "Your session is in lane 'left'" in venue.log_in(TWIN, RIGHT)
    kim.calls(OTHER_TWIN, RIGHT, 2)
    kim.arms(RIGHT)
    players = [venue.play(TWIN, LEFT), venue.play(OTHER_TWIN, RIGHT)]
    # So short a session may be over before a busy browser has shown that it runs.
    for lane in LANES:
        people.both_see("state", "SCORED", lane)
        kim.sees("verdict", "VALID", lane)
        kim.sees("images", "12 of 12", lane)
        press(kim.browser, f"seen{'' if lane == LEFT else '-2'}")
        people.sam.sees("last-text", "Last: session", lane)
    for player in players:
        player.join()
    assert venue.log_in(TWIN, LEFT).startswith("Your session is over")
    people.audience_sees("entries", f"{LOAD_W * SECONDS / 3600:.4f}")
    ranks = "[...document.querySelectorAll('#entries .rank')].map((one) => one.innerText).join()"
    people.audience_finds(f"{ranks}.startsWith('1,1,')")


def a_meter_goes_away(people: People, venue: Venue, running: Program) -> None:
    """The alarm names one lane, and the other one runs to its deadline as if nothing happened."""
    kim = people.kim
    kim.calls(UNLUCKY, LEFT, 3)
    kim.asks("extra", LEFT, reason="the hall was locked", seconds=MORE_S)
    kim.sees("clock", "10:00", LEFT)
    kim.arms(LEFT)
    kim.calls(LAST, RIGHT, 4)
    kim.arms(RIGHT)
    players = [venue.play(UNLUCKY, LEFT), venue.play(LAST, RIGHT, venue.fewer_answers())]
    people.both_see("state", "RUNNING", LEFT)
    people.audience_sees("now", UNLUCKY)
    os.kill(meters_of(running)[0], signal.SIGKILL)
    people.both_see("alarm-text", "Lane left: The meter no longer integrates for session 3")
    people.both_see("state", "SCORED", RIGHT)
    kim.sees("verdict", "VALID", RIGHT)
    assert "Lane right" not in kim.text("alarm-text")
    assert "RUNNING" == kim.text("state")
    assert 0 < kim.seconds_left() < 600
    for player in players:
        player.join()


def meters_of(running: Program) -> list[int]:
    """Return the process ids of the emulated meters, that of lane 1 first."""
    return sorted(running_as("power emulate", running.child.pid))


def the_desk_is_killed(people: People, running: Program) -> None:
    """Both consoles come back by themselves, with the session that runs and the unseen result."""
    kill_all(running_as("desk", running.child.pid))
    people.both_see("notices", "The control desk ended (-9) and is started again")


def the_laptop_is_cut_off(people: People, running: Program) -> None:
    """Everything is killed at once; the pages say that what they show is old."""
    programs = [pid for pid, _ in descendants(running.child.pid)]
    running.child.kill()
    eventually(lambda: not any(alive(pid) for pid in programs), "the programs to stop")
    people.both_see("connection", "connection lost")
    people.audience_sees("connection", "connection lost")


def everybody_is_back(people: People) -> None:
    """Every page shows the truth again, without a reload and without a login."""
    people.both_see("connection", "live")
    people.both_see("state", "RUNNING", LEFT)
    for person in (people.kim, people.sam):
        assert 0 < person.seconds_left() < 600
    people.both_see("alarm-text", "The meter no longer integrates for session 3")
    people.both_see("last-text", "Look at session 4", RIGHT)
    people.audience_sees("connection", "live")
    people.audience_sees("now", UNLUCKY)


def run_again_hidden(people: People, venue: Venue) -> None:
    """A void session leaves the scoreboard; its re-run stays hidden until the thaw."""
    kim = people.kim
    press(kim.browser, "seen-2")
    kim.asks("rerun", LEFT, reason="the meter's plug was out")
    people.both_see("session-title", f"Session 5: {UNLUCKY}")
    people.audience_sees("entries", "runs again")
    freeze(people, "freeze", "Freeze it")
    people.audience_sees("state", "FROZEN")
    before = venue.public_bytes()
    kim.goes_to("Session")
    kim.asks("extra", LEFT, reason="as the first time", seconds=MORE_S)
    kim.sees("clock", "10:00", LEFT)
    kim.arms(LEFT)
    player = venue.play(UNLUCKY, LEFT)
    kim.sees("images", "12 of 12", LEFT)
    player.join()
    # A quick machine answers everything within a second, and so short an energy is SUSPECT.
    wait(kim.browser, lambda: kim.seconds_left(LEFT) <= 600 - SECONDS, "enough to integrate")
    assert before == venue.public_bytes()
    kim.asks("stop", LEFT)
    people.both_see("state", "SCORED", LEFT)
    people.both_see("last-text", "Look at session 5", LEFT)
    press(kim.browser, "seen")
    assert before == venue.public_bytes()
    freeze(people, "unfreeze", "Unfreeze it")
    people.audience_sees("state", "PROVISIONAL")
    assert before["/view"] != venue.public_bytes()["/view"]


def freeze(people: People, button: str, yes: str) -> None:
    """Freeze the scoreboard on the page of the results, or unfreeze it."""
    people.kim.goes_to("Results")
    press(people.kim.browser, button)
    answer(people.kim.browser, yes)


def apply_a_proposal(people: People, venue: Venue) -> None:
    """New scores are shown beside the old ones, count once they are applied, and not before."""
    kim = people.kim
    assert 0 == venue.propose("class 1 of image 1 is not clear")
    kim.sees("proposals", "Proposal 1, open: class 1 of image 1 is not clear")
    kim.sees("open", "Proposal 1 of new scores is open.")
    assert not kim.browser.find_element(By.ID, "finalize").is_enabled()
    assert 1 == venue.referee("finalize", "--approved-by", "Kim")
    before = json.loads(venue.public_bytes()["/view"])["view"]["entries"]
    kim.browser.find_element(By.XPATH, "//button[.='Apply…']").click()
    answer(kim.browser, "Apply it", reason="the committee agrees")
    kim.sees("proposals", "applied by Kim")

    def changed() -> bool:
        after = json.loads(venue.public_bytes()["/view"])["view"]["entries"]
        return [one["mean_ap"] for one in after] != [one["mean_ap"] for one in before]

    eventually(changed, "the new scores on the scoreboard")


def make_it_final(people: People, venue: Venue) -> None:
    """A session that had more time is reviewed; two people approve, and the audience reads who."""
    kim = people.kim
    kim.sees("open", f"of '{UNLUCKY}' was not run as the others were: {MORE_S} s more time.")
    review = kim.browser.find_element(By.XPATH, "//button[.='Review…']")
    # The table's head stays at the top of the page, and would lie over the button there.
    kim.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", review)
    review.click()
    answer(kim.browser, "Let it stand", reason="its first session lost the hall's time")
    people.audience_sees("entries", f"{MORE_S} s more time")
    press(kim.browser, "finalize")
    answer(kim.browser, "Make it final", approvers="Kim, Grace")
    kim.sees("state-text", "Approved by Kim, Grace")
    people.audience_sees("state", "FINAL")
    people.audience_sees("state-text", "approved by Kim, Grace")
    kim.goes_to("Audit")
    kim.sees("rows", "copied again from the archive")


def take_the_results(venue: Venue, capsys: pytest.CaptureFixture[str]) -> None:
    """Every export tells the same final ranking, and the evidence of a session is whole."""
    capsys.readouterr()
    assert 0 == venue.referee("results", "--json")
    results = json.loads(capsys.readouterr().out)
    entries = results["entries"]
    assert results["final"]
    by_team = {one["team"]: one for one in entries}
    shared = by_team[TWIN]["rank"]
    assert shared == by_team[OTHER_TWIN]["rank"]
    assert shared + 1 not in [one["rank"] for one in entries]
    assert (5, 2) == (by_team[UNLUCKY]["session"], by_team[UNLUCKY]["attempts"])
    assert {LOAD_W * SECONDS / 3600} == {by_team[team]["energy_wh"] for team in (TWIN, LAST)}
    assert 0 == venue.referee("results", "--csv")
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [one["team"] for one in entries] == [row["team"] for row in rows]
    assert 0 == venue.referee("results", "--latex")
    table = capsys.readouterr().out
    assert all(team in table for team in TEAMS)
    page = venue.folder / "results.html"
    assert 0 == venue.referee("results", "--html", str(page))
    assert all(team in page.read_text() for team in TEAMS)
    bundle = venue.folder / "session5.zip"
    assert 0 == venue.referee("export", "5", "--out", str(bundle))
    with zipfile.ZipFile(bundle) as members:
        score = json.loads(members.read("score.json"))
    assert by_team[UNLUCKY]["score"] == score["score"]
