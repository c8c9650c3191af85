# SPDX-License-Identifier: Apache-2.0
"""A login is made from any name, and no word means two teams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.logins import LOGIN_MOST, FreeLogins, TeamWords, clean_login
from referee.core.names import comparable


@pytest.mark.parametrize(
    ("name", "login"),
    [
        ("Team Rocket", "team-rocket"),
        ("Łódź Ünïvërsität", "lodz-universitat"),
        ("Straße", "strasse"),
        ("Ørsted & Æther", "orsted-aether"),
        ("Nguyễn Văn Ơư", "nguyen-van-ou"),
        ("İstanbul ışık", "istanbul-isik"),
        ("Þórður Œuvre", "thordur-oeuvre"),
        ("Cafe\u0301", "cafe"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full-width"),
        ("O'Brien’s", "obriens"),
        ("ro\u200dck\u00adet", "rocket"),
        ("naïve日本Bayes", "naive-bayes"),
        ("Team ٧", "team-7"),
        ("C++", "c"),
        ("The International Association", "the-international"),
        ("Karlsruhe Institute of Technology 2", "karlsruhe-institut-2"),
        ("x" * 100, "x" * 20),
        ("東京大学", "team1"),
        ("فريق النمل", "team1"),
        ("Команда", "team1"),
        ("🚀🚀", "team1"),
        ("007", "team1"),
    ],
)
def test_a_login_is_made_of_a_names_latin_letters_and_digits(name, login):
    """Accents and strokes go, other alphabets become a dash, and no Latin letter a number."""
    assert login == FreeLogins({}).made(name, 1)


def test_a_login_is_no_word_of_another_team():
    """The next number is taken where another team has the word; one's own name is free."""
    owners = {"ants": 1, "ants-2": 2, "team1": 3, "team2": 4}
    assert ["ants-3", "ants", "team3"] == [
        FreeLogins(owners).made("Änts", 9),
        FreeLogins(owners).made("Änts", 1),
        FreeLogins(owners).made("蟻", 9),
    ]


@pytest.mark.parametrize(
    ("name", "first", "tenth", "eleventh"),
    [
        ("Ants", "ants", "ants-10", "ants-11"),
        ("蟻", "team1", "team10", "team11"),
        ("Department of Physics", "department-of", "department-of-10", "department-of-11"),
        ("x" * 30, "x" * 20, "x" * 17 + "-10", "x" * 17 + "-11"),
    ],
)
def test_teams_of_one_beginning_are_numbered_on(name, first, tenth, eleventh):
    """Each team gets the next number, also where one digit more leaves less of the name."""
    free = FreeLogins({})
    logins = [free.made(name, team) for team in range(1, 12)]
    assert [first, tenth, eleventh] == [logins[0], *logins[9:]]
    assert len(set(logins)) == 11


@given(st.text(max_size=120), st.sets(st.sampled_from(["team1", "a", "a-2", "x" * 20])))
def test_every_name_gets_a_login_that_can_be_chosen_too(name, taken):
    """Whatever the name, its login is short, plain, free, and the only way to write itself."""
    login = FreeLogins(dict.fromkeys(taken, 1)).made(name, 2)
    assert login == clean_login(login) == comparable(login)
    assert 0 < len(login) <= LOGIN_MOST
    assert login not in taken


@pytest.mark.parametrize(
    ("chosen", "login"),
    [
        ("rocket", "rocket"),
        (" Rocket-2 ", "rocket-2"),
        ("x" * 20, "x" * 20),
        ("", None),
        ("x" * 21, None),
        ("-a", None),
        ("a-", None),
        ("a--b", None),
        ("a b", None),
        ("ä", None),
        ("ａ", None),
        ("a\n", "a"),
        ("a\nb", None),
    ],
)
def test_a_chosen_login_is_plain(chosen, login):
    """Capitals and blanks around it are written away; all else must be as the rule says."""
    assert login == clean_login(chosen)


WORDS = [("rocket", "Röcket"), ("Rakete", "Röcket"), ("ants-2", "Änts")]


@pytest.mark.parametrize(
    ("word", "team"),
    [
        ("rocket", "Röcket"),
        ("ROCKET ", "Röcket"),
        ("RAKETE", "Röcket"),
        ("ro\u0308cket", "Röcket"),
        ("ants", "ants"),
        ("ANTS-2", "Änts"),
        ("wasps", None),
        ("", None),
    ],
)
def test_a_team_is_meant_by_its_name_its_login_and_its_earlier_names(word, team):
    """Each may be written in any way that reads the same."""
    assert team == TeamWords(["Röcket", "Änts", "ants"], WORDS).find(word)


def test_a_present_name_goes_before_every_other_word():
    """A word that is one team's name today means no other team."""
    words = TeamWords(["ants", "bees"], [("ants", "bees"), ("flies", "bees"), ("Flies", "ants")])
    assert ["ants", "bees", "ants"] == [words.find(word) for word in ("ants", "flies", "Flies")]


def test_a_word_of_two_teams_means_neither():
    """Two names of an early release that are one today, and a word of both, find nobody."""
    assert None is TeamWords(["Ants", "ANTS"], [("ants", "Ants")]).find("ants")
    assert None is TeamWords(["bees", "wasps"], [("x", "bees"), ("X", "wasps")]).find("ｘ")


def test_two_words_of_one_team_that_read_the_same_are_one():
    """A login beside an earlier name of the same team is no doubt."""
    assert "bees" == TeamWords(["bees"], [("ants", "bees"), ("Ants", "bees")]).find("ANTS")


def test_a_word_of_a_team_that_is_gone_means_nobody():
    """A removed team leaves no word behind that hides another team's."""
    gone = [("ants", "removed"), ("ants", "bees")]
    assert ["bees", None] == [TeamWords(["bees"], gone).find(word) for word in ("ants", "removed")]
