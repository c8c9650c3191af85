# SPDX-License-Identifier: Apache-2.0
"""The alarms that the console has shown: since when each stands, and who has seen it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from referee.core.actors import REFEREE
from referee.core.instant import Instant, seconds_between
from referee.errors import Refusal
from referee.service.board.shown import ShownAlarm
from referee.service.setup.clock import Clock
from referee.store.database import Connection
from referee.store.notices import insert_audit

SHOWN, SEEN = "alarm", "alarm seen"
"""The actions of the audit: the red bar shows an alarm, and somebody has acknowledged it."""

# An alarm that is away for a shorter time than this is still the same alarm.
_AWAY_S = 3.0

AlarmKey = tuple[str, str]
"""What tells an alarm from another: the name of its lane, and its text."""


def key_of(lane: str, text: str) -> AlarmKey:
    """Return the key of an alarm; blanks and ends of lines do not count."""
    return lane, " ".join(text.split())


@dataclass
class _Standing:
    """An alarm in the red bar: when a board had it last, and who has seen it."""

    last: Instant
    seen: str | None = None


class AlarmRecord:
    """What stands in the red bar; each alarm and who saw it first goes into the audit.

    `store` writes a fact without waiting for the disk, because an alarm may be about the disk. Its
    methods may be called from any thread. A new desk shows the alarms that still stand as new ones.
    """

    def __init__(self, clock: Clock, store: Callable[[Callable[[Connection], object]], None]):
        self._clock = clock
        self._store = store
        self._standing: dict[AlarmKey, _Standing] = {}
        self._lock = threading.Lock()

    def follow(self, alarms: Sequence[ShownAlarm], now: Instant) -> list[ShownAlarm]:
        """Return the alarms of a board, each with who has seen it."""
        standing = []
        with self._lock:
            self._drop_old(now)
            for alarm in alarms:
                key = key_of(alarm.lane, alarm.text)
                if key not in self._standing:
                    self._standing[key] = _Standing(now)
                    self._record(now, REFEREE, SHOWN, key)
                self._standing[key].last = now
                standing.append(replace(alarm, seen=self._standing[key].seen))
        return standing

    def see(self, alarms: Sequence[AlarmKey], operator: str) -> None:
        """Record that somebody has seen these alarms; a repeat changes nothing.

        Raises `Refusal` (code `alarm_over`) if none of them stands.
        """
        now = self._clock.now()
        with self._lock:
            self._drop_old(now)
            standing = [key for key in alarms if key in self._standing]
            if not standing:
                raise Refusal("alarm_over", "This alarm is over. Look at the red bar again.")
            for key in standing:
                if self._standing[key].seen is None:
                    self._standing[key].seen = str(operator)
                    self._record(now, operator, SEEN, key)

    def _drop_old(self, now: Instant) -> None:
        self._standing = {
            key: one
            for key, one in self._standing.items()
            if seconds_between(one.last, now) < _AWAY_S
        }

    def _record(self, now: Instant, who: str, action: str, key: AlarmKey) -> None:
        detail = ": ".join(filter(None, key))
        self._store(partial(_insert, at=now, who=who, action=action, detail=detail))


def _insert(connection: Connection, *, at: Instant, who: str, action: str, detail: str) -> None:
    insert_audit(connection, at, who, action, None, detail)
