# SPDX-License-Identifier: Apache-2.0
"""A machine whose clock is set, that sleeps, and whose disk refuses or stalls, for real programs.

The programs run on the machine of the tests, whose clocks and disks nobody touches. A library that
they load first (`strange_machine.c`) changes what the system tells them, at any moment.
"""

from __future__ import annotations

import mmap
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.programs import path_of

_SOURCE = Path(__file__).with_suffix(".c")
_FORM = struct.Struct("=4d")
_WALL, _SLEPT, _REFUSAL, _STALLED = (8 * k for k in range(4))


class StrangeMachine:
    """The machine: `environment` is for the programs that shall run on it."""

    def __init__(self, folder: Path, storage: Path) -> None:
        """Compile the library in a folder; the disk is that of the files below `storage`."""
        library, told = folder / "strange_machine.so", folder / "strange"
        compiler = path_of("cc")
        assert compiler is not None
        command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
        subprocess.run(
            [*command, "-o", str(library), str(_SOURCE), "-ldl", "-lm"], check=True, timeout=180
        )
        told.write_bytes(_FORM.pack(0, 0, 0, 0))
        self.environment = {
            "LD_PRELOAD": str(library),
            "STRANGE_MACHINE": str(told),
            "STRANGE_FOLDER": str(storage.resolve()),
        }
        with told.open("r+b") as file:
            self._told = mmap.mmap(file.fileno(), _FORM.size)

    def set_clock(self, seconds: float) -> None:
        """Set the wall clock on, or back, by so much."""
        self._add(_WALL, seconds)

    def sleep(self, seconds: float) -> None:
        """Sleep for so long, in no time: every clock but the monotonic one goes on."""
        self._add(_SLEPT, seconds)

    @contextmanager
    def refusing(self, error: int) -> Iterator[None]:
        """Refuse each write below the folder with this errno."""
        self._put(_REFUSAL, float(error))
        try:
            yield
        finally:
            self._put(_REFUSAL, 0.0)

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let nothing below the folder reach the disk."""
        self._put(_STALLED, 1.0)
        try:
            yield
        finally:
            self._put(_STALLED, 0.0)

    def _add(self, place: int, seconds: float) -> None:
        self._put(place, struct.unpack_from("=d", self._told, place)[0] + seconds)

    def _put(self, place: int, value: float) -> None:
        struct.pack_into("=d", self._told, place, value)
