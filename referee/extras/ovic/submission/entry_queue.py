# SPDX-License-Identifier: Apache-2.0
"""The queue's program: it takes entries from the line, one at a time, and records what became."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any

from referee.core.states import SessionState, state_of
from referee.errors import InputError, Refusal, Unavailable
from referee.extras.ovic.judging.entry import measure_until_stable
from referee.extras.ovic.rules.detections import overhang_texts
from referee.extras.ovic.rules.entry_states import (
    BUSY,
    HAS_SCORE,
    LINED,
    EntryState,
    EventKind,
    next_entry,
)
from referee.extras.ovic.rules.settings_change import change_text, changed
from referee.extras.ovic.section import models_of, ovic_of
from referee.extras.ovic.submission.entries import (
    EntryRecord,
    NewEvent,
    all_entries,
    entries_version,
    last_score_before,
    load_entry,
    record_entry_event,
)
from referee.extras.ovic.submission.judge import Judge, Refused
from referee.extras.ovic.submission.judging_settings import (
    is_outdated,
    judge_refused_again,
    require_no_lost_score,
    settings_of,
)
from referee.extras.ovic.submission.models import path_of_model, sweep
from referee.extras.ovic.submission.place import place_of_contest
from referee.extras.ovic.submission.tasks import Task, open_tasks
from referee.service.setup.clock import Clock, SystemClock
from referee.service.setup.config import Config
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.program import Launch
from referee.store.database import Database
from referee.store.notices import insert_notice
from referee.store.sessions import live_session

_ACTOR = "queue"
_LOOK_S = 0.5
# How long the queue tries to record what it found while the disk or another writer refuses. Then
# its process ends, and the next one takes the entry up again.
_RECORD_S = 600.0
_AGAIN_S = 1.0
# How long a new program waits until a killed one has released the contest's folder.
_TAKE_OVER_S = 30.0
# How long a task waits whose images, ground truth or board cannot be used, until the next try.
_REPAIR_S = 30.0
_DATA = {"ground_truth_sha256": "the ground truth", "images_sha256": "the images"}
_NOT_NOW = (
    "The referee cannot measure or score now. The operator has been told. "
    "The entry keeps its place."
)
_KEPT = "The entry could not be measured again, and keeps the score that it has."
_OURS = "The referee could not finish, through no fault of the model"

_BEGIN: Mapping[EntryState, EventKind] = {
    EntryState.RECEIVED: "validating",
    EntryState.WAITING: "measuring",
    EntryState.AGAIN: "remeasuring",
}

_log = logging.getLogger(__name__)


class EntryQueue:
    """Takes entries from the line; one thread of one process runs it.

    `paused` tells whether to begin with no entry now; `step` does not ask. Everything that matters
    is in the database, so it may be killed at any point.
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
        self.paused = paused
        self._last = EntryState.RECEIVED
        self._repaired_at: dict[str, float] = {}
        self._told: dict[str, str] = {}
        self._stopping = threading.Event()

    def run(self) -> None:
        """Serve the line until `stop`, or until the main thread is interrupted."""
        self.recover()
        idle = None  # the version of the entries when nobody stood in a line
        while not self._stopping.is_set():
            version = entries_version(self._database.connection)
            if version != idle and not self.paused():
                if self.step():
                    continue
                # A task that waits for its repair has entries, whatever the version.
                idle = None if self._repaired_at else version
            self._stopping.wait(_LOOK_S)

    def stop(self) -> None:
        """End `run` after the present entry."""
        self._stopping.set()

    def recover(self) -> None:
        """Take up what a killed queue left behind: its entry goes back into the line, as a try.

        After a change of the settings refused entries are judged again. Raises `InputError` if the
        change might take a score away.
        """
        entries = all_entries(self._database.connection)
        sweep(models_of(self._config), {entry.model_sha256 for entry in entries})
        for entry in all_entries(self._database.connection, states=BUSY):
            self._give_back(entry, "The referee was restarted", {})
        require_no_lost_score(self._database.connection, self._tasks)
        self._judge_refused_again()

    def _judge_refused_again(self) -> None:
        """Put refused entries into the line again after a change of the settings."""
        utc = self._clock.now().utc.isoformat()
        with self._database.write() as connection:
            again = list(judge_refused_again(connection, self._tasks, utc, _ACTOR))
        if again:
            numbers = ", ".join(str(entry.entry_id) for entry, _ in again)
            what = "; ".join(dict.fromkeys(text for _, text in again))
            self._notify(f"OVIC: [ovic] {what}. Refused entries are judged again: {numbers}.")

    def step(self) -> bool:
        """Serve the entry whose turn it is; return False if nobody stands in a line.

        The entries of a task whose images, ground truth or board cannot be used wait a while.
        """
        standing = all_entries(self._database.connection, states=LINED)
        entry = next_entry([one for one in standing if self._may_begin(one)], self._last)
        if entry is None:
            return False
        self._last = entry.state
        if self._record(entry, _BEGIN[entry.state]):
            self._serve(entry, entry.state is EntryState.RECEIVED)
        return True

    def _serve(self, entry: EntryRecord, validating: bool) -> None:
        """Let the judge work, and record what came of it, whatever that is."""
        try:
            self._work(entry, validating)
        except Refused as refused:
            self._refuse(entry, refused)
        except KeyboardInterrupt:
            self._record(entry, "stopped", "The referee was restarted. The entry keeps its place.")
            raise
        except InputError as error:
            self._wait_for_repair(entry, str(error))
        except Unavailable as error:
            _log.warning("entry %d could not be judged: %s", entry.entry_id, error)
            self._give_back(entry, _OURS, {"error": str(error)})
        except Exception as error:
            # Whatever it is, the model did not cause it, and the next entry must not wait for it.
            _log.exception("entry %d could not be judged", entry.entry_id)
            self._give_back(entry, _OURS, {"error": f"{type(error).__name__}: {error}"})

    def _refuse(self, entry: EntryRecord, refused: Refused) -> None:
        """Refuse a model; a score that it has already stays."""
        detail: dict[str, object] = {"failures": [vars(failure) for failure in refused.failures]}
        if entry.task in self._tasks:
            detail["settings"] = settings_of(self._tasks[entry.task])
        if entry.state in HAS_SCORE:
            self._keep(entry, str(refused), str(refused), detail)
        else:
            self._record(entry, "refused", str(refused), detail)

    def _keep(self, entry: EntryRecord, why: str, text: str, detail: Mapping[str, object]) -> None:
        """End another measurement that gave nothing: the scores that the entry has stay.

        Its team reads `why`, the operators `text`.
        """
        if self._record(entry, "kept", f"{_KEPT} {why}", detail):
            self._notify(
                f"OVIC: entry {entry.entry_id} of {entry.team} could not be measured again, and "
                f"keeps the score that it has. {text} To measure it once more: referee ovic again "
                f"{entry.entry_id}"
            )

    def _work(self, entry: EntryRecord, validating: bool) -> None:
        task = self._tasks.get(entry.task)
        if task is None:
            raise Unavailable(f"The task '{entry.task}' is closed in the configuration.")
        model = path_of_model(models_of(self._config), entry.model_sha256)
        settings: dict[str, object] = {"settings": settings_of(task)}
        if validating:
            overhang = self._judge.validate(task, model, entry.model_sha256)
            measured_overhang = {} if overhang is None else {"overhang": asdict(overhang)}
            remarks = [] if overhang is None else overhang_texts(overhang)
            text = " ".join(["The model is valid.", *remarks])
            self._record(entry, "waiting", text, settings | measured_overhang)
            return
        outdated = is_outdated(self._database.connection, entry, task)
        if outdated:  # It was found valid by other settings than those of now.
            self._judge.validate(task, model, entry.model_sha256)
        entry_result = self._judge.measure(task, model, entry.model_sha256)
        detail = {
            "images": entry_result.images,
            "right": entry_result.right,
            "ground_truth_sha256": entry_result.truth_sha256,
            "images_sha256": entry_result.images_sha256,
            "benchmark": entry_result.benchmark,
            **(settings if outdated else {}),
        }
        if self._record(
            entry,
            "scored",
            "",
            detail,
            accuracy=entry_result.accuracy,
            latency_ms=entry_result.latency_ms,
            build=entry_result.build,
        ):
            self._compare_data(entry, detail)

    def _compare_data(self, entry: EntryRecord, detail: Mapping[str, Any]) -> None:
        """Tell the operators when an entry is scored otherwise than the one before it.

        It is scored on other data, or measured by another plan.
        """
        last = last_score_before(self._database.connection, entry.entry_id, entry.task) or {}
        for key, what in _DATA.items():
            if last.get(key) not in (None, detail[key]):
                self._notify(
                    f"OVIC: {what} of {entry.task} changed: entry {entry.entry_id} is scored on "
                    "other data than the entry before it. Measure all entries again: referee "
                    "ovic round"
                )
        before, now = (one.get("benchmark", {}).get("plan", {}) for one in (last, detail))
        if changed(before, now):
            self._notify(
                f"OVIC: [ovic] {change_text(before, now)}: entry {entry.entry_id} is measured "
                f"otherwise than the {entry.task} entry before it. Measure all entries again: "
                "referee ovic round"
            )

    def _wait_for_repair(self, entry: EntryRecord, fault: str) -> None:
        """Let a task wait whose data or board is unusable: no entry caused it, none loses a try."""
        self._record(entry, "stopped", _NOT_NOW, {"error": fault})
        self._repaired_at[entry.task] = self._clock.now().monotonic_s + _REPAIR_S
        if self._told.get(entry.task) != fault:
            self._told[entry.task] = fault
            self._notify(
                f"OVIC: the entries of {entry.task} wait: {fault}. The queue tries again every "
                f"{_REPAIR_S:g} s."
            )

    def _may_begin(self, entry: EntryRecord) -> bool:
        """Tell whether an entry's task waits for no repair."""
        if self._clock.now().monotonic_s < self._repaired_at.get(entry.task, 0.0):
            return False
        self._repaired_at.pop(entry.task, None)
        return True

    def _give_back(self, entry: EntryRecord, why: str, detail: Mapping[str, object]) -> None:
        """Put an entry back into the line, or give it up after the last of its tries."""
        tries = load_entry(self._database.connection, entry.entry_id).tries + 1
        most = ovic_of(self._config).tries
        if tries < most:
            text = f"{why} (try {tries} of {most}). The entry is tried again."
            self._record(entry, "interrupted", text, detail)
            return
        text, error = f"{why}, {most} times.", f": {detail['error']}" if "error" in detail else ""
        if entry.state in HAS_SCORE:
            self._keep(entry, text, f"{why}, {most} times{error}.", detail)
            return
        text += " The operator has been told. The entry does not count."
        if self._record(entry, "failed", text, detail):
            self._notify(
                f"OVIC: entry {entry.entry_id} of {entry.team} failed through the referee{error}. "
                f"When that is repaired: referee ovic again {entry.entry_id}"
            )

    def _record(
        self,
        entry: EntryRecord,
        kind: EventKind,
        text: str = "",
        detail: Mapping[str, object] | None = None,
        *,
        accuracy: float | None = None,
        latency_ms: float | None = None,
        build: str | None = None,
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
                        NewEvent(
                            kind,
                            self._clock.now().utc.isoformat(),
                            actor=_ACTOR,
                            text=text,
                            accuracy=accuracy,
                            latency_ms=latency_ms,
                            build=build,
                            detail=detail,
                        ),
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
        _log.warning("%s", text)
        with self._database.write() as connection:
            utc = self._clock.now().utc.isoformat()
            insert_notice(connection, None, utc, "warning", text)


def run_entry_queue(config: Config, launch: Launch) -> None:
    """Serve the line until SIGTERM, which interrupts the main thread."""
    with lock_folder(config.storage.folder, "ovic", wait_s=_TAKE_OVER_S):
        with closing(Database(config.database)) as database:
            queue_of(config, SystemClock(), database).run()


def queue_of(config: Config, clock: Clock, database: Database) -> EntryQueue:
    """Return the queue of a contest, which measures where its configuration says.

    Whoever lets it work holds the lock `ovic` of the contest's folder.
    """
    measure = partial(measure_until_stable, place=place_of_contest(config))
    judge = Judge(60 * ovic_of(config).entry_minutes, measure)
    paused = partial(_session_runs, config, clock, database)
    return EntryQueue(config, clock, database, open_tasks(config), judge, paused)


def _session_runs(config: Config, clock: Clock, database: Database) -> bool:
    """Tell whether the queue waits, because an on-site session runs."""
    if not ovic_of(config).waits_for_sessions:
        return False
    live = [live_session(database.connection, lane + 1) for lane in range(len(config.lanes))]
    states = [state_of(session.facts, clock.now()) for session in live if session is not None]
    return SessionState.RUNNING in states
