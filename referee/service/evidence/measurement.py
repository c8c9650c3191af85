# SPDX-License-Identifier: Apache-2.0
"""What measured a session, what it read, and how the energy was judged, for the bundle.

`run.json` and `readings.jsonl` hold everything that the judgement takes (see `judged_again.py`);
`verdict.json` holds what came out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from power.energy.facts import RunFacts, facts_to_json
from power.values import reading_to_json
from referee.service.setup.contest import Contest
from referee.store.readings import Energy, readings_of, session_meter_of
from referee.store.sessions import SessionRecord

# Lines of the meter's log that belong to a session begin this long before it was armed, which is
# when the meter is prepared, and end this long after its end, when the last values are read.
_BEFORE_S, _AFTER_S = 30.0, 150.0


def readings(contest: Contest, session: SessionRecord) -> Iterator[dict[str, Any]]:
    """Yield every reading whole: ranges, flags, and why a number is missing.

    `elapsed_s` is its second of the session, which goes on across a reboot.
    """
    for elapsed_s, reading in readings_of(contest.database.connection, session.session_id):
        yield {"elapsed_s": elapsed_s, **reading_to_json(reading)}


def run_facts(contest: Contest, session: SessionRecord, energy: Energy | None) -> dict[str, Any]:
    """Return what measured, with which settings, for how long, and what others noticed.

    `facts` are those of `power.energy.facts`, as the judgement used them. Before it they lack the
    end; they are null where no meter is recorded.
    """
    meter = session_meter_of(contest.database.connection, session.session_id)
    judged = {} if energy is None else energy.detail
    emulated, facts = judged.get("emulated"), judged.get("facts")
    if meter is not None:
        emulated = meter.emulated
        facts = facts or facts_to_json(RunFacts(meter.identity, meter.settings))
    return {"emulated": emulated, "facts": facts}


def verdict(energy: Energy | None) -> dict[str, Any]:
    """Return a session's energy as it was judged; nulls before that."""
    if energy is None:
        return {"verdict": None, "reasons": []}
    return {
        "verdict": energy.verdict,
        "energy_wh": energy.energy_wh,
        "uncertainty_wh": energy.uncertainty_wh,
        **{name: value for name, value in energy.detail.items() if name != "facts"},
    }


def meter_log(contest: Contest, session: SessionRecord) -> bytes:
    """Return the lines of the meter's log around the session; it may have none.

    Wall time chooses them, since it goes on across a reboot of the machine.
    """
    facts, path = session.facts, contest.config.wire_log
    if facts.armed is None or not path.exists():
        return b""
    first = facts.armed.utc - timedelta(seconds=_BEFORE_S)
    end = contest.clock.now().utc if facts.ended is None else facts.ended.utc
    last = end + timedelta(seconds=_AFTER_S)
    kept = []
    with path.open("rb") as log:
        for line in log:
            try:
                at = datetime.fromisoformat(json.loads(line)["utc"])
            except (ValueError, KeyError, TypeError):
                continue  # The last line of a desk that was killed may be cut.
            if first <= at <= last:
                kept.append(line)
    return b"".join(kept)
