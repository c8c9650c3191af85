# SPDX-License-Identifier: Apache-2.0
"""What a text of a person may contain, by one rule for names, notes and reasons."""

from __future__ import annotations

import argparse

import pytest

from referee.commands.operators import written
from referee.core.written_text import character_name, one_blank_between, unfit_character
from referee.formats.team_table import clean_name

UNFIT = ["\u202e", "\u2066", "\u200e", "\u200b", "\x1b", "\n", "\u2028", "\ud800", "\ufeff", "\x00"]


@pytest.mark.parametrize("character", UNFIT, ids=ascii)
def test_text_that_does_not_show_as_it_was_written_is_refused(character):
    """Controls, also those that turn the direction, are in no name and in no reason."""
    text = f"Team{character}Elm"
    assert character == unfit_character(text)
    assert clean_name(text) is None
    with pytest.raises(argparse.ArgumentTypeError, match=r"leave U\+"):
        written(text)


@pytest.mark.parametrize(
    "text", ["Équipe 3 : prête", "فريق الشمس", "می\u200cخواهم", "👩\u200d💻 ok", "a\u00a0b", "=1+1"]
)
def test_words_of_every_script_are_fit(text):
    """Scripts from right to left, joined letters and wide blanks stay as they are."""
    assert unfit_character(text) is None
    assert text == written(text)


def test_stored_name_is_printable():
    """A name has single blanks and no joiners, so that two that look the same are the same."""
    assert "Team Elm" == one_blank_between(" Team\u00a0\u2009E\u200dlm ") == clean_name("Team Elm")


def test_character_is_named_for_who_cannot_see_it():
    """A character is told by its number and its name."""
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" == character_name("\u202e")
    assert "U+001B" == character_name("\x1b")
