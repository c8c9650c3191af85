# SPDX-License-Identifier: Apache-2.0
"""The referee's processes as the system knows them, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from referee.service.setup.process_name import named_program


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


def programs_under(first: int) -> list[tuple[int, str]]:
    """Return process id and program of the process with this id, and of all below it.

    A process that ends meanwhile is left out. The list is empty if there is no such process.
    """
    programs: list[tuple[int, str]] = []
    for process in _family(first):
        with suppress(psutil.Error):
            programs.append((process.pid, program_of(process.name(), process.cmdline())))
    return programs


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
                    program=program_of(process.name(), process.cmdline()),
                    pid=process.pid,
                    memory_bytes=process.memory_info().rss,
                    cpu_s=times.user + times.system,
                    threads=process.num_threads(),
                    open_files=process.num_fds(),
                )
        except psutil.Error:
            continue


def program_of(name: str, command: Sequence[str]) -> str:
    """Return the program of a process: the one that named it, or the one of its command line.

    `python -m referee process contest --lane 2 …` is `contest-2`, `python -m power emulate …` is
    `power emulate`, and `referee serve …` is `serve`. Anything else is its first word.
    """
    program = named_program(name)
    if program:
        return program
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
