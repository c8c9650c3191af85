# SPDX-License-Identifier: Apache-2.0
"""The check of OVIC's tasks before an event."""

from __future__ import annotations

from collections.abc import Iterator

from referee.errors import RefereeError
from referee.extras.ovic.judging.machine import choose_core
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.place import board_of, place_of_contest
from referee.extras.ovic.submission.tasks import open_tasks, require_usable
from referee.service.preflight.finding import Finding, fail, ok
from referee.service.setup.config import Config


def check_ovic(config: Config) -> Iterator[Finding]:
    """Check what the judge of models needs; a contest without open tasks has no such check."""
    try:
        tasks = open_tasks(config)
        if not tasks:
            return
        count = require_usable(tasks)
    except RefereeError as error:
        remedy = "Repair it, or leave the section [ovic] empty."
        yield fail("OVIC", "tasks", str(error), remedy)
        return
    try:
        where = _measured(config)
    except RefereeError as error:
        remedy = "Reach the board by hand with ssh, or leave 'board' out."
        yield fail("OVIC", "board", str(error), remedy)
        return
    yield ok("OVIC", "tasks", f"{' and '.join(tasks)}, {count} images, measured {where}")


def _measured(config: Config) -> str:
    """Return where models are measured; a board is reached, and its agent started, to prove it."""
    board = board_of(config)
    if board is None:
        core = choose_core(ovic_of(config).core)
        return "on no fixed core" if core is None else f"on core {core}"
    with place_of_contest(config)():
        return f"on the board {board}"


def require_tasks(config: Config) -> None:
    """Raise `InputError` for tasks that the judge of models could not serve."""
    tasks = open_tasks(config)
    if tasks:
        require_usable(tasks)
