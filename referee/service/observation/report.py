# SPDX-License-Identifier: Apache-2.0
"""One file with all that a maintainer needs, and with no secret in it.

Its parts are of the machine, the sessions and the logs, and whatever the caller adds. A part that
cannot be had does not spoil the rest: its place says why.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
from msgspec import Struct, to_builtins

from referee import __version__
from referee.core.states import state_of
from referee.errors import InputError, RefereeError
from referee.service.setup.commit import commit
from referee.service.setup.contest import Contest
from referee.service.setup.private_files import private_from_the_start
from referee.store.notices import recent_notices
from referee.store.readings import energy_of
from referee.store.sessions import SessionRecord, all_sessions

TAIL_BYTES = 2**20
"""How much of the end of each log goes into the file."""

Part = Callable[[], Any]

REMOVED = "[removed]"
"""What stands in the place of a secret."""

# What tokens, hashes of passwords, seals of logins and long keys look like.
_LOOKS_SECRET = re.compile(
    r"\b\d{1,18}\.[A-Za-z0-9_-]{43,}"  # a contestant's token: service/entry/admission.py
    r"|\$argon2[a-z]*\$[^\s\"']+"  # a hash of a password: it has commas before salt and hash
    r"|\b[A-Za-z0-9]{4}(?:-[A-Za-z0-9]{4}){3}\b"  # a password that the referee made
    r"|\b[0-9a-fA-F]{64,}\b"  # a key of 32 bytes; a file's SHA-256 looks the same
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*-----"
    # What follows the name of a secret in a query, a form or a header.
    r"|(?i:(?<=password=)|(?<=token=)|(?<=bearer )|(?<=cookie: ))[^\s&\"']+"
)

_NOTICES_MOST = 10_000


def write_report(
    path: Path,
    folder: Path,
    parts: Mapping[str, Part],
    tell: Callable[[str, str], None] = lambda name, why: None,
) -> list[str]:
    """Write the parts and the ends of the folder's logs into a zip; return the members' names.

    The file is its owner's alone, since it names people. Each part gives text, or a value for
    JSON. `tell` gets the name of each part that cannot be had, and why. Raises `InputError` if the
    file cannot be written.
    """
    try:
        with (
            private_from_the_start(),
            zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as report,
        ):
            for name, part in parts.items():
                report.writestr(name, redacted(_text_of(part, partial(tell, name))))
            for log in _logs(folder):
                report.writestr(f"logs/{log.name}", redacted(_tail(log)))
            return report.namelist()
    except FileExistsError:
        raise InputError(f"{path} exists. Give another name with --out.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None


def _text_of(part: Part, tell: Callable[[str], None]) -> str:
    try:
        value = part()
    except (RefereeError, OSError, ValueError) as error:
        tell(str(error))
        return f"This could not be had: {error}\n"
    return value if isinstance(value, str) else json.dumps(value, indent=2, default=_plain) + "\n"


def _plain(value: object) -> object:
    """Return a value in words that JSON has."""
    if isinstance(value, Struct):
        return to_builtins(value, str_keys=True)
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else str(value)


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the logs of the programs, and of the traffic with the meters."""
    for path in (*sorted(folder.glob("logs/*.log*")), *sorted(folder.glob("meter*.jsonl"))):
        if path.is_file():
            yield path


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError as error:
        return f"This could not be read: {error}\n"
    # The first line is cut where the log is longer.
    return text.partition("\n")[2] if size > TAIL_BYTES else text


def redacted(text: str) -> str:
    """Return the text without anything that looks like a secret."""
    return _LOOKS_SECRET.sub(REMOVED, text)


def machine_facts(folder: Path) -> dict[str, object]:
    """Return versions, and what the machine has; `folder` is on the disk that counts."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(str(folder))
    return {
        "referee": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": {
            package.metadata["Name"]: package.version
            for package in sorted(
                metadata.distributions(), key=lambda package: package.metadata["Name"].lower()
            )
        },
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "memory_bytes": {"all": memory.total, "available": memory.available},
        "disk_bytes": {"all": disk.total, "free": disk.free},
        "time_zone": time.strftime("%Z %z"),
        "running_s": time.monotonic(),
    }


def sessions_told(contest: Contest) -> dict[str, object]:
    """Return the sessions with their moments and energies, and the notices, the newest first.

    The order of a session's images is a secret of the contest, and is left out.
    """
    connection = contest.database.connection
    return {
        "sessions": [_told(contest, session) for session in all_sessions(connection)],
        "notices": [asdict(notice) for notice in recent_notices(connection, _NOTICES_MOST)],
    }


def _told(contest: Contest, session: SessionRecord) -> dict[str, object]:
    energy = energy_of(contest.database.connection, session.session_id)
    return {
        "session": session.session_id,
        "team": session.team,
        "lane": session.lane,
        "state": state_of(session.facts, contest.clock.now()).value,
        "facts": asdict(session.facts),
        "energy": None if energy is None else asdict(energy),
    }
