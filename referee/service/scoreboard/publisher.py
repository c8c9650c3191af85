# SPDX-License-Identifier: Apache-2.0
"""The publisher: one snapshot of everything public, which all readers share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from referee.core.instant import Instant, seconds_between
from referee.formats.json_text import json_of
from referee.service.scoreboard.facts import Facts, read_facts
from referee.service.scoreboard.live import LiveNews, LiveSession, live_sessions, steady
from referee.service.scoreboard.race import NO_RACE, Race
from referee.service.scoreboard.view import (
    Publication,
    PublicState,
    publication_from_json,
    publication_of,
    shown_view,
)
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras, present_extras
from referee.store.database import Connection
from referee.store.publishing import Break, frozen_publication, newest_change, standing_break

# What the database does not number, such as a line of teams.csv, is noticed after this time.
_LOOK_AGAIN_S = 5.0
# The figures of running sessions go out this often. What a session does goes out at once.
_FIGURES_S = 1.0


@dataclass(frozen=True)
class PublicSnapshot:
    """What the public sees at a moment.

    `version` is the number of the newest change that it includes, hidden changes too. `key` names
    the content of `view`: equal content has an equal key, also after a restart. `view`, `live` and
    `race` are JSON. `nonces` are those of the changes up to the newest public one.
    """

    version: int
    key: str
    view: str
    live: str
    publication: Publication
    nonces: Mapping[int, str]
    race: str = NO_RACE


class Publisher:
    """The maker of snapshots; one thread calls `refresh`, any thread reads `snapshot`."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._read_at: Instant | None = None
        self._read_mark: tuple[object, ...] | None = None
        self._stored: tuple[int, Publication] | None = None
        self._snapshot: PublicSnapshot | None = None
        self._told: tuple[bool, Break | None, list[LiveSession]] | None = None
        self._told_at: Instant | None = None
        self._race = Race(contest)

    @property
    def snapshot(self) -> PublicSnapshot | None:
        """Return the newest snapshot, or None before the first `refresh`."""
        return self._snapshot

    def refresh(self) -> PublicSnapshot:
        """Read what is new and return the newest snapshot.

        Without changes this reads a few numbers, and the figures of the running sessions.
        """
        now = self._contest.clock.now()
        with self._contest.database.read() as connection:
            snapshot = self._newest(connection, now)
            frozen = snapshot.publication.view.state is PublicState.FROZEN
            live = [] if frozen else live_sessions(self._contest, connection, now)
            pause = standing_break(connection)
            if self._is_news(frozen, pause, live, now):
                text = json_of(LiveNews(frozen=frozen, sessions=live, pause=pause))
                race = self._race.told(connection, snapshot.publication.view, live)
                if (text, race) != (snapshot.live, snapshot.race):
                    snapshot = replace(snapshot, live=text, race=race)
        self._snapshot = snapshot
        return snapshot

    def _is_news(
        self, frozen: bool, pause: Break | None, live: list[LiveSession], now: Instant
    ) -> bool:
        """Tell whether the running sessions are to be told again, and remember it.

        What happens to a session is news at once, and its figures after a second.
        """
        steadily = (frozen, pause, [steady(one) for one in live])
        at = self._told_at
        if steadily == self._told and at and seconds_between(at, now) < _FIGURES_S:
            return False
        self._told, self._told_at = steadily, now
        return True

    def _newest(self, connection: Connection, now: Instant) -> PublicSnapshot:
        old, at = self._snapshot, self._read_at
        guests = present_extras(self._contest.config)
        mark = (newest_change(connection), *(extra.version(connection) for extra in guests))
        if old is not None and at is not None and seconds_between(at, now) < _LOOK_AGAIN_S:
            if mark == self._read_mark:
                return old
        facts = read_facts(self._contest, connection)
        publication = self._public(connection, facts)
        links = [guest.session_link for guest in all_extras() if guest.session_link]
        text = json_of(shown_view(publication.view, links))
        newest = max((one.change for one in publication.objects), default=0)
        self._read_at, self._read_mark = now, mark
        return PublicSnapshot(
            version=facts.version,
            key=sha256(text.encode()).hexdigest()[:16],
            view=text,
            live="" if old is None else old.live,
            race=NO_RACE if old is None else old.race,
            publication=publication,
            nonces={number: nonce for number, nonce in facts.nonces.items() if number <= newest},
        )

    def _public(self, connection: Connection, facts: Facts) -> Publication:
        """Return what these facts let the public see: during a freeze, what was stored with it."""
        if not facts.frozen or facts.freezing is None:
            return publication_of(facts)
        number = facts.freezing.freeze_id
        if self._stored is None or self._stored[0] != number:
            stored = json.loads(frozen_publication(connection, number))
            self._stored = (number, publication_from_json(stored))
        return self._stored[1]
