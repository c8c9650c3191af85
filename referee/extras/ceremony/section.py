# SPDX-License-Identifier: Apache-2.0
"""The section [ceremony] of `contest.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from referee.service.setup.config import Config
from referee.service.setup.config_values import setting


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
