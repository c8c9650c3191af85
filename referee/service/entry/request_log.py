# SPDX-License-Identifier: Apache-2.0
"""The log of contestants' requests and of the images that were sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.core.client_names import client_name
from referee.core.instant import Instant, seconds_between
from referee.formats.unused_fields import UnusedField
from referee.service.entry.images import ImageMissing
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.notices import Subject, insert_notice
from referee.store.requests import Request, insert_refused_answers, insert_requests
from referee.store.session_clients import insert_session_clients
from referee.store.sessions import SessionRecord
from referee.store.unused_fields import insert_unused_fields

# A refusal may name twenty faults of a post. The first few tell the reason.
_MOST_OF_A_REASON = 300


@dataclass(frozen=True)
class ServedRequest:
    """A request and its answer.

    `sent` has the numbers of the images sent or shown, if any. `refused` is the reason that the
    sender of an answer got, if nothing of it was stored. `unused` are the fields of a form that
    was refused because they are not used.
    """

    received: Instant
    method: str
    path: str
    address: str
    received_bytes: int
    status: int
    sent_bytes: int
    sent: range | None
    refused: str | None = None
    unused: Sequence[UnusedField] = ()


class RequestLog:
    """The log of each session's requests; no request waits for it."""

    def __init__(self, contest: Contest, journal: Journal) -> None:
        self._clock = contest.clock
        self._journal = journal
        self._told: set[tuple[int, int]] = set()

    def record_client(self, session: SessionRecord, header: str) -> None:
        """Note what the program that has logged in calls itself; no header is no name."""
        name = client_name(header)
        if name:
            row = session.session_id, name, self._clock.now().utc.isoformat()
            self._journal.note(insert_session_clients, row)

    def record(self, session: SessionRecord, served: ServedRequest) -> None:
        """Note a request of a session that has started."""
        started = session.facts.started
        if started is None:
            return
        sent = served.sent
        row = Request(
            session_id=session.session_id,
            elapsed_s=seconds_between(started, served.received),
            utc=served.received.utc.isoformat(),
            method=served.method,
            path=served.path,
            status=served.status,
            first_image=None if sent is None else sent.start,
            image_count=0 if sent is None else len(sent),
            received_bytes=served.received_bytes,
            sent_bytes=served.sent_bytes,
            duration_s=seconds_between(served.received, self._clock.now()),
            address=served.address,
        )
        self._journal.note(insert_requests, row)
        if served.refused is not None:
            reason = served.refused
            if len(reason) > _MOST_OF_A_REASON:
                reason = reason[: _MOST_OF_A_REASON - 1] + "…"
            self._journal.note(insert_refused_answers, (session.session_id, reason))
        if served.unused:
            fields = tuple((one.name, one.kind.value) for one in served.unused)
            self._journal.note(insert_unused_fields, (session.session_id, fields))

    def alarm(self, session: SessionRecord, missing: ImageMissing) -> None:
        """Raise one alarm for each missing image of a session."""
        key = (session.session_id, missing.image_id)
        if key not in self._told:
            self._told.add(key)
            utc = self._clock.now().utc.isoformat()
            self._journal.note(
                _insert_alarms, (session.session_id, utc, missing.alarm, missing.image_id)
            )

    def catch_up(self, timeout_s: float) -> None:
        """Wait until everything noted and stored so far can be read, but at most `timeout_s`."""
        self._journal.catch_up(timeout_s)


def _insert_alarms(connection: Connection, alarms: Sequence[tuple[int, str, str, int]]) -> None:
    for session_id, utc, text, image_id in alarms:
        insert_notice(connection, session_id, utc, "alarm", text, Subject(image_id=image_id))
