# SPDX-License-Identifier: Apache-2.0
"""The contestants' requests so far; each look counts the new ones only."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from referee.service.setup.contest import Contest
from referee.store.requests import RequestTotals, last_request, request_totals


class RequestCounts:
    """Totals of the stored requests; they count on over restarts, because the rows stay.

    Only requests of sessions are stored, so a flood of wrong tokens does not show here.
    """

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._lock = threading.Lock()
        self._counted = 0
        self._totals: dict[tuple[int, int], RequestTotals] = {}

    def now(self) -> list[RequestTotals]:
        """Return the totals by lane and status."""
        with self._lock:
            connection = self._contest.database.connection
            last = last_request(connection)
            for more in request_totals(connection, self._counted, last):
                key = (more.lane, more.status)
                self._totals[key] = _sum(self._totals.get(key), more)
            self._counted = last
            return [self._totals[key] for key in sorted(self._totals)]


def _sum(before: RequestTotals | None, more: RequestTotals) -> RequestTotals:
    if before is None:
        return more
    return RequestTotals(
        lane=more.lane,
        status=more.status,
        requests=before.requests + more.requests,
        duration_s=before.duration_s + more.duration_s,
        images=before.images + more.images,
        received_bytes=before.received_bytes + more.received_bytes,
        sent_bytes=before.sent_bytes + more.sent_bytes,
        within=_added(before.within, more.within),
    )


def _added(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))
