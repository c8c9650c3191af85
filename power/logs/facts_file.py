# SPDX-License-Identifier: Apache-2.0
"""The file with the facts of a run, beside the power log: a log has no columns for them.

The file has the log's name with the suffix `.json`. It is written before the integration starts,
after its start and at its end. So the log of a killed recorder has its facts too, and its `course`
says when it began: `python -m power rescue` finishes such a log.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from power.bounded_file import file_text
from power.energy.judge import RunFacts, facts_from_json, facts_to_json
from power.energy.moments import START_OFF_S


@dataclass(frozen=True)
class RunCourse:
    """When a run began, and when somebody wanted its end; times of a log count from its start.

    `start_s` is the monotonic clock of the boot named `boot`, empty where the system has no name
    for it. The meter began at most `start_off_s` later. `asked_s` is the length of the run when
    somebody asked for its end, None if nobody did.
    """

    start_utc: str
    start_s: float
    boot: str
    asked_s: float | None = None
    start_off_s: float = START_OFF_S


PACKED = ".gz"
"""The last suffix of a log that was packed after its run; its facts keep their name."""


def unpacked(log: Path) -> Path:
    """Return the path that a log has, or had before it was packed."""
    return log.with_suffix("") if log.suffix == PACKED else log


def facts_path(log: Path) -> Path:
    """Return the path of the facts file of a log."""
    return unpacked(log).with_suffix(".json")


def save_facts(log: Path, facts: RunFacts, course: RunCourse | None = None) -> None:
    """Write the facts beside the log, onto the disk; a failure leaves no partial file."""
    partial = facts_path(log).with_suffix(".json.part")
    value = facts_to_json(facts)
    if course is not None:
        value["course"] = asdict(course)
    text = json.dumps(value, indent=1, allow_nan=False)
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, facts_path(log))
        sync_folder(log.parent)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def load_facts(log: Path) -> RunFacts | None:
    """Return the facts beside a log, or None if there are none; a broken file is a ValueError."""
    path = facts_path(log)
    if not path.exists():
        return None
    try:
        return facts_from_json(json.loads(file_text(path)))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None


def load_course(log: Path) -> RunCourse | None:
    """Return the course of the run beside a log, or None if the file does not tell it."""
    path = facts_path(log)
    if not path.exists():
        return None
    try:
        value = json.loads(file_text(path)).get("course")
        return None if value is None else RunCourse(**value)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: this is not the course of a run: {error}") from None


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems sync no folders
        pass
    finally:
        os.close(descriptor)
