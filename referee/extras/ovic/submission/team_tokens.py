# SPDX-License-Identifier: Apache-2.0
"""Tokens of teams that submit models: a name with a signature that its password is part of."""

from __future__ import annotations

import base64
import hmac

from referee.errors import Refusal
from referee.service.entry.team_list import registered_teams
from referee.service.setup.contest import Contest


def token_of_team(contest: Contest, team: str) -> str:
    """Return a team's token: ASCII `[A-Za-z0-9_.-]`, the same at every login.

    It begins with `team.`, so it is never the token of a session. It is not stored, contains no
    secret, and ends to be valid when the team gets a new password or leaves the list.
    """
    stored = registered_teams(contest.config.teams).get(team, "")
    text = f"ovic team {team}\0{stored}".encode("utf-8", "surrogatepass")
    digest = hmac.digest(contest.secrets.token_key, text, "sha256")
    return f"team.{_pack(team.encode('utf-8', 'surrogatepass'))}.{_pack(digest)}"


def team_of_token(contest: Contest, token: str) -> str:
    """Return the team of a token; raise `Refusal` (code `token_invalid`)."""
    parts = token.split(".")
    wrong = Refusal(
        "token_invalid",
        "This is no team's token, or no longer: log in with POST /ovic/login.",
    )
    if len(parts) != 3 or not token.isascii():
        raise wrong
    try:
        team = _unpack(parts[1]).decode("utf-8")
    except ValueError:  # Neither base 64 nor UTF-8.
        raise wrong from None
    if not hmac.compare_digest(token_of_team(contest, team).encode(), token.encode()):
        raise wrong
    if contest.config.contest.mode == "event" and team not in registered_teams(
        contest.config.teams
    ):
        raise wrong
    return team


def _pack(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def _unpack(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
