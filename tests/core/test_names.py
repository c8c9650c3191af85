# SPDX-License-Identifier: Apache-2.0
"""Two names are the same, or look alike, by one rule for every place that compares names."""

from __future__ import annotations

import unicodedata

import pytest

from referee.core.names import SameNames, comparable, find_name, look_alike_text, look_alikes
from referee.core.written_text import one_blank_between
from referee.formats.team_table import clean_name

SAME = [
    ("Café", "Cafe\u0301"),
    ("Việt Nam", unicodedata.normalize("NFD", "VIỆT NAM")),
    ("한국팀", unicodedata.normalize("NFD", "한국팀")),
    ("ガラス", unicodedata.normalize("NFD", "ガラス")),
    ("ガラス", "ｶﾞﾗｽ"),
    ("Team 7", "ＴＥＡＭ　７"),
    ("Straße", "STRASSE"),
    ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
    ("İstanbul", "istanbul"),
    ("Işık", "IŞIK"),
    ("ısı", "ISI"),
    ("  Team \u00a0 Rocket ", "team rocket"),
    ("علی\u200cرضا", "علیرضا"),
    ("ශ\u0dca\u200dරී", "ශ\u0dcaරී"),
    ("👩\u200d💻 ok", "👩💻 OK"),
    ("Team ❤\ufe0f", "team ❤"),
    ("Team\u3164", "team"),
    ("\u1fb3", "\u0391\u0345"),
]
DIFFERENT = [("Team 2", "Team ²"), ("Ants", "Аnts"), ("a b", "ab"), ("Cafe", "Café"), ("½", "1/2")]


@pytest.mark.parametrize(("one", "other"), SAME, ids=ascii)
def test_ways_to_write_one_name_are_the_same(one, other):
    """Composition, capitals, width, blanks and what nobody sees make no difference."""
    assert comparable(one) == comparable(other) != ""
    assert one == find_name(other, ["wasps", one])


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=ascii)
def test_other_words_are_other_names(one, other):
    """An accent, another alphabet or a sign that is read otherwise makes another name."""
    assert comparable(one) != comparable(other)
    assert find_name(other, [one]) is None


def test_comparing_twice_changes_nothing():
    """What is compared is the same again, for every character that a name may have."""
    letters = [chr(n) for n in range(0x20, 0x30000) if clean_name(chr(n)) is not None]
    assert [] == [x for x in letters if comparable(comparable(x)) != comparable(x)]


def test_an_exact_name_goes_before_others_that_are_the_same():
    """Two names of an earlier event that are the same now are each found by their own writing."""
    known = ["Café", "Cafe\u0301"]
    assert known == [find_name(name, known) for name in known]
    assert find_name("CAFÉ", known) is None
    assert SameNames([*known, "bees"]).find("BEES") == "bees"


@pytest.mark.parametrize("nothing", ["\u3164", "\u2800", "\u115f\u1160", "\ufe0f", "\u034f"])
def test_a_name_of_which_nothing_shows_is_none(nothing):
    """Fillers alone are no name, and find no team."""
    assert clean_name(nothing) is None
    assert find_name(nothing, ["ants"]) is None


@pytest.mark.parametrize(
    "name",
    [
        "می\u200cخواهم",
        "علی\u200cرضا",
        "CD\u200cها",
        "ශ\u0dca\u200dරී",
        "ക\u0d4d\u200d",
        "র\u200d\u09cdয",
        "👩\u200d💻",
        "🏳\ufe0f\u200d🌈",
        "👨🏽\u200d🚀",
        "❤\ufe0f\u200d🔥",
        "👨\u200d👩\u200d👧 ok",
    ],
    ids=ascii,
)
def test_joiners_stay_where_a_script_or_a_picture_needs_them(name):
    """A Persian half-space, an Indic join and a picture of several parts are stored as written."""
    assert name == one_blank_between(name) == clean_name(name)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("E\u200dlm", "Elm"),
        ("\u200cElm\u200d", "Elm"),
        ("علی\u200c", "علی"),
        ("\u200cعلی", "علی"),
        ("می\u200c\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200c💻", "👩💻"),
        ("1\u200d2", "12"),
    ],
    ids=ascii,
)
def test_joiners_go_where_nothing_joins(written, stored):
    """A joiner in Latin letters, at an edge or behind another one is dropped."""
    assert stored == clean_name(written)


@pytest.mark.parametrize(
    ("name", "other", "told"),
    [
        ("Аnts", "Ants", "U+0410 CYRILLIC CAPITAL LETTER A where the other has U+0041"),
        ("Rοcket", "Rocket", "U+03BF GREEK SMALL LETTER OMICRON where the other has U+006F"),
        ("Iimes11", "limes11", "U+0049 LATIN CAPITAL LETTER I where the other has U+006C"),
        ("Team 1", "Team l", "U+0031 DIGIT ONE where the other has U+006C"),
        ("Team O2", "Team 02", "U+004F LATIN CAPITAL LETTER O where the other has U+0030"),
        ("thᎥs", "this", "U+13A5 CHEROKEE LETTER V where the other has U+0069"),
        ("علي", "علی", "U+064A ARABIC LETTER YEH where the other has U+06CC"),
        ("СОРА", "copa", "U+0421 CYRILLIC CAPITAL LETTER ES where the other has U+0063"),
    ],
    ids=ascii,
)
def test_names_that_look_alike_are_told_with_their_characters(name, other, told):
    """Both names and the numbers of the characters stand in the warning."""
    (found,) = look_alikes([name], ["bees", other])
    text = look_alike_text(found)
    assert f"'{name}' looks like '{other}'" in text
    assert told in text


@pytest.mark.parametrize("name", ["Аnts", "Москвa", "Rοcket"], ids=ascii)
def test_a_word_of_two_alphabets_is_told(name):
    """A letter of another alphabet in a word is named, without a second team of that look."""
    (found,) = look_alikes([name])
    assert found.other is None
    assert "mixes alphabets" in look_alike_text(found)


@pytest.mark.parametrize(
    "name", ["Москва", "Команда Roboto", "Ωmega", "Équipe 3", "東京大学", "Τιμή", "علی\u200cرضا"]
)
def test_a_name_of_its_own_alphabet_is_no_warning(name):
    """A whole word of any alphabet is a good name."""
    assert [] == look_alikes([name], ["ants"])


def test_equal_names_are_no_look_alikes():
    """What compares as the same is told by other means, and not as a warning."""
    assert [] == look_alikes(["CAFÉ"], ["Cafe\u0301"])
