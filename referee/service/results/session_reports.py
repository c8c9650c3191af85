# SPDX-License-Identifier: Apache-2.0
"""What guests say of an ended session, and their pages, which a rehearsal keeps for the console."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from referee.core.ground_truth import GroundTruth
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import SessionReport, all_extras
from referee.service.setup.whole_files import replace_file

_OWNER_ALONE = 0o600


def report_file(config: Config, guest: str, session_id: int) -> Path:
    """Return where a guest's page of a session is kept."""
    return config.storage.folder / "reports" / f"{guest}-session{session_id}.html"


def kept_reports(contest: Contest, session_id: int, truth: GroundTruth) -> Iterator[SessionReport]:
    """Yield what guests say of a session, and keep the page of each."""
    for extra in all_extras():
        report = extra.session_report(contest, session_id, truth)
        if report is not None:
            file = report_file(contest.config, extra.name, session_id)
            file.parent.mkdir(mode=0o700, exist_ok=True)
            replace_file(file, report.page.encode("utf-8"), _OWNER_ALONE)
            yield report
