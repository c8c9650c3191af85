# SPDX-License-Identifier: Apache-2.0
"""The queue's program: it takes entries from the line, one at a time, and records what became."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from referee.core.entry_states import BUSY, EntryState, EventKind, next_entry
from referee.errors import Refusal, Unavailable
from referee.service.setup.clock import Clock
from referee.service.setup.config import Config
from referee.service.submission.judge import Judge, Refused
from referee.service.submission.models import path_of_model, sweep
from referee.service.submission.tasks import Task
from referee.store.database import Database
from referee.store.notices import insert_notice
from referee.store.ovic_entries import (
    EntryRecord,
    all_entries,
    entries_version,
    last_truth_before,
    load_entry,
    record_entry_event,
)

_ACTOR = "queue"
_LOOK_S = 0.5
# How long the queue tries to record what it found while the disk or another writer refuses. Then
# its process ends, and the next one takes the entry up again.
_RECORD_S = 600.0
_AGAIN_S = 1.0
_OURS = "The referee could not finish, through no fault of the model"

_log = logging.getLogger(__name__)


class EntryQueue:
    """Takes entries from the line; one thread of one process runs it.

    `paused` tells whether to begin with no entry now. Everything that it must remember is in the
    database, so it may be killed at any point.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        database: Database,
        tasks: Mapping[str, Task],
        judge: Judge,
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self._config = config
        self._clock = clock
        self._database = database
        self._tasks = tasks
        self._judge = judge
        self._paused = paused
        self._last = EntryState.RECEIVED
        self._stopping = threading.Event()

    def run(self) -> None:
        """Serve the line until `stop`, or until the main thread is interrupted."""
        self.recover()
        idle = None  # the version of the entries when nobody stood in a line
        while not self._stopping.is_set():
            version = entries_version(self._database.connection)
            if version != idle and not self._paused():
                if self.step():
                    continue
                idle = version
            self._stopping.wait(_LOOK_S)

    def stop(self) -> None:
        """End `run` after the present entry."""
        self._stopping.set()

    def recover(self) -> None:
        """Take up what a killed queue left behind: its entry goes back into the line, as a try."""
        sweep(self._config.models)
        for entry in all_entries(self._database.connection, states=BUSY):
            self._give_back(entry, "The referee was restarted", {})

    def step(self) -> bool:
        """Serve the entry whose turn it is; return False if nobody stands in a line."""
        standing = all_entries(
            self._database.connection, states=(EntryState.RECEIVED, EntryState.WAITING)
        )
        entry = next_entry(standing, self._last)
        if entry is None:
            return False
        self._last = entry.state
        validating = entry.state is EntryState.RECEIVED
        if self._record(entry, "validating" if validating else "measuring"):
            self._serve(entry, validating)
        return True

    def _serve(self, entry: EntryRecord, validating: bool) -> None:
        """Let the judge work, and record what came of it, whatever that is."""
        try:
            self._work(entry, validating)
        except Refused as refused:
            rows = [vars(failure) for failure in refused.failures]
            self._record(entry, "refused", str(refused), {"failures": rows})
        except KeyboardInterrupt:
            self._record(entry, "stopped", "The referee was restarted. The entry keeps its place.")
            raise
        except Exception as error:
            # Whatever it is, the model did not cause it, and the next entry must not wait for it.
            _log.exception("entry %d could not be judged", entry.entry_id)
            self._give_back(entry, _OURS, {"error": f"{type(error).__name__}: {error}"})

    def _work(self, entry: EntryRecord, validating: bool) -> None:
        task = self._tasks.get(entry.task)
        if task is None:
            raise Unavailable(f"The task '{entry.task}' is closed in the configuration.")
        model = path_of_model(self._config.models, entry.model_sha256)
        if validating:
            self._judge.validate(task, model, entry.model_sha256)
            self._record(entry, "waiting", "The model is valid.")
            return
        found = self._judge.measure(task, model, entry.model_sha256)
        scored = self._record(
            entry,
            "scored",
            "",
            {
                "images": found.images,
                "right": found.right,
                "ground_truth_sha256": found.truth_sha256,
                "benchmark": found.benchmark,
            },
            accuracy=found.accuracy,
            latency_ms=found.latency_ms,
        )
        if scored:
            self._compare_truth(entry, found.truth_sha256)

    def _compare_truth(self, entry: EntryRecord, truth_sha256: str) -> None:
        """Tell the operators when the ground truth is another one than that of earlier scores."""
        connection = self._database.connection
        last = last_truth_before(connection, entry.entry_id, entry.task)
        if last is not None and last != truth_sha256:
            self._notify(
                f"OVIC: the ground truth of {entry.task} has changed: entry {entry.entry_id} is "
                "scored with another one than the entry before it. Put the entries of the old one "
                "into the line again: referee ovic again N"
            )

    def _give_back(self, entry: EntryRecord, why: str, detail: Mapping[str, Any]) -> None:
        """Put an entry back into the line, or give it up after the last of its tries."""
        tries = load_entry(self._database.connection, entry.entry_id).tries + 1
        most = self._config.ovic.tries
        if tries < most:
            text = f"{why} (try {tries} of {most}). The entry is tried again."
            self._record(entry, "interrupted", text, detail)
            return
        text = f"{why}, {most} times. The operator has been told. The entry does not count."
        if self._record(entry, "failed", text, detail):
            told = f": {detail['error']}" if "error" in detail else ""
            self._notify(
                f"OVIC: entry {entry.entry_id} of {entry.team} failed through the referee{told}. "
                f"When that is repaired: referee ovic again {entry.entry_id}"
            )

    def _record(
        self,
        entry: EntryRecord,
        kind: EventKind,
        text: str = "",
        detail: Mapping[str, Any] | None = None,
        *,
        accuracy: float | None = None,
        latency_ms: float | None = None,
    ) -> bool:
        """Record an event; return False if an operator has moved the entry meanwhile.

        Raises `Unavailable` if the database refuses for ten minutes.
        """
        tries = int(_RECORD_S / _AGAIN_S)
        for left in reversed(range(tries)):
            try:
                with self._database.write() as connection:
                    record_entry_event(
                        connection,
                        entry.entry_id,
                        kind,
                        self._clock.now().utc.isoformat(),
                        actor=_ACTOR,
                        text=text,
                        accuracy=accuracy,
                        latency_ms=latency_ms,
                        detail=detail,
                    )
                return True
            except Refusal as refusal:
                _log.warning("entry %d: %s", entry.entry_id, refusal)
                return False
            except Unavailable as error:
                if not left or self._stopping.is_set():
                    raise
                _log.error("%s", error)
                self._stopping.wait(_AGAIN_S)
        return False

    def _notify(self, text: str) -> None:
        with self._database.write() as connection:
            utc = self._clock.now().utc.isoformat()
            insert_notice(connection, None, utc, "warning", text)
