# SPDX-License-Identifier: Apache-2.0
"""Tokens: one for each session, signed, and fit for any old client."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.service.entry.tokens import session_of_token, token_of_session

KEY = bytes(range(32))
SESSIONS = st.integers(1, 10**18 - 1)


@given(SESSIONS)
def test_round_trip(session_id):
    """A token stands for its session, has only harmless characters, and is always short."""
    token = token_of_session(KEY, session_id)
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", token)
    assert session_id == session_of_token(KEY, token)


def test_same_session_same_token():
    """A second login gets the same token; other sessions have other tokens."""
    tokens = [token_of_session(KEY, session_id) for session_id in (1, 1, 2, 11)]
    assert tokens[0] == tokens[1]
    assert 3 == len(set(tokens))


def test_foreign_key():
    """A token with another contest's key is refused."""
    assert session_of_token(bytes(32), token_of_session(KEY, 7)) is None


@given(SESSIONS, SESSIONS)
def test_signature_belongs_to_its_number(session_id, other):
    """A signature moved to another session number is refused."""
    signature = token_of_session(KEY, session_id).partition(".")[2]
    expected = session_id if session_id == other else None
    assert expected == session_of_token(KEY, f"{other}.{signature}")


@given(SESSIONS, st.data())
def test_one_changed_character_is_noticed(session_id, data):
    """A change of any one character makes a token invalid."""
    token = token_of_session(KEY, session_id)
    place = data.draw(st.integers(0, len(token) - 1))
    changed = token[:place] + data.draw(st.characters()) + token[place + 1 :]
    assert (session_id if changed == token else None) == session_of_token(KEY, changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda token: "",
        lambda token: "." + token,
        lambda token: "0" + token,
        lambda token: " " + token,
        lambda token: token + "\n",
        lambda token: token + "=",
        lambda token: token + ".x",
        lambda token: token[:-1],
        lambda token: token.upper(),
        lambda token: "-" + token,
        lambda token: "+" + token,
        lambda token: token.replace("7", "٧", 1),
        lambda token: "9" * 5000 + token,
        lambda token: token + "A" * 200,
        lambda token: "7." + "A" * 8_000_000,
        lambda token: "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VybmFtZSI6ImEifQ.c2lnbmF0dXJl",
        lambda token: "7.",
        lambda token: "7",
        lambda token: "\ud800",
    ],
)
def test_what_is_no_token(change):
    """A forged, cut, padded or foreign token gives None, and never an error."""
    assert session_of_token(KEY, change(token_of_session(KEY, 7))) is None


@given(st.text())
def test_no_text_breaks_the_check(text):
    """Any text of a client is judged without an error."""
    assert session_of_token(KEY, text) is None
