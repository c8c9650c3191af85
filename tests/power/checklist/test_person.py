# SPDX-License-Identifier: Apache-2.0
"""The person at the terminal."""

from __future__ import annotations

import pytest

from power.checklist.tools import PersonAnswer, StepSkipped, WalkEnded
from power.commands.selftest import TerminalPerson

CHOICES = {"y": "yes", "n": "no"}


def typing(*lines: str) -> TerminalPerson:
    """Return a person who types these lines; after them the input has ended."""
    rest = iter(lines)
    return TerminalPerson(lambda: next(rest, ""))


def test_the_first_word_is_the_answer_and_the_rest_a_remark() -> None:
    """An answer may have a remark, in large letters or small."""
    assert PersonAnswer("y", "after 2 s") == typing("Y  after 2 s \n").choose("Seen?", CHOICES)


def test_another_word_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that is no choice is told with the choices, and the question waits on."""
    assert PersonAnswer("n") == typing("maybe\n", "\n", "n\n").choose("Seen?", CHOICES)
    assert "'maybe' is not one of y, n, s, q" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "raised"), [("s\n", StepSkipped), ("Q\n", WalkEnded), ("", WalkEnded)]
)
def test_each_question_can_be_skipped_or_end_the_walk(line: str, raised: type[Exception]) -> None:
    """`s` skips, `q` ends, and so does the end of the input, at tasks and at questions."""
    with pytest.raises(raised):
        typing(line).wait("Press STOP.")
    with pytest.raises(raised):
        typing(line).choose("Seen?", CHOICES)
