# SPDX-License-Identifier: Apache-2.0
"""A whole event of four lanes in a maximised window of a small laptop, by one hand alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver

from tests.e2e.conftest import Material
from tests.support.browsing import be_screen
from tests.support.fitting import misfits
from tests.support.hands import Hand, Keyboard, Mouse
from tests.support.operators import Operator, part_of, wait
from tests.support.venue import NAMES, Venue

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TEAMS = ("Ants", "Bees", "Moths", "Wasps", "Hornets")
WINDOW_PX = (1366, 681)


@pytest.mark.parametrize("kind", [Mouse, Keyboard])
def test_one_hand_runs_an_event_of_four_lanes(
    tmp_path: Path, material: Material, browser: webdriver.Chrome, kind: type[Hand]
) -> None:
    """From the login to the final results, nothing is out of reach, covered or unmarked."""
    venue = Venue(tmp_path, material, TEAMS, meters=("emulated",) * len(NAMES))
    venue.import_teams()
    password = venue.register_operator("Kim", "operator")
    be_screen(browser, *WINDOW_PX)
    with venue.serve():
        person = Person(Operator(browser, venue.console), kind(browser))
        person.logs_in(password)
        person.draws_the_order()
        person.runs_four_at_once(venue)
        person.voids_and_runs_again(venue)
        person.makes_it_final()
        # A page may still ask once when its login has ended, and is refused.
        assert [] == person.operator.complaints()
        person.leaves()
        assert venue.public_bytes()["/view"].count(b'"VALID"') >= len(TEAMS)


class Person:
    """Kim, who acts by one hand, and sees that every page fits."""

    def __init__(self, operator: Operator, hand: Hand) -> None:
        self.operator, self.hand = operator, hand

    def logs_in(self, password: str) -> None:
        """The console leads to the login, and the login back."""
        self.operator.browser.get(self.operator.url)
        self.hand.writes("[name=name]", "Kim")
        self.hand.writes("[name=password]", password)
        self.hand.presses("form button")
        self.operator.sees("person", "Kim")

    def goes_to(self, page: str) -> None:
        """Follow a link in the page's head."""
        self.hand.presses(f"nav a[href='{page}']")
        self.operator.sees("connection", "live")
        self.fits()

    def answers(self, **texts: str) -> None:
        """Fill in the dialog, and say yes."""
        self.fits()
        for name, text in texts.items():
            self.hand.writes(f"#confirm [name={name}]", text)
        self.hand.presses("#confirm-yes")

    def acts(self, part: str, lane: int) -> None:
        """Press a button of a lane's card."""
        self.hand.presses(f"#{part_of(part, lane)}")

    def fits(self) -> None:
        """See that nothing is covered, cut or broken."""
        assert [] == misfits(self.operator.browser)

    def draws_the_order(self) -> None:
        """The lottery decides who is next."""
        self.goes_to("teams")
        self.hand.presses("#lottery")
        self.answers(seed="noon")
        self.operator.sees("order-text", "Lottery with the seed 'noon' by Kim")

    def runs_four_at_once(self, venue: Venue) -> None:
        """Each lane's card has the next act as its own button, up to the result that is seen."""
        self.goes_to(".")
        called = [self.calls(lane) for lane in NAMES]
        players = [venue.play(team, lane) for lane, team in zip(NAMES, called, strict=True)]
        for lane in NAMES:
            self.operator.sees("state", "SCORED", lane)
            self.fits()
            self.acts("seen", lane)
        for player in players:
            player.join()

    def calls(self, lane: int) -> str:
        """Make the lane's next session and arm it; return its team."""
        self.acts("begin", lane)
        return self.arms(lane)

    def arms(self, lane: int) -> str:
        """Arm the next session of a lane; return its team."""
        self.acts("arm", lane)
        self.operator.sees("state", "ARMED", lane)
        return self.operator.text("session-title", lane).rpartition(": ")[2]

    def voids_and_runs_again(self, venue: Venue) -> None:
        """The last team gets more time, is void, and runs again in another lane."""
        team = self.calls(1)
        self.acts("note", 1)
        self.answers(reason="came late")
        self.operator.sees("session-notes", "came late")
        self.acts("void", 1)
        self.answers(reason="the device does not start")
        self.operator.sees("state", "VOID")
        self.hand.chooses("#team", team)
        self.hand.chooses("#lane", NAMES[4])
        self.hand.presses("#create")
        self.hand.presses("[aria-label='Show session 6']")
        self.operator.sees("session-title", f": {team}", 4)
        self.hand.presses("#more-4 summary")
        self.acts("extra", 4)
        self.answers(reason="the hall was locked", seconds="2")
        self.operator.sees("clock", "0:08", 4)
        self.arms(4)
        venue.play(team, 4).join()
        self.operator.sees("state", "SCORED", 4)
        self.acts("seen", 4)

    def makes_it_final(self) -> None:
        """Results are frozen, unfrozen and approved, with more time for one as reviewed."""
        self.goes_to("results")
        self.hand.presses("#freeze")
        self.answers()
        self.hand.presses("#unfreeze")
        self.answers()
        self.hand.presses("#entries .row button")
        self.answers(reason="the hall was locked")
        self.hand.presses("#finalize")
        self.answers(approvers="Kim, Grace")
        self.operator.sees("state-text", "Approved by Kim, Grace")
        self.fits()

    def leaves(self) -> None:
        """Kim logs out."""
        self.hand.presses("#person button")
        wait(self.operator.browser, lambda: "/login" in self.operator.browser.current_url, "out")
