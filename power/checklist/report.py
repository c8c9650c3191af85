# SPDX-License-Identifier: Apache-2.0
"""The report of a walk: a file of JSON that a later walk goes on with, and a text to read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from power.bounded_file import file_text
from power.meter import Identity

FORM = "power checklist 1"


@dataclass(frozen=True)
class StepOutcome:
    """What became of one step; `answer` and `remark` are the person's, "" for none.

    The outcome is `done`, `skipped` or `failed`; all but the first are walked again.
    """

    step: str
    question: str
    outcome: str
    at_utc: str
    took_s: float
    observed: dict[str, object]
    answer: str = ""
    remark: str = ""


@dataclass
class ChecklistReport:
    """The report about one meter; a step that is walked again replaces its entry."""

    identity: Identity
    resource: str
    begun_utc: str
    entries: dict[str, StepOutcome] = field(default_factory=dict)

    def add(self, entry: StepOutcome) -> None:
        """Take an entry, unless the step was done before and this try brought nothing."""
        if entry.outcome == "done" or not self.is_done(entry.step):
            self.entries[entry.step] = entry

    def is_done(self, step: str) -> bool:
        """Tell whether a step has been done."""
        return step in self.entries and self.entries[step].outcome == "done"

    def text(self) -> str:
        """Return the report for people."""
        meter = self.identity
        lines = [
            f"{meter.maker} {meter.model} {meter.serial} firmware {meter.firmware}",
            f"at {self.resource}, begun {self.begun_utc}",
        ]
        for entry in self.entries.values():
            lines += ["", f"{entry.step}: {entry.question}", f"  {entry.outcome}, {entry.at_utc}"]
            lines += observed_lines(entry.observed)
            if entry.answer:
                lines.append(f"  the person: {entry.answer} {entry.remark}".rstrip())
        return "\n".join(lines) + "\n"


def observed_lines(observed: dict[str, object]) -> list[str]:
    """Return observations as lines."""
    return [
        f"  {name}: {'; '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in observed.items()
    ]


def save(path: Path, report: ChecklistReport) -> None:
    """Write the report and, beside it, its text with the suffix `.txt`; a crash tears neither."""
    value = {
        "form": FORM,
        **asdict(report),
        "entries": [asdict(entry) for entry in _entries(report)],
    }
    for target, text in (
        (path, json.dumps(value, indent=1, allow_nan=False) + "\n"),
        (path.with_suffix(".txt"), report.text()),
    ):
        partial = target.with_name(target.name + ".part")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, target)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def load(path: Path) -> ChecklistReport:
    """Return a report that was saved; raise ValueError for another file."""
    try:
        value = json.loads(file_text(path))
        if value.pop("form") != FORM:
            raise ValueError("another form")
        entries = {one["step"]: StepOutcome(**one) for one in value.pop("entries")}
        return ChecklistReport(
            **{**value, "identity": Identity(**value["identity"]), "entries": entries}
        )
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is no report of 'selftest --real' ({error}); name another file"
        ) from None


def _entries(report: ChecklistReport) -> list[StepOutcome]:
    return list(report.entries.values())
