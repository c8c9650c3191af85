# SPDX-License-Identifier: Apache-2.0
"""The console's view of the meter: its link, its last reading, and the reading's age."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from power.emulated import is_emulated
from power.meter import NO_SAMPLE, Reading
from power.values import reading_to_json
from referee.core.instant import Instant
from referee.core.states import SessionState, state_of
from referee.service.board.wording import meter_flags_text, meter_word
from referee.service.desk.metering import LinkState, MeterStatus
from referee.service.desk.unmeasured import is_unmeasured
from referee.service.setup.config import MeterSection
from referee.service.setup.contest import Contest
from referee.store.readings import newest_reading
from referee.store.sessions import SessionRecord


class MeterView:
    """The meter's part of the board; it keeps the last reading when the link is lost."""

    def __init__(
        self, contest: Contest, status: Callable[[], MeterStatus], section: MeterSection
    ) -> None:
        self._contest = contest
        self._status = status
        self._section = section
        # The status drops its reading when the link is lost, but people still want to see it.
        self._last: Reading | None = None

    def show(self, current: SessionRecord | None, now: Instant) -> dict[str, Any]:
        """Return the meter, ready for JSON.

        `emulated` means that no real meter answers, as far as anybody can tell; `restarts` that the
        referee starts this emulator again. `old` means that its figures no longer change, and
        `unmeasured` that the running session's device works and draws nothing through the meter.
        """
        status = self._status()
        reading, age_s = self._reading(status, current, now)
        late = age_s is not None and age_s > self._section.old_after_s
        lost = status.link is LinkState.LOST or _is_silent(status.reading)
        old = status.link is not LinkState.NONE and (lost or late)
        identity = status.identity
        shown = None if reading is None else reading_to_json(reading)
        return {
            "link": status.link.value,
            "word": meter_word(status.link.value, old),
            "text": status.text,
            "emulated": is_emulated(self._section.resource, identity),
            "restarts": self._section.emulated,
            "other_kind": self._section.other_kind,
            "model": None if identity is None else f"{identity.model} {identity.serial}",
            "update_interval_s": self._section.update_interval_s,
            "reading": None if shown is None else shown | {"age_s": age_s},
            "flags_text": meter_flags_text(shown),
            "old": old,
            "unmeasured": not old and self._is_unmeasured(current, now),
        }

    def _is_unmeasured(self, current: SessionRecord | None, now: Instant) -> bool:
        if current is None or state_of(current.facts, now) is not SessionState.RUNNING:
            return False
        return is_unmeasured(self._contest.database.connection, current.session_id)

    def _reading(
        self, status: MeterStatus, current: SessionRecord | None, now: Instant
    ) -> tuple[Reading | None, float | None]:
        """Return the last reading and its age in seconds."""
        if status.reading is not None:
            self._last = status.reading
        if self._last is not None:
            return self._last, now.monotonic_s - self._last.monotonic_s
        if current is None:
            return None, None
        # A desk that restarted while the meter is lost has only the stored reading.
        stored = newest_reading(self._contest.database.connection, current.session_id)
        return stored, None if stored is None else (now.utc - stored.utc).total_seconds()


def _is_silent(reading: Reading | None) -> bool:
    """Tell whether a meter that the desk itself integrates gets no samples from its device."""
    return reading is not None and reading.absent.get("power_w", "").startswith(NO_SAMPLE)
