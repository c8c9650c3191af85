# SPDX-License-Identifier: Apache-2.0
"""The watch over the files that scores rest on, while the referee runs.

The scorer has read them already, so a change shows in no score. But the next start would be
refused, and whoever corrects a file in its place believes that the correction counts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from referee.formats.hashed_reads import HashedReads
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.input_files import input_paths, resolved_files
from referee.service.setup.input_rule import InputFault, fault_text, way_out
from referee.store.images import load_inputs
from referee.store.inputs_in_force import InForce, inputs_in_force

# A folder of 20,000 label files takes a look 0.1 s. The watch takes a fiftieth of a processor.
_LOOK_S, _SHARE = 2.0, 50

Stamp = tuple[tuple[str, int, int], ...]
"""Path, size and time of each file that was looked at."""


class InputWatch:
    """The watch; a thread of the caller calls `run`.

    `tell` gets a sentence when a file has changed or is gone, once for each content. Files of the
    same size and time are not read again. A file is judged when two looks find it the same: one
    that is being copied changes from look to look.
    """

    def __init__(self, contest: Contest, tell: Callable[[str], object]) -> None:
        self._contest = contest
        self._tell = tell
        self._before: tuple[int | None, Stamp] | None = None
        self._judged: tuple[int | None, Stamp] | None = None
        self._told: tuple[InputFault, ...] = ()

    @property
    def faults(self) -> tuple[InputFault, ...]:
        """Return what is wrong with the files by the last look that judged them."""
        return self._told

    def run(self, stopping: threading.Event) -> None:
        """Watch until `stopping` is set."""
        took_s = 0.0
        while not stopping.wait(max(_LOOK_S, _SHARE * took_s)):
            begun_s = time.monotonic()
            self.look()
            took_s = time.monotonic() - begun_s

    def look(self) -> None:
        """Look once, and tell what is newly wrong."""
        connection = self._contest.database.connection
        prepared, in_force = load_inputs(connection), inputs_in_force(connection)
        config = self._contest.config
        number = None if in_force is None else in_force.proposal_id
        now = (number, stamp_of(_places(config, in_force)))
        still, self._before = now == self._before, now
        if not still or now == self._judged:
            return
        faults = resolved_files(config, prepared, in_force, HashedReads()).faults
        self._judged = now
        if faults and faults != self._told:
            self._tell(f"{' '.join(map(fault_text, faults))} {way_out(faults)}")
        self._told = faults


def stamp_of(places: Iterable[Path]) -> Stamp:
    """Return sizes and times of files, and of all files in folders; what is gone has none."""
    return tuple(
        (str(path), status.st_size, status.st_mtime_ns)
        for place in places
        for path in _files(place)
        if (status := _status(path)) is not None
    )


def _places(config: Config, in_force: InForce | None) -> Iterator[Path]:
    yield from input_paths(config).values()
    if in_force is not None:
        yield from (Path(file.path) for file in in_force.inputs.values())


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    # A folder that somebody renames meanwhile is left out here, where a walk of paths may fail.
    return sorted(Path(top, name) for top, _, names in os.walk(place) for name in names)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
