# SPDX-License-Identifier: Apache-2.0
"""The words for a lane: in notices and titles, and for a contestant at another lane's port."""

from __future__ import annotations

from referee.errors import Refusal
from referee.service.setup.config import Config


def lane_words(name: str) -> str:
    """Return how a notice of a lane begins; it is empty for a lane without a name."""
    return f"Lane {name}: " if name else ""


def of_lane(title: str, name: str) -> str:
    """Return the title of a program, a check or a port of a lane; a single lane has the name ''."""
    return f"{title} of lane {name}" if name else title


def other_lane(config: Config, right: int, asked: int) -> Refusal:
    """Return the refusal at the port of lane `asked` for a team of the lane `right`."""
    address = config.lane(right).contest
    return Refusal(
        "other_lane",
        f"Your session is in lane '{config.lane(right).name}', and this is the port of lane "
        f"'{config.lane(asked).name}'. Connect to port {address.rpartition(':')[2]}.",
    )


def display_path(lane: int) -> str:
    """Return the path of a lane's display page on the console: each lane has a page of its own."""
    return "/display" if lane == 1 else f"/lanes/{lane}/display"
