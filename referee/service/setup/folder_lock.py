# SPDX-License-Identifier: Apache-2.0
"""One owner at a time for a contest's folder: locks that the kernel drops when the owner dies."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.errors import InputError

_LOOK_S = 0.05


@contextmanager
def lock_folder(folder: Path, role: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Keep a folder's role to this process while the block runs.

    Raises `InputError` naming the process that holds it, after waiting for `wait_s` seconds.
    The kernel drops the lock with the process (flock(2)), however that ends; the file stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{role}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + wait_s
        while not _taken(descriptor):
            if time.monotonic() >= deadline:
                owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
                raise InputError(
                    f"{folder}: is in use by process {owner or '?'}; stop that one, or give "
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


def is_locked(folder: Path, role: str) -> bool:
    """Tell whether some process holds the lock of a role in a folder; nothing is created."""
    try:
        descriptor = os.open(folder / f"{role}.lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        # With a shared lock others can ask the same at the same time.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
