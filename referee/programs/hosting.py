# SPDX-License-Identifier: Apache-2.0
"""Bring a contest up on this machine: prepare it, start its meter's emulator, start the servers."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from referee.errors import InputError, Unavailable
from referee.programs.progress import progress_bar
from referee.programs.supervisor import Supervisor
from referee.service.setup.config import Config
from referee.service.setup.contest import prepare_contest
from referee.service.setup.folder_lock import is_locked, lock_folder
from referee.store.database import Database
from referee.store.notices import insert_notice

_EMULATOR_READY_S = 30.0
_STOP_S = 5.0


class Host:
    """Hold what a running contest can be asked."""

    def __init__(self, supervisor: Supervisor, database: Database, emulator_pid: int | None):
        self.supervisor = supervisor
        self.database = database
        self.emulator_pid = emulator_pid


def claimed(folder: Path) -> AbstractContextManager[None]:
    """Keep a contest's folder to this process; `InputError` where another one runs a contest in it.

    Take it before anything in the folder is written.
    """
    return lock_folder(folder, "contest")


def is_hosted(folder: Path) -> bool:
    """Tell whether a contest's servers run on a folder, of whatever process."""
    return is_locked(folder, "contest") or is_locked(folder, "desk")


@contextmanager
def hosted(config: Config) -> Iterator[Host]:
    """Run a contest for as long as the block lasts; everything started is stopped at its end.

    The folder must be claimed.
    """
    with progress_bar("images checked") as progress:
        database, _ = prepare_contest(config, progress=progress)
    try:
        emulated = config.meter.resource == "emulated"
        with _emulator(config) if emulated else nullcontext() as emulator:
            resource = None if config.meter.resource == "none" else config.meter.resource
            pid = None
            if emulator is not None:
                pid, resource = emulator
            alarm = partial(_notify, database)
            with Supervisor(config, resource, alarm=alarm) as supervisor:
                yield Host(supervisor, database, pid)
    finally:
        database.close()


def _notify(database: Database, text: str) -> None:
    with database.write() as connection:
        insert_notice(connection, None, datetime.now(UTC).isoformat(), "alarm", text)


@contextmanager
def _emulator(config: Config) -> Iterator[tuple[int, str]]:
    """Run the emulated meter as a process of its own; yield its process id and VISA resource."""
    command = [sys.executable, "-m", "power", "emulate", "--port", "0", "--exit-with-parent"]
    command += _load_options(config.meter.emulated_load)
    log = config.storage.folder / "logs" / "emulator.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        yield child.pid, _ready_resource(child, log)
    finally:
        child.terminate()
        try:
            child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()


def _load_options(load: str) -> list[str]:
    if ":" in load:
        return ["--steps", load]
    if load.endswith(".csv"):
        return ["--profile", load]
    return ["--watts", load]


def _ready_resource(child: subprocess.Popen[bytes], log: Path) -> str:
    """Wait for the line `ready RESOURCE` on the emulator's standard output."""
    stdout = child.stdout
    if stdout is None:
        raise Unavailable("The emulated meter has no output.")
    line = b""
    deadline = time.monotonic() + _EMULATOR_READY_S
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n") and selector.select(deadline - time.monotonic()):
            part = os.read(stdout.fileno(), 4096)
            if not part:
                break
            line += part
    word, _, resource = line.decode("utf-8", "replace").strip().partition(" ")
    if word != "ready" or not resource:
        lines = log.read_text("utf-8", "replace").split("\n")
        said = next((text for text in reversed(lines) if text.strip()), f"see {log}")
        raise InputError(f"The emulated meter did not start: {said.strip()}")
    return resource
