# SPDX-License-Identifier: Apache-2.0
"""A proposal of new scores from the page: a process scores the sessions again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from flask import Flask, Response

from referee.errors import InputError, Refusal
from referee.service.setup.contest import Contest
from referee.web.desk.acting import acting
from referee.web.desk.arguments import posted_number, posted_text
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.bundles import RunCommand
from referee.web.desk.visitors import acting_operator

_SPEAKER = "referee proposal"
# The option of the command for each file that may take the place of the event's own.
_FILES = {"blacklist": "--blacklist", "truth": "--ground-truth"}


def register_proposals(
    app: Flask, contest: Contest, broadcast: Broadcast, key: str, run: RunCommand
) -> None:
    """Add the action that makes a proposal; a second press is refused while one is open."""
    act = acting(broadcast, key)
    turn = threading.Lock()

    @app.post("/proposals")
    def make_proposal() -> Response:
        def do(arguments: dict[str, Any]) -> dict[str, Any]:
            words = _words(contest, arguments)
            with turn:
                code, said = run(words)
            if code:
                raise Refusal("proposal_refused", _why(said, code))
            return {}

        return act(do)


def _words(contest: Contest, arguments: dict[str, Any]) -> list[str]:
    """Return the command for what the page asked; session 0 stands for all sessions.

    A text stands in one word with its option, so none is taken for an option.
    """
    operator, reason = acting_operator(arguments, named=True), posted_text(arguments, "reason")
    if not reason.strip():
        raise Refusal("reason_missing", "This needs a reason, which stays on record. Give one.")
    number = posted_number(arguments, "session")
    folder = contest.config.path.parent
    files = [
        f"{option}={_file_in(folder, name)}"
        for field, option in _FILES.items()
        if (name := posted_text(arguments, field))
    ]
    who = [f"--by={operator}", f"--role={operator.role}", f"--reason={reason}"]
    what = [f"--session={number}"] if number else []
    return ["proposal", "make", *who, *what, *files, "--config", str(contest.config.path)]


def _file_in(folder: Path, name: str) -> Path:
    """Return a file or folder of the event by its name; raise `InputError` for any other.

    So the page reads nothing that is not beside the configuration.
    """
    # A name is compared with what the folder has, so it leads along no path.
    for path in folder.iterdir():
        if path.name == name and not name.startswith(".") and not path.is_symlink():
            return path
    raise InputError(
        f"There is no '{name}' beside {folder.name}/contest.toml. Copy the file into that folder, "
        "and give its name."
    )


def _why(said: str, code: int) -> str:
    """Return the command's own sentences about what it could not do."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    starts = [place for place, line in enumerate(lines) if line.startswith(_SPEAKER)]
    if not starts:
        return f"'referee proposal' ended with {code}. Run it in a terminal to see why."
    first, *rest = lines[starts[-1] :]
    return " ".join([first.partition(": ")[2], *rest])
