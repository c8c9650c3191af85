# SPDX-License-Identifier: Apache-2.0
"""The table of a contest's programs; the supervisor and `referee process` read it."""

from __future__ import annotations

from collections.abc import Sequence

from referee.service.setup.config import Config
from referee.service.setup.program import Later, Program


def _console(config: Config) -> Sequence[tuple[str, str]]:
    return [(config.server.console, "console server")]


def _lanes(config: Config) -> Sequence[tuple[str, str]]:
    return [(lane.contest, "contest server") for lane in config.lanes]


def _audience(config: Config) -> Sequence[tuple[str, str]]:
    address = config.server.scoreboard
    return [] if address is None else [(address, "scoreboard server")]


PROGRAMS = (
    Program(
        "desk",
        "control desk",
        Later("referee.programs.control_desk:run_control_desk"),
        listens=_console,
    ),
    Program(
        "contest",
        "contest server",
        Later("referee.programs.contest_server:run_contest_server"),
        listens=_lanes,
        of_lanes=True,
    ),
    Program(
        "scorer",
        "live scorer",
        Later("referee.service.results.live_scorer:run_live_scorer"),
        niceness=5,  # Images, answers and the meter come first. A score may be a moment late.
    ),
    Program(
        "scoreboard",
        "scoreboard",
        Later("referee.programs.scoreboard:run_scoreboard"),
        when=lambda config: config.server.scoreboard is not None,
        listens=_audience,
        niceness=10,  # On a busy machine a session's programs get nine times as much of it.
    ),
    Program(
        "ovic",
        "queue of OVIC's entries",
        Later("referee.programs.entry_queue:run_entry_queue"),
        when=lambda config: config.ovic.is_open,
    ),
    Program(
        "checks",
        "slow checks",
        Later("referee.programs.slow_checks:run_all_slow_checks"),
        when=lambda config: False,  # The desk starts it, and an operator asks for it.
    ),
)


def programs_of(config: Config) -> list[Program]:
    """Return the programs that the supervisor starts for a contest, the console's first."""
    return [program for program in PROGRAMS if program.when(config)]


def program_named(name: str) -> Program:
    """Return a program by its name; raise `KeyError` for any other name."""
    return {program.name: program for program in PROGRAMS}[name]
