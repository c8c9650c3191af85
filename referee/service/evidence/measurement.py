# SPDX-License-Identifier: Apache-2.0
"""The measurement in a bundle: the meter, its readings, and the judgement of the energy.

`run.json` and `readings.jsonl` hold the whole input of the judgement (see `rejudge.py`).
`verdict.json` holds its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from power.energy.judge import RunFacts, facts_to_json
from power.values import reading_to_json
from referee.core.instant import Instant
from referee.service.setup.contest import Contest
from referee.store.readings import EnergyRecord, first_judged, readings_of, session_meter_of
from referee.store.sessions import SessionRecord

# The bundle gets the lines of the meter's log from 30 s before arming, because arming prepares the
# meter, until the energy is judged: 150 s after the session's end at the latest.
_BEFORE_S, _AFTER_S = 30.0, 150.0
# The clocks of a line and of the arming, both read at once, differ by less where nobody set them.
_BOTH_CLOCKS = timedelta(seconds=1)


def readings(contest: Contest, session: SessionRecord) -> Iterator[dict[str, Any]]:
    """Yield every complete reading: numbers, ranges, flags, and why a number is missing.

    `elapsed_s` is the session time, which continues across a reboot.
    """
    for elapsed_s, reading in readings_of(contest.database.connection, session.session_id):
        yield {"elapsed_s": elapsed_s, **reading_to_json(reading)}


def run_facts(
    contest: Contest, session: SessionRecord, energy: EnergyRecord | None
) -> dict[str, object]:
    """Return the meter, its settings, the length of the run, and the findings of others.

    `facts` are the `RunFacts` that the judgement used, as JSON. Before the judgement they do not
    contain the end. They are null if no meter is recorded.
    """
    meter = session_meter_of(contest.database.connection, session.session_id)
    judged = {} if energy is None else energy.detail
    emulated, facts = judged.get("emulated"), judged.get("facts")
    if meter is not None:
        emulated = meter.emulated
        facts = facts or facts_to_json(RunFacts(meter.identity, meter.settings))
    return {"emulated": emulated, "facts": facts}


def verdict(energy: EnergyRecord | None) -> dict[str, object]:
    """Return a session's judged energy; before the judgement the verdict is null."""
    if energy is None:
        return {"verdict": None, "reasons": []}
    return {
        "verdict": energy.verdict,
        "energy_wh": energy.energy_wh,
        "uncertainty_wh": energy.uncertainty_wh,
        **{name: value for name, value in energy.detail.items() if name != "facts"},
    }


def meter_log(contest: Contest, session: SessionRecord) -> Iterator[bytes]:
    """Yield the lines of the meter's log around the session; there may be none.

    They are chosen by wall time, because wall time continues across a reboot; `_SameWallTime` says
    what happens where somebody sets the clock. Before them stands how the link was opened, perhaps
    hours earlier, because there the meter told its identity. After the first judgement the energy
    depends on no further line.
    """
    facts, path = session.facts, contest.config.wire_log_of(session.lane)
    if facts.armed is None or not path.exists():
        return
    wall = _SameWallTime(facts.armed)
    first = facts.armed.utc - timedelta(seconds=_BEFORE_S)
    judged = first_judged(contest.database.connection, session.session_id)
    ended = wall.at_moment(contest.clock.now() if facts.ended is None else facts.ended)
    last = ended + timedelta(seconds=_AFTER_S)
    opening, begun = _Opening(), False
    with path.open("rb") as log:
        for line in log:
            try:
                event = json.loads(line)
                at = wall.at_line(event)
            except (ValueError, KeyError, TypeError):
                continue  # A killed desk may leave an incomplete last line.
            if at < first:
                opening.take(event, line)
            elif at <= ended or (at <= last and _is_until(event, judged)):
                if not begun and opening.is_over and event.get("event") == "received":
                    continue  # Its question is left out, so it would pass for another's answer.
                begun = True
                yield from opening.give()
                yield line


def _is_until(event: dict[str, Any], judged: datetime | None) -> bool:
    """Tell whether a line was written before the judgement; both have the wall time of then."""
    return judged is None or datetime.fromisoformat(event["utc"]) <= judged


class _SameWallTime:
    """The wall time that lines would have if nobody had set the clock after the arming.

    From the first line that fits both clocks of the arming on, wall time is that of the arming and
    what the monotonic clock has counted since. A monotonic clock that goes back is that of another
    boot: only the wall clock is left then.
    """

    def __init__(self, armed: Instant) -> None:
        self._armed = armed
        self._newest_s: float | None = None
        self._over = False

    def at_moment(self, moment: Instant) -> datetime:
        """Return the time of another moment."""
        if moment.boot_id != self._armed.boot_id:
            return moment.utc
        return self._since_arming(moment.monotonic_s)

    def at_line(self, record: dict[str, Any]) -> datetime:
        """Return the time of the next line of the log."""
        utc = datetime.fromisoformat(record["utc"])
        if "monotonic_s" not in record:
            return utc
        at_s = float(record["monotonic_s"])
        if self._newest_s is None:
            if abs(utc - self._since_arming(at_s)) > _BOTH_CLOCKS:
                return utc
            self._newest_s = at_s
        self._over = self._over or at_s < self._newest_s
        self._newest_s = at_s
        return utc if self._over else self._since_arming(at_s)

    def _since_arming(self, at_s: float) -> datetime:
        return self._armed.utc + timedelta(seconds=at_s - self._armed.monotonic_s)


class _Opening:
    """The lines from the newest opening of the link to the meter's identity."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._asked: object = None
        self._whole = True

    @property
    def is_over(self) -> bool:
        """Tell whether lines were left out after it."""
        return self._whole

    def take(self, record: dict[str, object], line: bytes) -> None:
        """Look at the next line of the log."""
        if record.get("event") == "open":
            self._lines, self._asked, self._whole = [], None, False
        if record.get("event") == "sent":
            # Late replies to earlier questions may stand between this one and its own reply.
            self._whole = self._whole or self._asked == "*IDN?"
            self._asked = record.get("text")
        if not self._whole:
            self._lines.append(line)

    def give(self) -> list[bytes]:
        """Return the lines, once."""
        given, self._lines, self._whole = self._lines, [], True
        return given
