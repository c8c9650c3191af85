# SPDX-License-Identifier: Apache-2.0
"""The list of teams: one registration for each name, and hashes in place of passwords."""

from __future__ import annotations

import csv
import stat

import argon2
import pytest
from argon2 import PasswordHasher  # The library's own, before the tests make it cheap.

from referee.errors import ConfigError
from referee.service.entry.passwords import make_passwords
from referee.service.entry.team_list import registered_teams, replace_hashes, replace_list
from referee.service.entry.teams import EventTeams
from tests.support.teams import give_password

HEADER = "team,password_hash\n"


@pytest.fixture
def path(tmp_path):
    """Return the path of a teams file that does not exist yet."""
    return tmp_path / "teams.csv"


def test_only_the_hash_is_kept(path, monkeypatch):
    """No file holds a password, only its owner may read the hashes, and a guess costs 64 MiB."""
    monkeypatch.setattr(argon2, "PasswordHasher", PasswordHasher)
    password = give_password(path, "ants")
    text = path.read_text(encoding="utf-8")
    assert password not in text
    assert registered_teams(path)["ants"].startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("name", ["a,b", 'say "hi"', "Ünïcödé 蟻", "=cmd()", "x" * 100])
def test_names_of_any_kind(path, name):
    """A name is stored as it is written, commas and quotes too."""
    give_password(path, name)
    assert [name] == list(registered_teams(path))


def test_no_file_is_no_team(path):
    """Without a file of teams the list is empty."""
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
    """A broken line in an edited file is named by its number."""
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        registered_teams(path)
    assert str(path) in str(error.value)


def test_registration_keeps_the_others(path):
    """A new registration leaves every other hash unchanged."""
    give_password(path, "ants")
    before = registered_teams(path)
    give_password(path, "bees")
    after = registered_teams(path)
    assert before["ants"] == after["ants"]
    with path.open(encoding="utf-8", newline="") as file:
        assert [["team", "password_hash"], *map(list, after.items())] == list(csv.reader(file))


def test_a_password_can_be_read_from_paper():
    """No character of a password looks like another, and no password begins with a dash."""
    made = make_passwords([f"team {number}" for number in range(50)])
    assert 50 == len({password for password, _ in made.values()})
    for password, _ in made.values():
        groups = password.split("-")
        assert [4, 4, 4, 4] == [len(group) for group in groups]
        assert not set("".join(groups)) & set("0O1Il|iо")


def test_new_passwords_come_all_at_once(path):
    """Several teams get new passwords in one step, and each hash is told; others keep theirs."""
    first = give_password(path, "ants")
    kept = give_password(path, "wasps")
    told = []
    made = make_passwords(["ants", "bees"], lambda *counts: told.append(counts))
    assert [(1, 2), (2, 2)] == told
    replace_hashes(path, {name: stored for name, (_, stored) in made.items()})
    teams = EventTeams(path)
    assert ["ants", "bees"] == [
        teams.admitted(name, password) for name, (password, _) in made.items()
    ]
    assert [None, "wasps"] == [teams.admitted("ants", first), teams.admitted("wasps", kept)]


def test_a_list_that_is_the_same_is_not_written(path):
    """Replacing the list by itself leaves the file alone."""
    give_password(path, "ants")
    written = path.stat().st_mtime_ns, path.stat().st_ino
    replace_list(path, registered_teams(path))
    assert written == (path.stat().st_mtime_ns, path.stat().st_ino)
    replace_list(path, {})
    assert {} == registered_teams(path)
