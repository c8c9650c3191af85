# SPDX-License-Identifier: Apache-2.0
"""The games that were played, in the event's own database."""

from __future__ import annotations

from referee.store.database import Connection


def add_game(connection: Connection, white: str, black: str) -> None:
    """Note a game; the players are teams or anybody else."""
    connection.execute(
        "insert into chess_games (white, black) values (:white, :black)",
        {"white": white, "black": black},
    )


def games(connection: Connection) -> list[tuple[str, str]]:
    """Return the players of each game."""
    rows = connection.execute("select white, black from chess_games order by game_id")
    return [(white, black) for white, black in rows]
