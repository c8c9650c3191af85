# SPDX-License-Identifier: Apache-2.0
"""Slips from the page: new passwords for operators' eyes, for a while, and in memory alone."""

from __future__ import annotations

import re

import pytest

from referee.service.entry.passwords import has_password
from referee.service.entry.team_list import registered_teams
from referee.web.desk.slips import KEPT_S
from tests.support.doors import post

ONCE = 32 * "a"


def make(client, teams=("ants",), once=ONCE, **more):
    """Press the button for these teams; return the status and the answer."""
    done = post(client, "/teams/slips", teams=list(teams), once=once, **more)
    return done.status_code, done.get_json()


def password_on(page):
    """Return the password on the first slip."""
    return re.search("<dt>Password</dt><dd>([^<]+)</dd>", page.get_data(as_text=True))[1]


def test_a_slip_has_a_password_that_logs_in(door):
    """The page has the team's new password, its network's code, and loads nothing from outside."""
    kim = door.visitor("Kim")
    status, answer = make(kim, wifi_name="lpirc", wifi_password="quiet-fan")
    assert (200, {"made": 1, "page": f"teams/slips/{ONCE}"}) == (status, answer)
    page = kim.get(f"/{answer['page']}")
    stored = registered_teams(door.contest.config.teams)["ants"]
    assert has_password(stored, password_on(page))
    assert "<dd>quiet-fan</dd>" in page.get_data(as_text=True)
    assert "<svg" in page.get_data(as_text=True)
    assert "no-store" == page.headers["Cache-Control"]
    assert "default-src 'none'; style-src 'sha256-" in page.headers["Content-Security-Policy"]


def test_the_same_press_makes_one_password(door):
    """A repeat of the request gives the same page; another press another password."""
    kim = door.visitor("Kim")
    pages = []
    for once in (ONCE, ONCE, 32 * "b"):
        assert 200 == make(kim, once=once)[0]
        pages.append(password_on(kim.get(f"/teams/slips/{once}")))
    assert pages[0] == pages[1] != pages[2]


def test_the_page_is_the_operators_and_soon_gone(door):
    """An assistant sees no password, and after ten minutes nobody does."""
    kim = door.visitor("Kim")
    make(kim)
    assert 403 == door.visitor("Sam").get(f"/teams/slips/{ONCE}").status_code
    assert 401 == door.visitor().get(f"/teams/slips/{ONCE}").status_code
    door.event.clock.advance(KEPT_S)
    gone = kim.get(f"/teams/slips/{ONCE}")
    assert (409, "slips_gone") == (gone.status_code, gone.get_json()["code"])


@pytest.mark.parametrize("once", ["", "a", 33 * "a", 32 * "A", "../" + 29 * "a"])
def test_a_press_without_a_name_makes_nothing(door, once):
    """What no page sends changes no password."""
    before = registered_teams(door.contest.config.teams)
    status, answer = make(door.visitor("Kim"), once=once)
    assert (400, "text_wrong", before) == (
        *(status, answer["code"]),
        registered_teams(door.contest.config.teams),
    )


def test_who_cannot_get_a_password_is_named(door):
    """An unknown team, or one whose session is armed, is refused in words, and all keep theirs."""
    kim = door.visitor("Kim")
    make(kim, ["bees"])
    before = registered_teams(door.contest.config.teams)
    assert "No team is called 'moths'" in make(kim, ["bees", "moths"], 32 * "b")[1]["text"]
    number = door.event.desk.new_session("ants", "Kim")
    door.event.desk.steps_of(number).arm(number, "Kim")
    assert "is ARMED" in make(kim, ["ants"], 32 * "c")[1]["text"]
    assert before == registered_teams(door.contest.config.teams)


def test_the_record_has_who_and_for_whom_and_no_password(door):
    """The audit says that there are new passwords, and neither them nor that of the network."""
    kim = door.visitor("Kim")
    make(kim, ["ants", "bees"], wifi_name="lpirc", wifi_password="quiet-fan")
    secret = password_on(kim.get(f"/teams/slips/{ONCE}"))
    audit = kim.get("/audit/now").get_data(as_text=True)
    assert "new passwords" in audit
    assert "for ants, bees" in audit
    assert secret not in audit
    assert "quiet-fan" not in audit
