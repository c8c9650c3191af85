# SPDX-License-Identifier: Apache-2.0
"""The slips that an operator hands to the teams: a page to print on A4 and to cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.core.counts import counted
from referee.service.setup.config import ContestSection
from referee.service.setup.pages import page
from referee.service.setup.qr_code import wifi_svg

NOWHERE: Mapping[str, str] = {}
"""No team is bound to a lane."""

NO_LOGINS: Mapping[str, str] = {}
"""Each team types its name."""


@dataclass(frozen=True)
class Venue:
    """What every slip says: the contest, where to connect, and the rules in one line.

    `lanes` has the addresses of each lane by its name; a single lane has the name ''. `wifi` is the
    name and the password of the wireless network, or None for a cable; a slip shows both, and a
    code to scan. `ca` names the file that the teams' clients trust. By `tls_name` a board whose TLS
    knows no addresses checks the certificate. Both are '' without one.
    """

    contest: ContestSection
    lanes: Mapping[str, Sequence[str]]
    wifi: tuple[str, str] | None
    rules: str
    ca: str = ""
    tls_name: str = ""


def rules_line(seconds: int) -> str:
    """Return the rules in one line, for a session of so many seconds."""
    minutes, rest = divmod(seconds, 60)
    length = counted(minutes, "minute") if minutes and not rest else counted(seconds, "second")
    return (
        f"Clock and meter run from login to logout, {length} at most. Answers count if they are in "
        "by then. Score = mAP/Wh."
    )


def slips_page(
    venue: Venue,
    passwords: Mapping[str, str],
    bound: Mapping[str, str] = NOWHERE,
    logins: Mapping[str, str] = NO_LOGINS,
) -> str:
    """Return a page with a slip for each team, four on a sheet of A4, with lines to cut along.

    `bound` has the only lane of each team that is bound to one. `logins` has what each team types
    as its user name, if that is not its name.
    """
    slips = [
        (team, _rows(venue, logins.get(team, team), password, bound.get(team, "")))
        for team, password in passwords.items()
    ]
    return page(
        "service/teams/slips.html",
        contest=venue.contest,
        slips=slips,
        ca=venue.ca,
        tls_name=venue.tls_name,
        rules=venue.rules,
        wifi="" if venue.wifi is None else wifi_svg(*venue.wifi),
    )


def _rows(venue: Venue, login: str, password: str, lane: str) -> list[tuple[str, str]]:
    """Return what a team's slip says, each with its title."""
    rows = [("User name", login), ("Password", password)]
    if lane:
        rows.append(("Lane", f"{lane}, and no other"))
    of_lane = {
        name: urls for name, urls in venue.lanes.items() if lane in (name, "")
    } or venue.lanes
    for name, urls in of_lane.items():
        title = f"Referee, lane {name}" if name and not lane else "Referee"
        rows.append((title, " or ".join(urls) or "________________________"))
    if venue.wifi is None:
        rows.append(("Network", "the cable at the table"))
    else:
        rows += [("Wi-Fi", venue.wifi[0]), ("Wi-Fi password", venue.wifi[1] or "none")]
    return rows
