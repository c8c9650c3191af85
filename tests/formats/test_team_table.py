# SPDX-License-Identifier: Apache-2.0
"""The table of teams is read whole, or each fault is told with its line."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.formats.team_table import TeamLine, parse_team_table


def parse(text):
    """Parse a table of this text."""
    return parse_team_table(text.encode(), "teams.csv")


def test_a_table_of_all_columns():
    """Columns come in any order and capitals; an empty 'prizes' means yes."""
    found = parse('Prizes,team,Organisation\nno,ants,"Uni, North"\n,bees,\nYES, big  wasps ,X\n')
    assert [
        TeamLine(2, "ants", "Uni, North", False),
        TeamLine(3, "bees", "", True),
        TeamLine(4, "big wasps", "X", True),
    ] == found


@pytest.mark.parametrize("text", ["team\nants\n", "\ufeffteam\r\nants\r\n", "team\n\n  \nants"])
def test_tables_as_spreadsheets_write_them(text):
    """A byte order mark, other line ends and empty lines do not matter."""
    assert ["ants"] == [line.name for line in parse(text)]


def test_semicolons_separate_too():
    """A table whose header has semicolons may have commas in its names."""
    assert [TeamLine(2, "a,b", "c")] == parse("team;organisation\na,b;c\n")


def test_one_organisation_may_have_several_solutions():
    """Two teams of one organisation are two registrations."""
    found = parse("team,organisation\nrocket small,Uni\nrocket big,Uni\n")
    assert ["Uni", "Uni"] == [line.organisation for line in found]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "teams.csv: is empty"),
        ("team\n", "no line names a team"),
        ("name\nants\n", "line 1: there is no column 'name'. The columns are team, organ"),
        ("team,password\nants,x\n", "no column 'password'.*The referee makes the passwords"),
        ("organisation\nUni\n", "line 1 must name the column 'team'"),
        ("team,team\na,b\n", "each column once"),
        ("team\nants,bees\n", "line 2: has 2 fields, and the header 1"),
        ("team,sessions\nants,0\n", "line 2: sessions must be yes or no, not '0'"),
        ("team,prizes\nants,perhaps\n", "line 2: prizes must be yes or no, not 'perhaps'"),
        ("team,organisation\nants," + "x" * 101, "line 2: the organisation must be at most 100"),
        ("team\n" + "x" * 101, "line 2: a team's name must be 1 to 100 printable"),
        ("team,prizes\n,yes\n", "line 2: a team's name must be 1 to 100"),
        ("team\nants\nbees\nANTS\n", "line 4: 'ANTS' stands there twice"),
        ("team,login\nants,a b\n", "line 2: 'a b' is no login. A login is 1 to 20 characters"),
        (
            "team,login\nants,\nbees,ants\n",
            "line 3: the login 'ants' is the name of the team in line 2",
        ),
        ("team,login\nants,x\nbees,X\n", "line 3: the login 'x' is in line 2 too"),
        ('team\n"ants\n', "is not a table of text"),
    ],
)
def test_each_fault_is_told(text, told):
    """A fault names its line and says what is right."""
    with pytest.raises(InputError, match=told):
        parse(text)


def test_all_faults_are_told_at_once():
    """One refusal has every faulty line, and says that nothing was imported."""
    with pytest.raises(InputError) as refused:
        parse("team,prizes\na,maybe\nb,yes\nb,yes\nc\n")
    text = str(refused.value)
    assert text.startswith("teams.csv: nothing was imported.")
    assert [f"line {n}" in text for n in (2, 3, 4, 5)] == [True, False, True, True]


def test_a_long_list_of_faults_is_cut():
    """A table of another kind does not fill the screen."""
    with pytest.raises(InputError, match="and 480 more faults"):
        parse("team\n" + "a,b\n" * 500)


def test_another_encoding_is_told():
    """Bytes that are not UTF-8 are refused with their line."""
    with pytest.raises(InputError, match="line 3 is not UTF-8"):
        parse_team_table("team\nants\nGröße\n".encode("latin-1"), "teams.csv")


def test_a_team_may_have_its_own_name_as_login():
    """A chosen login is stored in small letters; an empty one is made later."""
    found = parse("team,login\nAnts,ANTS\nbees,\n")
    assert ["ants", ""] == [line.login for line in found]
