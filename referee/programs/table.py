# SPDX-License-Identifier: Apache-2.0
"""The table of a contest's programs; the supervisor and `referee process` read it."""

from __future__ import annotations

from collections.abc import Sequence

from referee.service.setup.config import Config
from referee.service.setup.extra import all_extras, present_extras
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
        "checks",
        "slow checks",
        Later("referee.programs.checking:run_all_slow_checks"),
        when=lambda config: False,  # The desk starts it, and an operator asks for it.
    ),
)


def all_programs() -> dict[str, Program]:
    """Return each program by its name: the contest's own, and those of its guests."""
    guests = (program for extra in all_extras() for program in extra.programs)
    return {program.name: program for program in (*PROGRAMS, *guests)}


def programs_of(config: Config) -> list[Program]:
    """Return the programs that the supervisor starts for a contest, the console's first."""
    guests = (program for extra in present_extras(config) for program in extra.programs)
    return [program for program in (*PROGRAMS, *guests) if program.when(config)]
