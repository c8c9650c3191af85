# SPDX-License-Identifier: Apache-2.0
"""Evidence bundles from the page: a process makes them, and the browser takes the files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flask import Flask, Response, send_from_directory

from referee.errors import Refusal
from referee.service.evidence.completeness import bundle_name, judged_numbers
from referee.service.evidence.zip_stream import zip_blocks
from referee.service.setup.contest import Contest
from referee.service.setup.private_files import make_folder
from referee.web.desk.acting import acting
from referee.web.desk.arguments import posted_number
from referee.web.desk.broadcast import Broadcast

RunCommand = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command of the referee; returns its exit code, and what it said on standard error."""

ALL = "all.zip"
_FAILED = "FAILED: "
# The command's own name stands before its last sentence.
_SPEAKER = "referee export: "


def register_bundles(
    app: Flask, contest: Contest, broadcast: Broadcast, key: str, run: RunCommand
) -> None:
    """Add the action that makes bundles, and the files; both are the operators' alone.

    The files stay in the contest's folder, so only those that are new take time.
    """
    act = acting(broadcast, key)
    folder = contest.config.storage.folder / "bundles"
    turn = threading.Lock()

    @app.post("/bundles")
    def make_bundles() -> Response:
        def do(arguments: dict[str, Any]) -> dict[str, Any]:
            number = posted_number(arguments, "session")
            make_folder(folder)
            with turn:
                code, said = run(_words(contest, folder, number))
            if code:
                raise Refusal("bundle_missing", _why(said))
            return {"file": f"bundles/{bundle_name(number) if number else ALL}"}

        return act(do)

    @app.get("/bundles/<name>")
    def take_bundle(name: str) -> Response:
        names = [bundle_name(number) for number in judged_numbers(contest)]
        there = [one for one in names if (folder / one).is_file()]
        if name == ALL and there:
            blocks = zip_blocks(folder / one for one in there)
            head = {"Content-Disposition": f"attachment; filename={ALL}"}
            return Response(blocks, mimetype="application/zip", headers=head)
        if name not in there:
            raise Refusal("bundle_missing", "There is no such bundle. Make it on the page Results.")
        return send_from_directory(
            folder, name, as_attachment=True, mimetype="application/zip", max_age=0
        )


def _words(contest: Contest, folder: Path, number: int) -> list[str]:
    """Return the command for a session's bundle; number 0 stands for all sessions."""
    what = [str(number)] if number else ["--all"]
    out = folder / bundle_name(number) if number else folder
    place = ["--out", str(out), "--config", str(contest.config.path)]
    # A page waits for no energy: it says what is missing, and somebody presses again.
    return ["export", *what, *place, "--wait", "0"]


def _why(said: str) -> str:
    """Return the command's own sentences about what it could not do."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    failed = [line.partition(_FAILED)[2] for line in lines if _FAILED in line]
    return " ".join(failed or [line.removeprefix(_SPEAKER) for line in lines[-1:]])
