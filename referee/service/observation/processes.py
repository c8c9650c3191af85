# SPDX-License-Identifier: Apache-2.0
"""The referee's processes as the system knows them: what they take, and those left by a kill."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil

_PROGRAM = ("referee", "process")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProcessFacts:
    """One process of the referee; `program` is its name, and that of its lane if it has one."""

    program: str
    pid: int
    memory_bytes: int
    cpu_s: float
    threads: int
    open_files: int


def processes_under(supervisor: int) -> list[ProcessFacts]:
    """Return the supervisor with this process id, and all processes below it.

    A process that ends meanwhile is left out. The list is empty if there is no such supervisor.
    """
    return list(_facts(_family(supervisor)))


def commands_under(first: int) -> list[tuple[int, str]]:
    """Return process id and command line of the process with this id, and of all below it.

    A process that ends meanwhile is left out. The list is empty if there is no such process.
    """
    commands: list[tuple[int, str]] = []
    for process in _family(first):
        with suppress(psutil.Error):
            commands.append((process.pid, " ".join(process.cmdline())))
    return commands


def _family(first: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(first)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []


def _facts(family: Sequence[psutil.Process]) -> Iterator[ProcessFacts]:
    for process in family:
        try:
            with process.oneshot():
                times = process.cpu_times()
                yield ProcessFacts(
                    program=program_of(process.cmdline()),
                    pid=process.pid,
                    memory_bytes=process.memory_info().rss,
                    cpu_s=times.user + times.system,
                    threads=process.num_threads(),
                    open_files=process.num_fds(),
                )
        except psutil.Error:
            continue


def program_of(command: Sequence[str]) -> str:
    """Return the program that a command line runs: its words after `referee` or `process`.

    `python -m referee process contest --lane 2 …` is `contest-2`, `python -m power emulate …` is
    `power emulate`, and `referee serve …` is `serve`. Anything else is its first word.
    """
    words = [word.rsplit("/", 1)[-1] for word in command]
    for place, word in enumerate(words[:3]):
        rest = words[place + 1 :]
        if word == "referee" and rest[:1] == ["process"] and len(rest) > 1:
            lane = rest[rest.index("--lane") + 1] if "--lane" in rest[:-1] else "1"
            return rest[1] if lane == "1" else f"{rest[1]}-{lane}"
        if word == "referee" and rest:
            return rest[0]
        if word.startswith("power") and rest:
            return f"{word} {rest[0]}"
    return words[0] if words else "?"


def wait_for_leftovers(config: Path, patience_s: float) -> bool:
    """Wait until no program of an earlier supervisor of this configuration runs; tell whether.

    They hold its ports until they have finished their requests. The caller must hold the lock of
    the contest's folder, so that no living supervisor owns them.
    """
    left = list(_leftovers(config))
    if not left:
        return True
    _log.warning("%d programs of a killed referee are ending; waiting for them", len(left))
    _, alive = psutil.wait_procs(left, timeout=patience_s)
    return not alive


def _leftovers(config: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter(["cmdline"]):
        # A zombie, or a process of another user, has no words.
        if _is_program_of(process.info["cmdline"] or (), config):
            yield process


def _is_program_of(words: Sequence[str], config: Path) -> bool:
    pairs = list(pairwise(words))
    return _PROGRAM in pairs and ("--config", str(config)) in pairs
