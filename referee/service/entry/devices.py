# SPDX-License-Identifier: Apache-2.0
"""One device at a time: requests of a running session from a second address are told or refused."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.devices import is_second, one_spelling
from referee.core.states import accepts
from referee.errors import Refusal
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.notices import Level, insert_notice
from referee.store.session_addresses import addresses_of_session, insert_session_address
from referee.store.sessions import SessionRecord

_MOST = 20
"""The most second addresses of a session that one process tells; a flood of them fills no disk."""

_Sighting = tuple[int, str, str, Level, str]


class OneDevice:
    """The rule of one device, for the requests that one process answers.

    The first address of a session is that of the login that began it, and never changes. Each
    second address is stored once, with one notice: an alarm in an event, a warning in a rehearsal.
    """

    def __init__(self, contest: Contest, journal: Journal) -> None:
        self._contest = contest
        self._journal = journal
        self._first: dict[int, str] = {}
        self._told: dict[int, set[str]] = {}

    def require(self, session: SessionRecord, address: str) -> None:
        """Note a second address of a running session; raise `Refusal` if the rules refuse it.

        The code is `other_device`. A session that does not run may be looked at from anywhere.
        """
        first = self._first_of(session.session_id)
        if not is_second(first, address) or not accepts(session.facts, self._contest.clock.now()):
            return
        self._tell(session, first or "", one_spelling(address))
        if self._contest.config.contest.refuses_second_address:
            raise Refusal(
                "other_device",
                f"Nothing was done: this session began from {first}, and this request comes from "
                f"{one_spelling(address)}. One device may take part at a time: use that one, or "
                "ask the operator.",
            )

    def _first_of(self, session_id: int) -> str | None:
        known = self._first.get(session_id)
        if known is None:
            addresses = addresses_of_session(self._contest.database.connection, session_id)[:1]
            if not addresses:
                return None
            known = self._first[session_id] = addresses[0]
        return known

    def _tell(self, session: SessionRecord, first: str, address: str) -> None:
        reported = self._told.setdefault(session.session_id, set())
        if address in reported or len(reported) >= _MOST:
            return
        reported.add(address)
        config = self._contest.config.contest
        done = "It is refused." if config.refuses_second_address else "It is served."
        text = (
            f"Session {session.session_id} of '{session.team}' began from {first}, and now gets "
            f"requests from {address} too. {done} One device may take part at a time: look which "
            "device that is."
        )
        level: Level = "alarm" if config.mode == "event" else "warning"
        utc = self._contest.clock.now().utc.isoformat()
        self._journal.note(_insert, (session.session_id, address, utc, level, text))


def _insert(connection: Connection, sightings: Sequence[_Sighting]) -> None:
    for session_id, address, utc, level, text in sightings:
        # Another process may have told of the same address.
        if insert_session_address(connection, session_id, address, utc):
            insert_notice(connection, session_id, utc, level, text)
