# SPDX-License-Identifier: Apache-2.0
"""Host a contest on this machine: prepare it, start emulated meters if any, start the servers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from power.connect import open_meter
from power.errors import MeterError
from referee import __version__
from referee.core.actors import REFEREE
from referee.core.open_files import descriptor_shortage
from referee.core.restored import RESTORED_REMEDY, restored_text
from referee.errors import InputError, RefereeError
from referee.programs.emulator import emulated_meter
from referee.programs.failed_start import FolderBefore
from referee.programs.forked import Forked
from referee.programs.log_lines import log_as
from referee.programs.practice_folder import rehearsal_config
from referee.programs.progress import progress_told
from referee.programs.supervisor import Supervisor
from referee.programs.terminal import tell_on_terminal
from referee.service.event.newest_charts import require_charts
from referee.service.evidence.newer_evidence import newer_evidence
from referee.service.people.operators import require_operators
from referee.service.preflight.contest_checks import under_way
from referee.service.preflight.machine_facts import most_open_files
from referee.service.setup.clock import SystemClock
from referee.service.setup.config import Config
from referee.service.setup.contest_tls import usable_certificate
from referee.service.setup.extra import all_extras
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.lane_config import MeterSection
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.private_files import private_from_the_start
from referee.store.database import Database
from referee.store.images import ImageCounts
from referee.store.notices import insert_audit, insert_notice

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Host:
    """A running contest: its supervisor, its database, and what was counted of its images."""

    supervisor: Supervisor
    database: Database
    images: ImageCounts | None


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Lock a contest's folder for this process, and keep new files private to this user.

    Enter this block before the first write to the folder. Raises `InputError` if another process
    runs a contest in the folder.
    """
    with private_from_the_start(), lock_folder(folder, "contest"):
        yield


@contextmanager
def event_rehearsal(event: Config) -> Iterator[tuple[Config, Callable[[], None]]]:
    """Lock an event's folder and that of its rehearsals; return the rehearsals' configuration.

    A block that fails before it calls the function leaves both folders as they were.
    Raises `InputError` while the event's servers run, and while a session of the event is armed,
    runs or is not settled: a rehearsal resets the meter that holds its energy.
    """
    if event.contest.mode == "practice":
        raise InputError(f"{event.path}: is no event, so it has no rehearsals.")
    folder = event.storage.folder
    before, rehearsals = FolderBefore.of(folder), FolderBefore.of(event.rehearsals)
    with claimed(folder), before.undone() as keep_event:
        with opened_contest(event) as contest:
            busy = under_way(contest)
        if busy:
            raise InputError(
                f"{busy} A rehearsal would reset the meter: start 'referee serve', and let it end."
            )
        with claimed(event.rehearsals), rehearsals.undone() as keep_rehearsals:

            def keep() -> None:
                keep_event()
                keep_rehearsals()

            yield rehearsal_config(event), keep


@contextmanager
def hosted(
    config: Config,
    tell: Callable[[str], None] = tell_on_terminal,
    forked: Iterable[Forked] = (),
) -> Iterator[Host]:
    """Run a contest until the block ends, then stop every process that was started.

    The caller must hold `claimed` on the folder. The block begins when a session can be started.
    Until then `tell` gets sentences that say what is still missing. Its processes are `forked`, as
    far as they suffice.
    """
    log_as(config.log)
    if config.server.contest_tls is not None:
        usable_certificate(config.server.contest_tls, datetime.now(UTC))
    if config.server.scoreboard is not None:
        require_charts()
    for lane in config.lanes:
        require_kind(lane.meter)
    for extra in all_extras():
        extra.require_usable(config)
    sentences: list[str] = []
    with progress_told("images checked") as progress:
        database, manifest = prepare_contest(config, progress=progress, tell=sentences.append)
    for sentence in sentences:  # Behind the bar, which stands on the same line.
        tell(sentence)
    with ExitStack() as stack:
        stack.callback(database.close)
        require_operators(config, database.connection)
        _tell_if_restored(config, database, tell)
        resources, others, waiting = [], [], iter(forked)
        for number, lane in enumerate(config.lanes, 1):
            resources.append(lane.meter.resource)
            if lane.meter.emulated:
                meter = stack.enter_context(emulated_meter(config, number, next(waiting, None)))
                resources[-1] = meter.resource
                others.append(meter.child)
        supervisor = stack.enter_context(
            Supervisor(
                config,
                resources,
                others=others,
                forked=waiting,
                alarm=partial(_notify, database),
            )
        )
        shortage = descriptor_shortage(most_open_files())
        if shortage is not None:
            tell(f"Too few open files: {shortage}. 'referee check' says how to raise the limit.")
        supervisor.wait_for_sessions(tell)
        stack.callback(_record, database, "stop", "")
        _record(database, "start", f"version {__version__}")
        yield Host(supervisor, database, manifest.counts)


def require_kind(section: MeterSection) -> None:
    """Raise `InputError` for a kind, an option or a setting that its meter does not know.

    It looks at meters of other kinds than the WT300 series alone, and touches no device.
    """
    if not section.other_kind:
        return
    try:
        open_meter(section.resource, element=section.element).close()
    except (MeterError, ValueError) as error:
        raise InputError(f"[meter] resource '{section.resource}': {error}.") from None


def _tell_if_restored(config: Config, database: Database, tell: Callable[[str], None]) -> None:
    """Tell, on the console too, that bundles or slips beside the folder know more than it."""
    newer = newer_evidence(config, database.connection)
    if newer:
        text = f"{restored_text(newer)} {RESTORED_REMEDY}"
        tell(text)
        with database.write() as connection:
            insert_notice(connection, None, datetime.now(UTC).isoformat(), "alarm", text)


def _record(database: Database, action: str, detail: str) -> None:
    """Put what the referee itself does into the audit; a full disk does not stop it."""
    try:
        with database.write() as connection:
            insert_audit(connection, SystemClock().now(), REFEREE, action, None, detail)
    except RefereeError:
        _log.exception("'%s' is not in the audit", action)


def _notify(database: Database, text: str) -> None:
    _record(database, "restart", text)
    with database.write() as connection:
        insert_notice(connection, None, datetime.now(UTC).isoformat(), "alarm", text)
