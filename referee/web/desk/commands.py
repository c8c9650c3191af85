# SPDX-License-Identifier: Apache-2.0
"""What commands of the referee do for the page: evidence bundles, and proposals of new scores.

A process runs each command. The browser takes the bundles as files.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from flask import Flask, Response, send_from_directory

from referee.errors import InputError, Refusal
from referee.service.evidence.completeness import bundle_path, judged_numbers
from referee.service.evidence.kept_bundle import fault_of_own
from referee.service.evidence.zip_stream import zip_blocks
from referee.service.setup.contest import Contest
from referee.service.setup.private_files import make_folder
from referee.web.desk.acting import Answer, posted_fields
from referee.web.desk.arguments import PostedFields
from referee.web.desk.visitors import acting_operator

RunCommand = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command of the referee; returns its exit code, and what it said on standard error."""

ALL = "all.zip"
_NO_BUNDLE = "There is no such bundle. Make it on the page Results."
_FAILED = "FAILED: "
# The command's own name stands before its last sentence.
_EXPORT = "referee export: "
_PROPOSAL = "referee proposal"
# The option of the command for each file that may take the place of the event's own.
_FILES = {"blacklist": "--blacklist", "truth": "--ground-truth"}


def register_bundles(app: Flask, contest: Contest, run: RunCommand) -> None:
    """Add the action that makes bundles, and the files; both are the operators' alone.

    The files stay in the contest's folder, so only those that are new take time.
    """
    folder = contest.config.storage.folder / "bundles"
    turn = threading.Lock()

    @app.post("/bundles")
    def make_bundles() -> Answer:
        posted = posted_fields()
        number = posted.number("session")
        make_folder(folder)
        with turn:
            code, said = run(_export_words(contest, folder, number))
        if code:
            raise Refusal("bundle_missing", _export_failure(said))
        name = bundle_path(contest, number, folder).name if number else ALL
        return {"file": f"bundles/{name}"}

    @app.get("/bundles/<name>")
    def take_bundle(name: str) -> Response:
        if name == ALL:
            blocks = zip_blocks(_own_bundles(contest, folder))
            head = {"Content-Disposition": f"attachment; filename={ALL}"}
            return Response(blocks, mimetype="application/zip", headers=head)
        _require_own(contest, folder, name)
        return send_from_directory(
            folder, name, as_attachment=True, mimetype="application/zip", max_age=0
        )


def _bundles(contest: Contest, folder: Path) -> dict[str, int]:
    """Return the session of each file that lies where a session's bundle does, by its name."""
    paths = {bundle_path(contest, number, folder): number for number in judged_numbers(contest)}
    return {path.name: number for path, number in paths.items() if path.is_file()}


def _own_bundles(contest: Contest, folder: Path) -> list[Path]:
    """Return the bundles of this event; raise `Refusal` if there is none."""
    there = _bundles(contest, folder)
    own_names = [
        name for name in there if fault_of_own(contest, there[name], folder / name) is None
    ]
    if not own_names:
        raise Refusal("bundle_unknown", _NO_BUNDLE)
    return [folder / name for name in own_names]


def _require_own(contest: Contest, folder: Path, name: str) -> None:
    """Raise `Refusal` unless a name is that of a bundle of this event, of the session it names."""
    session = _bundles(contest, folder).get(name)
    if session is None:
        raise Refusal("bundle_unknown", _NO_BUNDLE)
    fault = fault_of_own(contest, session, folder / name)
    if fault is not None:
        raise Refusal(
            "bundle_unknown",
            f"The file {name} is no bundle of session {session} of this event. {fault} It stays "
            "where it is. Make the session's own bundle on the page Results.",
        )


def _export_words(contest: Contest, folder: Path, number: int) -> list[str]:
    """Return the command for a session's bundle; number 0 stands for all sessions."""
    what = [str(number)] if number else ["--all"]
    place = ["--out", str(folder), "--config", str(contest.config.path)]
    # A page waits for no energy: it says what is missing, and somebody presses again.
    return ["export", *what, *place, "--wait", "0"]


def _export_failure(said: str) -> str:
    """Return the command's own sentences about what it could not do."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    failed = [line.partition(_FAILED)[2] for line in lines if _FAILED in line]
    return " ".join(failed or [line.removeprefix(_EXPORT) for line in lines[-1:]])


def register_proposals(app: Flask, contest: Contest, run: RunCommand) -> None:
    """Add the action that makes a proposal; a second press is refused while one is open."""
    turn = threading.Lock()

    @app.post("/proposals")
    def make_proposal() -> Answer:
        posted = posted_fields()
        words = _proposal_words(contest, posted)
        with turn:
            code, said = run(words)
        if code:
            raise Refusal("proposal_refused", _proposal_failure(said, code))
        return {}


def _proposal_words(contest: Contest, posted: PostedFields) -> list[str]:
    """Return the command for what the page asked; session 0 stands for all sessions.

    A text stands in one word with its option, so none is taken for an option.
    """
    operator, reason = acting_operator(posted, named=True), posted.text("reason")
    if not reason.strip():
        raise Refusal("reason_missing", "This needs a reason, which stays on record. Give one.")
    number = posted.number("session")
    folder = contest.config.path.parent
    files = [
        f"{option}={_file_in(folder, name)}"
        for field, option in _FILES.items()
        if (name := posted.text(field))
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


def _proposal_failure(said: str, code: int) -> str:
    """Return the command's own sentences about what it could not do."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    starts = [place for place, line in enumerate(lines) if line.startswith(_PROPOSAL)]
    if not starts:
        return f"'referee proposal' ended with {code}. Run it in a terminal to see why."
    first, *rest = lines[starts[-1] :]
    return " ".join([first.partition(": ")[2], *rest])
