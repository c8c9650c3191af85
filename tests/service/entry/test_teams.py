# SPDX-License-Identifier: Apache-2.0
"""Teams: generated passwords, kept as hashes only."""

from __future__ import annotations

import csv
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import argon2
import pytest

from referee.errors import ConfigError, InputError, Refusal
from referee.service.entry.teams import (
    PRACTICE_PASSWORD,
    EventTeams,
    PracticeTeams,
    register_team,
    registered_teams,
)
from tests.support.fakes import eventually

HEADER = "team,password_hash\n"


class HeldHasher:
    """Find every password wrong, but not before it may."""

    def __init__(self):
        self.may = threading.Event()
        self.checks = 0

    def verify(self, stored, password):
        """Count, wait, refuse."""
        self.checks += 1
        assert self.may.wait(20)
        raise argon2.exceptions.VerifyMismatchError


@pytest.fixture
def path(tmp_path):
    """Return where a file of teams may stand."""
    return tmp_path / "teams.csv"


@pytest.mark.slow
def test_registered_team_logs_in(path):
    """The password that was shown once is the one that is good, again and again."""
    password = register_team(path, "ants")
    teams = EventTeams(path)
    assert [True, True] == [teams.admits("ants", password) for _ in range(2)]


@pytest.mark.slow
def test_wrong_pairs_are_refused(path):
    """Another password, another team's, an unknown team and nothing at all."""
    ants, bees = register_team(path, "ants"), register_team(path, "bees")
    teams = EventTeams(path)
    assert teams.admits("ants", ants)
    for name, password in (
        ("ants", ants + "x"),
        ("ants", ""),
        ("ants", bees),
        ("Ants", ants),
        ("wasps", ants),
        ("", ""),
        ("ants", "\ud800"),
    ):
        assert not teams.admits(name, password), (name, password)


@pytest.mark.slow
def test_only_the_hash_is_kept(path):
    """No file holds a password, and only its owner may read the hashes."""
    password = register_team(path, "ants")
    text = path.read_text(encoding="utf-8")
    assert password not in text
    assert registered_teams(path)["ants"].startswith("$argon2id$")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())
    assert len(password) >= 12


@pytest.mark.slow
def test_new_password_replaces_the_old(path):
    """Registering again changes the password at once, without a restart."""
    first = register_team(path, "ants")
    teams = EventTeams(path)
    assert teams.admits("ants", first)
    second = register_team(path, "ants")
    assert first != second
    assert (False, True) == (teams.admits("ants", first), teams.admits("ants", second))
    assert ["ants"] == list(registered_teams(path))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a,b", 'say "hi"', "Ünïcödé 蟻", "=cmd()", "x" * 100, " ants "])
def test_names_of_any_kind(path, name):
    """A name is kept as it is written, commas and quotes too."""
    register_team(path, name)
    assert [name] == list(registered_teams(path))


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\0b", "a\tb", "\u200b"])
def test_names_that_cannot_be(path, name):
    """A name must be seen and typed."""
    with pytest.raises(InputError, match="printable"):
        register_team(path, name)
    assert not path.exists()


def test_no_file_is_no_team(path):
    """Before the first registration nobody is registered."""
    assert {} == registered_teams(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "first line must be 'team,password_hash'"),
        (b"name,password\nants,x\n", "first line must be"),
        (HEADER.encode() + b"ants\n", "line 2 must have 2 fields, not 1"),
        (HEADER.encode() + b"ants,x\nbees,x,y\n", "line 3 must have 2 fields, not 3"),
        (HEADER.encode() + b"\n", "line 2 must have 2 fields, not 0"),
        (HEADER.encode() + b"\xff,x\n", "is not a table of text"),
        (HEADER.encode() + b"a" * 200_000 + b",x\n", "is not a table of text"),
        (HEADER.encode() + b"ants,x\nbees,y\nants,z\n", "line 4 names 'ants' again"),
    ],
)
def test_damaged_file_is_told(path, content, message):
    """A file that was edited by hand and broken is named with its line."""
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        registered_teams(path)
    assert str(path) in str(error.value)


@pytest.mark.slow
def test_damaged_hash_is_told(path):
    """A hash that is none is the organiser's fault, not a wrong password."""
    path.write_text(HEADER + "ants,plain\n")
    with pytest.raises(ConfigError, match="password hash of 'ants' is damaged"):
        EventTeams(path).admits("ants", "plain")


def held_teams(path, seconds=lambda: 0.0):
    """Return teams whose passwords are checked by a hasher that can be held."""
    path.write_text(HEADER + "ants,x\n")
    teams = EventTeams(path, seconds=seconds)
    teams._hasher = HeldHasher()
    return teams, teams._hasher


def test_a_flood_of_wrong_passwords_waits_in_a_short_line(path):
    """One password is checked, two wait, and whoever comes then is sent away at once."""
    teams, hasher = held_teams(path)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(teams.admits, "ants", f"wrong {n}") for n in range(3)]
        eventually(lambda: hasher.checks == 1 and teams._places._value == 0)
        with pytest.raises(Refusal) as refused:
            teams.admits("ants", "wrong 4")
        assert "login_busy" == refused.value.code
        hasher.may.set()
    assert [False] * 3 == [future.result() for future in waiting]
    assert not teams.admits("ants", "wrong 4")


def test_a_wrong_pair_is_not_checked_again_for_a_minute(path):
    """A client in a retry loop costs one check a minute."""
    now = [0.0]
    teams, hasher = held_teams(path, lambda: now[0])
    hasher.may.set()
    for now[0], checks in ((0.0, 1), (0.1, 1), (59.9, 1), (60.0, 2), (60.1, 2)):
        assert not teams.admits("ants", "wrong")
        assert checks == hasher.checks
    assert not teams.admits("ants", "also wrong")
    assert 3 == hasher.checks


def test_an_unknown_name_costs_no_check(path):
    """Nobody's password is not worth the time."""
    teams, hasher = held_teams(path)
    assert not teams.admits("wasps", "any")
    assert 0 == hasher.checks


@pytest.mark.slow
def test_registration_keeps_the_others(path):
    """A team more leaves every other hash as it was."""
    register_team(path, "ants")
    before = registered_teams(path)
    register_team(path, "bees")
    after = registered_teams(path)
    assert before["ants"] == after["ants"]
    with path.open(encoding="utf-8", newline="") as file:
        assert [["team", "password_hash"], *map(list, after.items())] == list(csv.reader(file))


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
    """Any name that can be stored comes in with the practice password, and with no other."""
    assert expected is PracticeTeams().admits(name, password)
