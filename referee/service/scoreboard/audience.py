# SPDX-License-Identifier: Apache-2.0
"""What the operators' page says of the audience: what it sees, and what a freeze would hide."""

from __future__ import annotations

from msgspec import Struct

from referee.service.event.result_entry import Results
from referee.service.scoreboard.breaks import break_of
from referee.service.scoreboard.freezing import count_hidden, count_text, freeze_of
from referee.service.setup.contest import Contest
from referee.store.publishing import Break, Freeze


class AudienceNow(Struct, frozen=True, kw_only=True, rename={"pause": "break"}):
    """What the audience sees: where, whether frozen, in a break, and what a freeze would hide."""

    address: str | None
    freeze: Freeze | None
    pause: Break | None
    publishes_images: bool
    freezing: str


def audience_of(contest: Contest, results: Results) -> AudienceNow:
    """Return what the audience sees now."""
    return AudienceNow(
        address=contest.config.server.scoreboard,
        freeze=freeze_of(contest),
        pause=break_of(contest),
        publishes_images=contest.config.publishes_images,
        freezing=count_text(count_hidden(results.entries)),
    )
