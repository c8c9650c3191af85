# SPDX-License-Identifier: Apache-2.0
"""What the chess club brings to a contest: a bit of everything."""

from __future__ import annotations

from dataclasses import dataclass

from referee.service.setup.config_values import setting
from referee.service.setup.extra import Extra, Leaderboard, LeaderboardColumn
from referee.service.setup.program import Later, Program


@dataclass(frozen=True)
class ChessSection:
    """Chess in the breaks."""

    boards: int = setting("How many boards there are.", 0, least=0, most=8)


def boards_of(config) -> int:
    """Return how many boards a contest has."""
    return config.extras.get("chess", ChessSection()).boards


EXTRA = Extra(
    "chess",
    {"other tracks": {"chess": "play chess"}},
    section=ChessSection,
    takes_part=lambda config: boards_of(config) > 0,
    programs=[Program("chess", "clock of chess", Later("chess_club.part:run_clock"))],
    add_contest_routes=Later("chess_club.part:add_contest_routes"),
    help=lambda config, base: f"Chess: {base}/chess\n",
    openapi=Later("chess_club.part:paths"),
    box=Later("chess_club.part:console_box"),
    leaderboards=lambda contest, connection: [
        Leaderboard("Chess", "wins", [LeaderboardColumn("team")], [["ants"]])
    ],
    version=lambda connection: 7,
    slow_check=("chess", "clocks"),
    check=Later("chess_club.part:check"),
    refusals={"no_board": 423},
    console={"GET /chess": "page", "GET /chess/games": "watch"},
    add_console_routes=Later("chess_club.part:add_console_routes"),
    require_usable=Later("chess_club.part:require_usable"),
    open_points=lambda _, connection, active: [f"{team} is still playing." for team in active],
    kept_of=lambda connection, team: "a game" if team == "ants" else "",
)
