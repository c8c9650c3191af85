# SPDX-License-Identifier: Apache-2.0
"""The freeze of everything public, and the thaw, on record with who did it and when."""

from __future__ import annotations

import json

from referee.core.written_text import unfit_character
from referee.errors import Refusal
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
