# SPDX-License-Identifier: Apache-2.0
"""The marks of a recording: another program names what begins now, in a file beside the log.

The file has the log's name with the suffix `.marks.jsonl`. Each line is an object: `elapsed_s`
since the start of the integration, `utc`, `local`, and `text`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from power.append_file import AppendFile, claim
from power.bounded_file import file_text, require_file
from power.energy.phases import Mark
from power.logs.facts_file import facts_path, load_course, unpacked
from power.wipe_rule import RunEntry, RunEvent

# A text is a name and no document.
_LONGEST_TEXT = 200


def marks_path(log: Path) -> Path:
    """Return the path of the marks of a log."""
    return unpacked(log).with_suffix(".marks.jsonl")


def running_logs(entries: Iterable[RunEntry]) -> list[Path]:
    """Return the logs that living programs write now, newest first, by the journal of runs."""
    begun: dict[str, None] = {}
    for entry in entries:
        begun.pop(entry.log, None)
        if entry.event is RunEvent.BEGUN:
            begun[entry.log] = None
    return [path for name in reversed(begun) if is_written(path := Path(name))]


def is_written(log: Path) -> bool:
    """Tell whether a living program writes a log; where files have no locks, nobody knows."""
    try:
        require_file(log)
        with open(log, "rb") as file:
            return not claim(file.fileno())
    except OSError:
        return False


def add_mark(log: Path, text: str, now_s: float, utc: datetime) -> Mark:
    """Write a mark at this moment of the monotonic clock, and return it.

    Raises ValueError for a text that is empty, too long or not of one line, and for a log without a
    beginning; OSError if the file cannot be written.
    """
    if not text.strip() or len(text) > _LONGEST_TEXT or not text.isprintable():
        raise ValueError(f"a mark is one line of 1 to {_LONGEST_TEXT} characters")
    course = load_course(log)
    if course is None:
        raise ValueError(f"{facts_path(log)} does not tell when this run began")
    elapsed_s = round(now_s - course.start_s, 4)
    line = {
        "elapsed_s": elapsed_s,
        "utc": utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        "local": utc.astimezone().isoformat(timespec="milliseconds"),
        "text": text,
    }
    file = AppendFile(marks_path(log))
    try:
        file.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        if not file.sync():
            raise OSError(f"{marks_path(log)} cannot be written: {file.trouble}")
    finally:
        file.close()
    return Mark(elapsed_s, text)


def read_marks(log: Path, start_s: float = 0.0) -> tuple[Mark, ...]:
    """Return the marks of a log in order of time, counted from `start_s`; none without a file.

    A line that a killed program has left unfinished is left out; another line that is no mark is a
    ValueError.
    """
    path = marks_path(log)
    if not path.exists():
        return ()
    marks = []
    for number, line in enumerate(file_text(path).splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            continue
        try:
            value = json.loads(line)
            marks.append(Mark(start_s + float(value["elapsed_s"]), str(value["text"])))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{path}, line {number} is no mark: {error!r}") from None
    return tuple(sorted(marks, key=lambda mark: mark.at_s))
