# SPDX-License-Identifier: Apache-2.0
"""Locks on a contest's folder; the kernel releases them when their owner dies."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.errors import InputError
from referee.service.setup.own_folder import require_own
from referee.service.setup.private_files import make_folder
from referee.store.readable import refusal_of_writes

_LOOK_S = 0.05
_PROGRAMS = "programs"

_log = logging.getLogger(__name__)


@contextmanager
def lock_folder(folder: Path, role: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of a role in a folder while the block runs.

    Waits up to `wait_s` seconds, then raises `InputError` with the id of the process that holds the
    lock. The kernel releases the lock when the process ends in any way (flock(2)). The lock's file
    stays. Raises `InputError` for a folder of somebody else, too, and leaves it as it is.
    """
    require_own(folder)
    try:
        make_folder(folder)
    except InputError as error:
        raise InputError(f"{error} Name another one.") from None
    try:
        descriptor = os.open(folder / f"{role}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        why = refusal_of_writes(folder) or error.strerror
        raise InputError(f"{folder}: cannot be used: {why}. Name another folder.") from None
    try:
        deadline = time.monotonic() + wait_s
        while not _taken(descriptor):
            if time.monotonic() >= deadline:
                owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
                raise InputError(
                    f"{folder}: is in use by process {owner or '?'}. Stop that process, or give "
                    "another folder."
                )
            threading.Event().wait(_LOOK_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def running_in(folder: Path) -> Iterator[None]:
    """Hold a folder's lock of the programs while the block runs; many processes can.

    The workers that a program forks hold it too, until the last of them has ended.
    """
    descriptor = os.open(folder / f"{_PROGRAMS}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def wait_for_programs(folder: Path, patience_s: float) -> bool:
    """Wait until no program of an earlier supervisor runs in a folder; tell whether that is so.

    They hold its ports until they have finished their requests. The caller must hold the lock of
    the contest, so that no living supervisor owns them.
    """
    for wait_s in (0.0, patience_s):
        with suppress(InputError), lock_folder(folder, _PROGRAMS, wait_s=wait_s):
            return True
        _log.warning("programs of a killed referee have not ended yet")
    return False


def is_locked(folder: Path, role: str) -> bool:
    """Tell whether any process holds the lock of a role in a folder; create no file."""
    try:
        descriptor = os.open(folder / f"{role}.lock", os.O_RDONLY)
    except OSError:  # It is not there, or not for this user: `require_own` says which.
        return False
    try:
        # A shared lock lets several processes ask at the same time.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_hosted(folder: Path) -> bool:
    """Tell whether any process runs a contest's servers on this folder."""
    return is_locked(folder, "contest") or is_locked(folder, "desk")
