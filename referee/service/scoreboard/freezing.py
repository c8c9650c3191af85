# SPDX-License-Identifier: Apache-2.0
"""The freeze of everything public, and the thaw, on record with who did it and when."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from referee.core.counts import counted
from referee.core.turns import Turn
from referee.core.written_text import unfit_character
from referee.errors import Refusal
from referee.service.event.result_entry import ResultEntry
from referee.service.scoreboard.facts import read_facts
from referee.service.scoreboard.view import Publication, publication_of, publication_to_json
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.notices import insert_audit
from referee.store.publishing import (
    Freeze,
    insert_freeze,
    insert_frozen_publication,
    newest_freeze,
)


def freeze(contest: Contest, operator: str) -> Freeze:
    """Hide from the public what happens from now on; a repeat changes nothing.

    Raises `Refusal` (code `results_final`) if the results are final: there is nothing to hide.
    """
    require_name(operator)
    with contest.database.write() as connection:
        standing = newest_freeze(connection)
        if standing is not None and standing.kind == "frozen":
            return standing
        require_provisional(connection)
        now = contest.clock.now()
        number = insert_freeze(connection, now, "frozen", operator)
        publication = publication_of(read_facts(contest, connection))
        insert_frozen_publication(connection, number, publication_text(publication))
        insert_audit(connection, now, operator, "freeze scoreboard", None)
        return Freeze(number, "frozen", str(operator), now.utc.isoformat())


def thaw(contest: Contest, operator: str) -> Freeze | None:
    """Show the public everything again; a repeat, or a thaw without a freeze, changes nothing.

    Returns the newest thaw, or None if the scoreboard was never frozen.
    """
    require_name(operator)
    with contest.database.write() as connection:
        standing = newest_freeze(connection)
        if standing is None or standing.kind == "thawed":
            return standing
        now = contest.clock.now()
        number = insert_freeze(connection, now, "thawed", operator)
        insert_audit(connection, now, operator, "unfreeze scoreboard", None)
        return Freeze(number, "thawed", str(operator), now.utc.isoformat())


@dataclass(frozen=True)
class FreezeCount:
    """How many results a freeze hides from now on, and how many everybody knows already."""

    hides: int
    known: int


def count_hidden(entries: Iterable[ResultEntry]) -> FreezeCount:
    """Return what a freeze would hide: the results that are still to come, of those that can.

    A result that waits for its score is still to come, and so is that of a team which runs again.
    A team that has withdrawn, or that hands in models alone, has none.
    """
    playing = [one for one in entries if not one.withdrawn and one.turn != Turn.MODELS.value]
    known = sum(
        played.turn != Turn.ON.value and (played.mean_ap is not None or played.verdict == "INVALID")
        for played in playing
        if played.verdict is not None
    )
    return FreezeCount(len(playing) - known, known)


def count_text(count: FreezeCount) -> str:
    """Return in a sentence what a freeze would hide from now on."""
    if count.hides:
        known = counted(count.known, "is", "are")
        return f"From now on it hides {counted(count.hides, 'result')}; {known} public already."
    return "It hides nothing: every result is public already, and a ceremony has nothing to reveal."


def freeze_of(contest: Contest) -> Freeze | None:
    """Return the newest freeze or thaw, or None if the scoreboard was never frozen."""
    return newest_freeze(contest.database.connection)


def publication_text(publication: Publication) -> str:
    """Return a publication as JSON."""
    return json.dumps(publication_to_json(publication), allow_nan=False)


def require_name(operator: str) -> None:
    """Raise `Refusal` (code `name_missing`) unless somebody says who acts."""
    if not operator.strip() or unfit_character(operator):
        raise Refusal("name_missing", "This needs the name of a person. Give it.")
