# SPDX-License-Identifier: Apache-2.0
"""What the coach brings: its command, and its report on the pages of a session."""

from __future__ import annotations

from referee.service.setup.extra import Extra, SessionLink
from referee.service.setup.program import Later

_CONSOLE = "referee.extras.coach.pages.console"
_PAGES = "referee.extras.coach.pages.session"

EXTRA = Extra(
    "coach",
    {"contestants": {"coach": "show where the joules went, and what would have raised the score"}},
    takes_part=lambda config: config.contest.mode == "practice",
    box=Later(f"{_CONSOLE}:box"),
    console={"GET /coach/<int:number>": "page"},
    add_console_routes=Later(f"{_CONSOLE}:add_console_routes"),
    session_report=Later(f"{_PAGES}:session_report"),
    add_scoreboard_routes=Later(f"{_PAGES}:add_scoreboard_routes"),
    session_link=SessionLink("Where the joules went", "coach"),
)
