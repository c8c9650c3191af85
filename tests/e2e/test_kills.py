# SPDX-License-Identifier: Apache-2.0
"""A session whose referee is killed in every part, and loses its disk: a part of `bench kills`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.bench.killing.hall import IMAGES, open_hall
from tests.bench.killing.judging import lost_answers, odd_answers, over_the_deadline
from tests.bench.killing.plan import Kill, Moment, Target
from tests.bench.killing.poster import Attempt, rows_of
from tests.bench.killing.session import Played, play
from tests.bench.killing.stored import StoredAnswer

SECONDS = 6
# As long as a busy machine may take until it acknowledges the first answer.
PATIENT_SECONDS = 10
# Other tests kill whole programs. These parts die here, and then everything at once.
PARTS = (Target.WORKER, Target.MASTER, Target.LINK)


@pytest.mark.slow
def test_a_session_outlives_its_referee(tmp_path: Path) -> None:
    """No acknowledged answer is lost, and the bundle verifies, whatever was killed meanwhile.

    Where this user can mount no disk, the supervisor is killed in place of the power.
    """
    played = Played(0, PATIENT_SECONDS)
    with open_hall(tmp_path, PATIENT_SECONDS, 1, seed=5) as hall:
        last = Target.SUPERVISOR if hall.disk is None else Target.POWER
        kills = [Kill(one, Moment.RUN, 0.5 + 0.5 * k) for k, one in enumerate((*PARTS, last))]
        play(hall, "team0", kills, random.Random(5), played, answer_first=True)
        assert [] == played.faults + hall.refused_starts
    assert (0.0, True) == (round(played.ended_s, 6), played.scored)
    assert played.acknowledged > 0
    assert len(kills) == len(played.kills)


def told(post: int, what: str = "stored", *, sent_s: float = 11.0, answer: int = 0) -> Attempt:
    """Return a request of a session from second 10 to 16, answered half a second later."""
    return Attempt(post, sent_s, sent_s + 0.5, what, answer, 200 if what == "stored" else 401)


def kept(post: int, number: int = 1, *, elapsed_s: float = 1.2, late: bool = False) -> StoredAnswer:
    """Return a stored answer with the boxes of a post."""
    return StoredAnswer(number, elapsed_s, late, rows_of(post, IMAGES))


def test_an_answer_that_is_not_there_is_noticed() -> None:
    """It is lost if it was acknowledged: also one of two, and one that counts only as late."""
    assert [] == lost_answers([told(0), told(1, "")], [kept(0)])
    assert [] == lost_answers([told(0)], [], [11.4])  # The power was cut before the reply came.
    for attempts, found in (
        ([told(0)], []),
        ([told(0), told(0)], [kept(0)]),
        ([told(0)], [kept(0, late=True)]),
        ([told(0, "late")], []),
    ):
        (text,) = lost_answers(attempts, found)
        assert text.startswith("post 0 was acknowledged")


def test_an_answer_that_was_not_sent_so_is_noticed() -> None:
    """Nothing is stored more often than it was sent, with other boxes, or under another number."""
    assert [] == list(odd_answers([told(0, ""), told(1, answer=2)], [kept(0), kept(1, 2)], IMAGES))
    # After a power cut nobody hears a number, and it is given again.
    assert [] == list(odd_answers([told(0, answer=1), told(1)], [kept(1)], IMAGES, [11.4]))
    changed = StoredAnswer(1, 1.2, False, [(*rows_of(0, IMAGES)[0][:-1], 21.5)])
    for attempts, found in (
        ([told(0)], [kept(0), kept(0, 2)]),
        ([told(0)], [changed]),
        ([told(0, answer=7)], [kept(0)]),
    ):
        assert 1 == len(list(odd_answers(attempts, found, IMAGES)))


def test_an_answer_on_the_wrong_side_of_the_deadline_is_noticed() -> None:
    """The stored moment, the client's moments, and refusals before the deadline are judged."""

    def judged(attempts: list[Attempt], found: list[StoredAnswer]) -> list[str]:
        return list(over_the_deadline(attempts, found, 10.0, SECONDS, [12.0]))

    fine = [told(0), told(1, "late", sent_s=16.2), told(2, "refused", sent_s=90.0)]
    cut = Attempt(3, 12.0, 12.1, "refused", 0, 500)  # The laptop had no power then.
    assert [] == judged([*fine, cut], [kept(0), kept(1, elapsed_s=6.0, late=True)])
    for attempts, found in (
        ([told(0, sent_s=16.1)], []),
        ([told(0, "refused")], []),
        ([told(0, "late")], []),
        ([], [kept(0, elapsed_s=6.0)]),
        ([], [kept(0, late=True)]),
    ):
        assert 1 == len(judged(attempts, found))
