# SPDX-License-Identifier: Apache-2.0
"""The check of OVIC's tasks before an event."""

from __future__ import annotations

from collections.abc import Iterator

from referee.errors import RefereeError
from referee.service.ovic.machine import choose_core
from referee.service.preflight.checks import Check, Outcome
from referee.service.setup.config import Config
from referee.service.submission.tasks import open_tasks, require_usable


def check_ovic(config: Config) -> Iterator[Check]:
    """Check what the judge of models needs; a contest without open tasks has no such check."""
    try:
        tasks = open_tasks(config)
        if not tasks:
            return
        count = require_usable(tasks)
    except RefereeError as error:
        remedy = "Repair it, or leave the section [ovic] empty."
        yield Check("OVIC", "tasks", Outcome.FAIL, str(error), remedy)
        return
    core = choose_core(config.ovic.core)
    where = "on no fixed core" if core is None else f"on core {core}"
    found = f"{' and '.join(tasks)}, {count} images, measured {where}"
    yield Check("OVIC", "tasks", Outcome.OK, found)
