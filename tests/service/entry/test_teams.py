# SPDX-License-Identifier: Apache-2.0
"""The right to log in: registered teams at an event, everybody in a rehearsal.

It is long because guesses of passwords are played over time, by address and by team.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import argon2
import pytest

from referee.errors import ConfigError, Refusal
from referee.service.entry.team_list import registered_teams
from referee.service.entry.teams import PRACTICE_PASSWORD, EventTeams, PracticeTeams
from tests.support.fakes import eventually
from tests.support.teams import give_password

HEADER = "team,password_hash\n"


class HeldHasher:
    """A hasher that finds every password wrong, and waits until the test lets it."""

    def __init__(self):
        self.may = threading.Event()
        self.checks = 0

    def verify(self, stored, password):
        """Count the call, wait, and refuse."""
        self.checks += 1
        assert self.may.wait(180)
        raise argon2.exceptions.VerifyMismatchError


@pytest.fixture
def path(tmp_path):
    """Return the path of a teams file that does not exist yet."""
    return tmp_path / "teams.csv"


@pytest.mark.slow
def test_registered_team_logs_in(path):
    """The password that was shown once works at every login."""
    password = give_password(path, "ants")
    teams = EventTeams(path)
    assert ["ants", "ants"] == [teams.admitted("ants", password) for _ in range(2)]


@pytest.mark.parametrize("written", ["Caf\u00e9", "CAFE\u0301", " caf\u00e9 ", "\uff23af\u00e9"])
def test_a_name_in_another_writing_logs_in_to_its_team(path, written):
    """Composition, capitals, width and blanks do not matter; the team's own name comes back."""
    password = give_password(path, "Cafe\u0301")
    give_password(path, "Cafe")
    assert "Cafe\u0301" == EventTeams(path).admitted(written, password)


@pytest.mark.slow
def test_wrong_pairs_are_refused(path):
    """A wrong password, another team's password, an unknown team and an empty one are refused."""
    ants, bees = give_password(path, "ants"), give_password(path, "bees")
    teams = EventTeams(path)
    assert teams.admitted("ants", ants)
    for name, password in (
        ("ants", ants + "x"),
        ("ants", ""),
        ("ants", bees),
        ("wasps", ants),
        ("", ""),
        ("ants", "\ud800"),
    ):
        assert not teams.admitted(name, password), (name, password)


@pytest.mark.slow
def test_new_password_replaces_the_old(path):
    """A new password works at once without a restart, and the old one stops working."""
    first = give_password(path, "ants")
    teams = EventTeams(path)
    assert teams.admitted("ants", first)
    second = give_password(path, "ants")
    assert first != second
    assert (None, "ants") == (teams.admitted("ants", first), teams.admitted("ants", second))
    assert ["ants"] == list(registered_teams(path))


@pytest.mark.slow
def test_damaged_hash_is_told(path):
    """A malformed hash is reported as the organiser's fault, not as a wrong password."""
    path.write_text(HEADER + "ants,plain\n")
    with pytest.raises(ConfigError, match="password hash of 'ants' is damaged"):
        EventTeams(path).admitted("ants", "plain")


def held_teams(path, seconds=lambda: 0.0):
    """Return teams whose passwords are checked by a hasher that the test can hold."""
    path.write_text(HEADER + "ants,x\n")
    teams = EventTeams(path, seconds=seconds)
    teams._check._hasher = HeldHasher()
    return teams, teams._check._hasher


def busy(teams, *arguments):
    """Tell whether an address is told that it tries too many passwords."""
    with pytest.raises(Refusal) as refused:
        teams.admitted(*arguments)
    return refused.value.code == "login_busy" and "wait a second" in str(refused.value)


def tries_of(teams):
    """Return how many tries of the address are open; its threads may not have begun yet."""
    tries = teams._check._tries.get(("ants", "there"))
    return 0 if tries is None else tries.inside


def test_guessing_slows_down_one_address_at_one_team(path):
    """After a wrong password that address waits a second for that team; all others are free."""
    now = [0.0]
    teams, hasher = held_teams(path, lambda: now[0])
    path.write_text(HEADER + "ants,x\nbees,y\n")
    hasher.may.set()
    for number in range(5):
        assert not teams.admitted("ants", f"wrong {number}", "10.0.0.66")
    assert busy(teams, "ants", "wrong", "10.0.0.66")
    assert not teams.admitted("ants", "wrong", "10.0.0.2")
    assert not teams.admitted("bees", "wrong", "10.0.0.66")
    now[0] = 1.0
    assert not teams.admitted("ants", "another", "10.0.0.66")
    assert busy(teams, "ants", "one more", "10.0.0.66")
    assert 8 == hasher.checks


def test_a_flood_of_guesses_waits_in_a_short_line_of_its_own(path):
    """A flood of guesses does not delay a right login from elsewhere."""
    teams, hasher = held_teams(path)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(teams.admitted, "ants", f"wrong {n}", "there") for n in range(3)]
        eventually(lambda: tries_of(teams) == 3)
        assert busy(teams, "ants", "wrong 4", "there")
        hasher.may.set()
        assert not teams.admitted("ants", "elsewhere", "here")
    assert [None] * 3 == [future.result() for future in waiting]
    assert 4 == hasher.checks


def test_no_hash_is_computed_for_a_client_that_has_gone(path):
    """Whether the client still waits is asked when its turn has come, and not before."""
    teams, hasher = held_teams(path)
    hasher.may.set()
    asked = []
    assert busy(teams, "ants", "wrong", "there", lambda: bool(asked.append("now")))
    assert (["now"], 0) == (asked, hasher.checks)
    assert not teams.admitted("ants", "wrong", "there", lambda: True)


def test_no_hash_is_computed_for_a_try_that_waited_into_the_brake(path):
    """The brake is looked at when the turn has come: guesses that came together stop with it."""
    teams, hasher = held_teams(path)
    with ThreadPoolExecutor(3) as pool:
        hasher.may.set()
        for number in range(3):
            assert not teams.admitted("ants", f"wrong {number}", "there")
        hasher.may.clear()
        waiting = [pool.submit(teams.admitted, "ants", f"more {n}", "there") for n in range(3)]
        eventually(lambda: tries_of(teams) == 3)
        hasher.may.set()
        ends = [future.exception(180) for future in waiting]
    assert [Refusal] == [type(end) for end in ends if end is not None]
    assert 5 == hasher.checks


def test_a_team_passes_the_guesses_at_its_name(path):
    """Guesses at a team from many addresses wait behind the team's own login."""
    teams, hasher = held_teams(path)
    order = []

    def verify(stored, password):
        hasher.may.wait(180)
        order.append(password)
        raise argon2.exceptions.VerifyMismatchError

    hasher.verify = verify
    hasher.may.set()
    guessers = [f"10.0.0.{number}" for number in range(9)]
    for guesser in guessers:
        assert not teams.admitted("ants", f"first of {guesser}", guesser)
    hasher.may.clear()
    with ThreadPoolExecutor(20) as pool:
        for guesser in guessers:
            pool.submit(teams.admitted, "ants", f"second of {guesser}", guesser)
        eventually(lambda: len(teams._check._turns._line._line) == len(guessers) - 1)
        pool.submit(teams.admitted, "ants", "its own", "192.0.2.7")
        eventually(lambda: len(teams._check._turns._line._line) == len(guessers))
        hasher.may.set()
    assert b"its own" == order[len(guessers) + 1]


def test_the_same_right_pair_at_once_is_checked_once(path):
    """A client that logs in on several connections at once gets in on all of them."""
    teams, hasher = held_teams(path)
    hasher.verify = lambda stored, password: (
        setattr(hasher, "checks", hasher.checks + 1),
        hasher.may.wait(180),
    )
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(teams.admitted, "ants", "right", "there") for _ in range(3)]
        eventually(lambda: tries_of(teams) == 3)
        hasher.may.set()
        assert ["ants"] * 3 == [future.result() for future in waiting]
    assert 1 == hasher.checks


def test_a_wrong_pair_is_not_checked_again_for_a_minute(path):
    """A client that repeats a wrong pair costs one check a minute."""
    now = [0.0]
    teams, hasher = held_teams(path, lambda: now[0])
    hasher.may.set()
    for now[0], checks in ((0.0, 1), (0.1, 1), (59.9, 1), (60.0, 2), (60.1, 2)):
        assert not teams.admitted("ants", "wrong")
        assert checks == hasher.checks
    assert not teams.admitted("ants", "also wrong", "elsewhere")
    assert 3 == hasher.checks


def test_an_unknown_name_costs_no_check(path):
    """An unknown name costs no password check."""
    teams, hasher = held_teams(path)
    assert not teams.admitted("wasps", "any")
    assert 0 == hasher.checks


@pytest.mark.parametrize(
    ("name", "password", "expected"),
    [
        ("anybody", PRACTICE_PASSWORD, True),
        ("12:30:59 test", PRACTICE_PASSWORD, True),
        ("x" * 100, PRACTICE_PASSWORD, True),
        ("x" * 101, PRACTICE_PASSWORD, False),
        ("", PRACTICE_PASSWORD, False),
        ("\0", PRACTICE_PASSWORD, False),
        ("a\nb", PRACTICE_PASSWORD, False),
        ("\ud800", PRACTICE_PASSWORD, False),
        ("anybody", "Practice", False),
        ("anybody", "", False),
        ("anybody", "ünknown", False),
        ("anybody", "\ud800", False),
    ],
)
def test_practice(name, password, expected):
    """In a rehearsal any storable name gets in with the practice password, and with no other."""
    assert expected is (PracticeTeams().admitted(name, password) is not None)
