# SPDX-License-Identifier: Apache-2.0
"""The ranks that a proposal changes: as they are, and as it would make them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.service.event.standings import read_standings
from referee.service.setup.contest import Contest
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.proposals import ProposedScore, Ranks
from referee.store.scores import ScoringRun


def ranks_of(contest: Contest, connection: Connection, scores: Sequence[ProposedScore]) -> Ranks:
    """Return the old and the new rank of each session that a proposal scores.

    A session that does not count has none.
    """
    roster = read_roster(contest, connection)
    instead = {one.session_id: run_of(one) for one in scores}
    old, new = (
        {
            standing.session.session_id: standing.rank
            for standing in read_standings(contest, connection, roster, runs)
            if standing.session is not None
        }
        for runs in ({}, instead)
    )
    return {number: (old.get(number), new.get(number)) for number in instead}


def run_of(score: ProposedScore) -> ScoringRun:
    """Return a proposed score as the scoring run that it would become."""
    return ScoringRun(
        score.upto_answer_id, score.old_energy_id, score.accuracy, score.score, score.detail
    )
