# SPDX-License-Identifier: Apache-2.0
"""A team's token is good for its team, until its password changes."""

from __future__ import annotations

import pytest

from referee.errors import Refusal
from referee.extras.ovic.submission.team_tokens import team_of_token, token_of_team
from referee.formats.team_table import NAME_MOST
from referee.service.entry.admission import session_of_token, token_of_session
from referee.service.entry.team_list import replace_hashes, replace_list
from tests.support.teams import give_password


@pytest.mark.slow
def test_a_token_is_good_until_the_password_changes(event):
    """A new password, and the team's removal, end the token; a login gives the same one again."""
    give_password(event.config.teams, "ants")
    token = token_of_team(event, "ants")
    assert token == token_of_team(event, "ants")
    assert "ants" == team_of_token(event, token)
    replace_hashes(event.config.teams, {"ants": "another hash"})
    with pytest.raises(Refusal, match="no longer"):
        team_of_token(event, token)
    other = token_of_team(event, "ants")
    replace_list(event.config.teams, {})
    for gone in (other, token_of_team(event, "ants")):
        with pytest.raises(Refusal, match="no longer"):
            team_of_token(event, gone)


@pytest.mark.parametrize("team", ["ants", "Ä. ü.ö", "日本", "𝔘" * NAME_MOST])
def test_any_name_fits_into_a_token(practice, team):
    """The token of any name is ASCII and leads back to the name."""
    token = token_of_team(practice, team)
    assert token.isascii() and team == team_of_token(practice, token)


@pytest.mark.parametrize("change", ["", "team", "team..", "team.AAAA.AAAA", "team.%%.x", "x" * 999])
def test_any_other_text_is_no_token(practice, change):
    """Malformed texts are refused, none of them with another error."""
    with pytest.raises(Refusal, match="no team's token"):
        team_of_token(practice, change)


def test_a_text_that_no_encoding_has_is_refused(practice):
    """A lone surrogate in a token is the sender's fault, and no fault of the referee."""
    good = token_of_team(practice, "ants")
    for wrong in (f"{good}\ud800", f"\ud800{good}", f"{good.rpartition('.')[0]}.\ud800"):
        with pytest.raises(Refusal, match="no team's token"):
            team_of_token(practice, wrong)


def test_a_changed_token_is_refused(practice):
    """One other character, or another team's name, ends a token."""
    token = token_of_team(practice, "ants")
    bees = token_of_team(practice, "bees")
    mixed = ".".join([*token.split(".")[:2], bees.split(".")[2]])
    for wrong in (token[:-1], token + "A", token.upper(), mixed, " " + token):
        with pytest.raises(Refusal):
            team_of_token(practice, wrong)


def test_a_session_and_a_team_never_share_a_token(practice):
    """The token of a session opens no door for models, and the reverse."""
    key = practice.secrets.token_key
    with pytest.raises(Refusal):
        team_of_token(practice, token_of_session(key, 1, bytes(16)))
    assert session_of_token(key, token_of_team(practice, "1")) is None
