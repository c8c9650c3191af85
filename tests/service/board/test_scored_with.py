# SPDX-License-Identifier: Apache-2.0
"""Before a re-run the console says which files will score it."""

from __future__ import annotations

import pytest

from referee.service.board.board import scored_with
from referee.service.event.proposals import apply_proposal, cancel_proposal
from referee.service.event.rescoring import Filter, make_proposal
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeMeter, running_desk


@pytest.fixture
def event(tmp_path, clock):
    """Return an event in which 'ants' have a score."""
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        played = Event(contest, desk, meter)
        played.register("ants")
        played.play("ants")
        yield played
    contest.database.close()


def test_files_of_an_applied_proposal_are_named(event):
    """Only once it is applied, and only those files that are others than before."""
    connection = event.contest.database.connection
    path = event.contest.config.path.parent / "blacklist.csv"
    path.write_text("5,1\n")
    first = make_proposal(event.contest, Filter(blacklist=path), "Ada", "a wrong box")
    assert "" == scored_with(connection)
    cancel_proposal(event.contest, first, "Ada", "not yet")
    assert "" == scored_with(connection)
    second = make_proposal(event.contest, Filter(blacklist=path), "Ada", "two wrong boxes")
    apply_proposal(event.contest, second, "Ada", "agreed")
    assert scored_with(connection).startswith(
        f"The blacklist of proposal {second} (two wrong boxes) will score it"
    )


def test_new_scores_with_the_old_files_name_nothing(event):
    """A proposal without another file changes no file of the sessions that come."""
    number = make_proposal(event.contest, Filter(), "Ada", "another version")
    apply_proposal(event.contest, number, "Ada", "agreed")
    assert "" == scored_with(event.contest.database.connection)
