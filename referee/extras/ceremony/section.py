# SPDX-License-Identifier: Apache-2.0
"""The section [ceremony] of `contest.toml`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from referee.service.setup.config import Config
from referee.service.setup.config_values import setting

if TYPE_CHECKING:
    from referee.service.setup.contest import Contest
    from referee.store.database import Connection


@dataclass(frozen=True)
class CeremonySection:
    """What the ceremony may show beside the results (docs/results.md)."""

    pictures: tuple[str, ...] = setting(
        "Teams that allow a picture of their best detection on the winner's card, such as "
        '["Rocket small", "Busy Bees"]. The picture is one of the event\'s images.',
        (),
    )


def ceremony_of(config: Config) -> CeremonySection:
    """Return the section of a configuration."""
    return cast(CeremonySection, config.extras.get("ceremony", CeremonySection()))


def unknown_pictured(
    contest: Contest, connection: Connection, active: Collection[str]
) -> Iterator[str]:
    """Return a point for each name in `pictures` that no team has or had: its card has no picture.

    An `Extra` is given the names of the teams that take part, too; the names to choose from.
    """
    # Every command reads what the extras bring, and few of them have a database.
    from referee.service.teams.named_teams import unknown_teams

    return unknown_teams(
        "[ceremony] pictures", ceremony_of(contest.config).pictures, connection, active
    )
