# SPDX-License-Identifier: Apache-2.0
"""One file with all that a maintainer needs, and with no secret in it.

A part that cannot be had does not spoil the rest: its place says why.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from referee.errors import InputError, RefereeError
from referee.service.observation.redaction import redacted
from referee.service.setup.private_files import private_from_the_start

TAIL_BYTES = 2**20
"""How much of the end of each log goes into the file."""

Part = Callable[[], Any]


def write_report(path: Path, folder: Path, parts: Mapping[str, Part]) -> list[str]:
    """Write the parts and the ends of the folder's logs into a zip; return the members' names.

    The file is its owner's alone, since it names people. Each part gives text, or a value for
    JSON. Raises `InputError` if the file cannot be written.
    """
    try:
        with (
            private_from_the_start(),
            zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as report,
        ):
            for name, part in parts.items():
                report.writestr(name, redacted(_text_of(part)))
            for log in _logs(folder):
                report.writestr(f"logs/{log.name}", redacted(_tail(log)))
            return report.namelist()
    except FileExistsError:
        raise InputError(f"{path} exists. Give another name with --out.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None


def _text_of(part: Part) -> str:
    try:
        value = part()
    except (RefereeError, OSError, ValueError) as error:
        return f"This could not be had: {error}\n"
    return value if isinstance(value, str) else json.dumps(value, indent=2, default=_plain) + "\n"


def _plain(value: object) -> object:
    """Return a value in words that JSON has."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else str(value)


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the logs of the programs, and of the traffic with the meters."""
    for found in (*sorted(folder.glob("logs/*.log*")), *sorted(folder.glob("meter*.jsonl"))):
        if found.is_file():
            yield found


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
