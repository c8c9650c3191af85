# SPDX-License-Identifier: Apache-2.0
"""Names of any script in lines of text: none turns its neighbours, and columns stay columns."""

from __future__ import annotations

import pytest

from referee.core.text_cells import columns_of, cut_to, isolated, lines_of, with_isolated_quotes

ARABIC, HEBREW, PERSIAN = "فريق 7", "צוות 42 א", "نیم\u200cروز"


@pytest.mark.parametrize("name", [ARABIC, HEBREW, PERSIAN, "Ants ف", "7 فريق"])
def test_a_name_from_right_to_left_is_isolated_once(name):
    """A second isolation changes nothing."""
    assert f"\u2068{name}\u2069" == isolated(name) == isolated(isolated(name))


@pytest.mark.parametrize("name", ["Busy Bees", "チーム", "ทีมไทย", "Đội Việt", "Team 🚀", ""])
def test_any_other_name_stays_as_it_is(name):
    """Texts without such a name have the bytes that they had."""
    assert name == isolated(name)


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (f"'{ARABIC}' has withdrawn.", f"'\u2068{ARABIC}\u2069' has withdrawn."),
        (f"The team's place: '{HEBREW}'.", f"The team's place: '\u2068{HEBREW}\u2069'."),
        (
            f"'{ARABIC}' looks like '{HEBREW}'",
            f"'\u2068{ARABIC}\u2069' looks like '\u2068{HEBREW}\u2069'",
        ),
        ("'チーム' is next, isn't it", "'チーム' is next, isn't it"),
    ],
)
def test_a_quoted_name_in_a_sentence_is_isolated(sentence, shown):
    """An apostrophe inside a word is no quote."""
    assert shown == with_isolated_quotes(sentence)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Ants", 4),
        ("チーム", 6),
        ("ｶﾅ", 2),
        ("한국", 4),
        ("e\u0301", 1),
        ("ทีม", 2),
        (PERSIAN, 6),
        ("🚀", 2),
        ("👩\u200d🚀", 2),
        (isolated(ARABIC), 6),
    ],
)
def test_the_columns_of_a_terminal_are_counted(text, columns):
    """Ideographs and pictures take two, accents, joiners and isolates none."""
    assert columns == columns_of(text)


def test_the_columns_of_a_table_stand_below_each_other_whatever_the_script():
    """The second column begins at the same place in each line."""
    names = ["Ants", "チーム さくら", ARABIC, "ทีมน้ำ", "Team 🚀", "e\u0301te\u0301"]
    lines = lines_of([[name, str(place)] for place, name in enumerate(names)], [True, False])
    assert {columns_of(lines[0])} == {columns_of(line) for line in lines}
    assert lines[2].startswith(f"\u2068{ARABIC}\u2069 ")


def test_a_name_is_cut_by_its_columns_and_between_letters():
    """An accent stays with its letter, and no half of an ideograph is left."""
    assert "チ…ら" == cut_to("チームさくら", 6)
    assert "Ants" == cut_to("Ants", 4)
    assert "xe\u0301…" == cut_to("xe\u0301ab", 3)
    assert "AAAAAA…BBB" == cut_to("A" * 60 + "B" * 9, 10)
    assert "abcd…👩\u200d🔬" == cut_to("abcdef👩\u200d🔬", 7)


def test_a_long_name_keeps_its_beginning_and_its_end():
    """Two teams of one institute differ in their last words, and two institutes in the first."""
    assert "Institute of…Team B" == cut_to("Institute of Efficient Vision, Team B", 20)
