# SPDX-License-Identifier: Apache-2.0
"""Write `tests/stored/event-VERSION.zip`: a whole small event as this version leaves it.

Run it by `python -m tests.stored_event` once for each version that is released, and commit the
file. It stays as it is for ever: `tests/e2e/test_stored_events.py` opens it with every
later version, which must tell the same figures. An emulated meter on its wire has measured it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import structs

from referee import __version__
from referee.service.event.finalizing import finalize, review
from referee.service.event.results import provisional_results, read_results
from referee.service.event.results_table import results_json
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.facts_check import check_facts
from referee.service.people.audit import read_audit, shown_action
from referee.service.setup.contest import Contest
from referee.store.finals import is_final
from referee.store.notices import insert_audit
from referee.store.sessions import record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import SECONDS, play

FOLDER = Path(__file__).parent / "stored"
FIGURES = "figures.json"


def figures_of(contest: Contest) -> dict[str, Any]:
    """Return what an event tells: results, approved and computed anew; who did what; its chain."""
    with contest.database.read() as connection:
        computed = provisional_results(contest, connection)
    found = {
        "final": is_final(contest.database.connection),
        "approved": results_json(read_results(contest)),
        # All but the moment when somebody asks.
        "computed": {name: it for name, it in results_json(computed).items() if name != "utc"},
        "audit": [
            structs.asdict(shown_action(row))
            for row in read_audit(contest, person="", action="", team="")
        ],
        "facts": asdict(check_facts(contest)),
    }
    told: dict[str, Any] = json.loads(json.dumps(found))
    return told


def write_event(out: Path) -> None:
    """Play an event of two attempts, make it final, and pack its folder with its figures."""
    os.umask(0o077)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "event"
        folder.mkdir()
        contest = make_contest(folder, FakeClock(), mode="event", seconds=SECONDS)
        with closing(contest.database):
            for attempt, watts in enumerate((5.0, 4.0), 1):
                play(contest, watts=watts)
                review(contest, attempt, "Kim", "the meter is an emulated one, as planned")
            with contest.database.write() as connection:
                now, why = contest.clock.now(), "the device fell off the table"
                record_event(connection, 1, "voided", now, actor="Kim", cause=why)
                insert_audit(connection, now, "Kim", "void", 1, reason=why)
            finalize(contest, ["Ada", "Grace"], "Kim")
            for session_id in (1, 2):
                write_bundle(contest, session_id, folder / f"session{session_id}.zip")
            figures = figures_of(contest)
        (folder / FIGURES).write_text(json.dumps(figures, indent=1), encoding="utf-8")
        with zipfile.ZipFile(out, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for path in sorted(it for it in folder.rglob("*") if it.is_file()):
                packed.write(path, path.relative_to(folder))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    made = FOLDER / f"event-{__version__}.zip"
    if made.exists():
        sys.exit(f"{made} is there, and stays as that version wrote it.")
    write_event(made)
    print(f"Wrote {made}.")
