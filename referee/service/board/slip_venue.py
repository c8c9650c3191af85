# SPDX-License-Identifier: Apache-2.0
"""What the slips of an event say about its venue, by its configuration."""

from __future__ import annotations

from collections.abc import Sequence

from referee.service.board.addresses import contestants_urls
from referee.service.setup.config import Config
from referee.service.setup.contest_tls import ca_words, name_to_check
from referee.service.teams.slips import Venue, rules_line


def venue_of(
    config: Config,
    wifi: tuple[str, str] | None,
    addresses: Sequence[str] = (),
    rules: str = "",
) -> Venue:
    """Return it; `addresses` and `rules` take the place of this machine's and the usual ones."""
    scheme = config.server.contest_scheme
    lanes = {lane.name: contestants_urls(lane.contest, scheme) for lane in config.lanes}
    if addresses:
        lanes = {"": list(addresses)}
    line = rules or rules_line(config.contest.seconds)
    tls = config.server.contest_tls
    return Venue(config.contest, lanes, wifi, line, ca_words(tls), name_to_check(tls))
