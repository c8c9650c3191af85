# SPDX-License-Identifier: Apache-2.0
"""What OVIC brings to a contest: the intake of models, their queue, and the leaderboard."""

from __future__ import annotations

from referee.extras.ovic.section import OvicSection, ovic_of
from referee.service.setup.extra import Extra
from referee.service.setup.program import Later, Program

EXTRA = Extra(
    "ovic",
    {"other tracks": {"ovic": "judge TensorFlow Lite models by accuracy and latency"}},
    section=OvicSection,
    takes_part=lambda config: ovic_of(config).is_open,
    programs=[
        Program(
            "ovic",
            "queue of OVIC's entries",
            Later("referee.extras.ovic.submission.entry_queue:run_entry_queue"),
        )
    ],
    add_contest_routes=Later("referee.extras.ovic.pages.contest:add_routes"),
    help=Later("referee.extras.ovic.pages.contest:help_text"),
    openapi=Later("referee.extras.ovic.pages.contest:ovic_paths"),
    refusals={
        "task_unknown": 400,
        "model_empty": 400,
        "model_too_large": 413,
        "entries_spent": 403,
        "team_withdrawn": 403,
        "entries_closed": 403,
        "entry_unknown": 404,
        "leaderboard_closed": 403,
    },
    console={
        "GET /ovic": "page",
        "GET /ovic/leaderboard": "watch",
        "GET /ovic/entries": "watch",
    },
    add_console_routes=Later("referee.extras.ovic.pages.console:add_routes"),
    box=Later("referee.extras.ovic.part:console_box"),
    leaderboards=Later("referee.extras.ovic.part:public_leaderboards"),
    version=Later("referee.extras.ovic.submission.entries:entries_version"),
    standings=Later("referee.extras.ovic.submission.standings:standings"),
    open_points=Later("referee.extras.ovic.part:open_points"),
    kept_of=Later("referee.extras.ovic.part:kept_of"),
    slow_check=("OVIC", "tasks"),
    check=Later("referee.extras.ovic.part:check_ovic"),
    require_usable=Later("referee.extras.ovic.part:require_tasks"),
)
