# SPDX-License-Identifier: Apache-2.0
"""How many of the event's images the scoreboard publishes: none, unless the organisers say so."""

from __future__ import annotations

from collections.abc import Iterable

from referee.service.event.result_entry import PublicEntry
from referee.service.setup.contest import Contest


def count_published(contest: Contest, entries: Iterable[PublicEntry]) -> int:
    """Return how many of the event's images anybody may see as soon as these results are final.

    The same image on the pages of several teams counts once. This finds the mistakes of each
    session, so a large contest takes seconds.
    """
    if not contest.config.publishes_images:
        return 0
    # Few events publish images, and the desk starts without what finds mistakes.
    from referee.service.scoreboard.team_sessions import TeamSessions

    sessions = TeamSessions(contest)
    numbers = [one.session for one in entries if one.verdict is not None]
    return len(
        {image for number in numbers if number is not None for image in sessions.images(number)}
    )
