# SPDX-License-Identifier: Apache-2.0
"""The section [publish] of `contest.toml`."""

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
class PublishSection:
    """What the site of the event holds beside what the scoreboard shows (docs/publish.md)."""

    bundles: tuple[str, ...] = setting(
        "Teams whose evidence bundle the site offers once the results are final, such as "
        '["Rocket small", "Busy Bees"]. It has their answers, and the addresses of their devices.',
        (),
    )
    licence: str = setting("The licence of the site's data, such as CC-BY-4.0.", "")
    citation: str = setting("How the results are to be cited; the site has words of its own.", "")


def publish_of(config: Config) -> PublishSection:
    """Return the section of a configuration."""
    return cast(PublishSection, config.extras.get("publish", PublishSection()))


def unknown_consenting(
    contest: Contest, connection: Connection, active: Collection[str]
) -> Iterator[str]:
    """Return a point for each name in `bundles` that no team has or had: it publishes nothing.

    An `Extra` is given the names of the teams that take part, too; the names to choose from.
    """
    # Every command reads what the extras bring, and few of them have a database.
    from referee.service.teams.named_teams import unknown_teams

    return unknown_teams(
        "[publish] bundles", publish_of(contest.config).bundles, connection, active
    )
