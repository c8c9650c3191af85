# SPDX-License-Identifier: Apache-2.0
"""The words of the hands, as trainees type them."""

from __future__ import annotations

import os

import pytest

from referee.extras.drill.play.trainee_actions import (
    Keyboard,
    TraineeAction,
    understand,
    words_text,
)
from referee.extras.drill.rules.faults import HANDS

LANES = {"1": 1, "2": 2, "left": 1, "right": 2}


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("cable", TraineeAction("hand cable")),
        (" CAB \r", TraineeAction("hand cable")),
        ("cable 2", TraineeAction("hand cable", 2)),
        ("p left", TraineeAction("hand power", 1)),
        ("q", TraineeAction("quit")),
        ("?", TraineeAction("?")),
    ],
)
def test_a_word_or_its_start_is_enough(line, typed):
    """Capitals and blanks do not count; a lane goes by its number or name."""
    assert typed == understand(line, LANES)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "is no word"),
        ("c", "cable or copy"),
        ("unplug", "is no word"),
        ("cable 3", "no lane '3'; the lanes are 1, 2, left, right"),
    ],
)
def test_what_is_no_word_is_told(line, text):
    """Nothing is done, and the answer has the words."""
    typed = understand(line, LANES)
    assert "" == typed.what
    assert text in typed.wrong


def test_all_words_are_shown():
    """The list has each hand with what it does."""
    for hand, text in HANDS.items():
        assert hand.removeprefix("hand ") in words_text()
        assert text in words_text()


def test_the_keyboard_gives_whole_lines_and_survives_its_end():
    """Half a line waits for its rest. After the end of the input nothing comes."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stream:
        keyboard = Keyboard(stream)
        assert [] == keyboard.lines(0.0)
        os.write(writing, b"cable\nqu")
        assert ["cable"] == keyboard.lines(1.0)
        os.write(writing, b"it\n")
        assert ["quit"] == keyboard.lines(1.0)
        os.close(writing)
        assert [] == keyboard.lines(0.0) == keyboard.lines(0.0)
        keyboard.close()
