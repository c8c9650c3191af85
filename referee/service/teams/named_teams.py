# SPDX-License-Identifier: Apache-2.0
"""Teams that a setting names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from referee.core.names import find_name
from referee.service.setup.config_values import known_are
from referee.store.database import Connection
from referee.store.teams import used_names


def unknown_teams(
    setting: str, names: Iterable[str], connection: Connection, active: Collection[str]
) -> Iterator[str]:
    """Yield a sentence for each name in a setting that no team has or had: it does nothing.

    `active` has the names of the teams that take part, to choose from.
    """
    known = used_names(connection)
    for name in names:
        if find_name(name, known) is None:
            yield (
                f"{setting} names '{name}', and no team has that name"
                f"{known_are(name, sorted(active))} Correct it, or take it out."
            )
