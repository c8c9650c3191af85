# SPDX-License-Identifier: Apache-2.0
"""Tokens: a session's number and a signature, so that a forged one costs no look at the disk."""

from __future__ import annotations

import base64
import hmac

MAX_TOKEN = 200
"""Most characters of a token: what the clients of 2015-2019 had room for."""


def token_of_session(key: bytes, session_id: int) -> str:
    """Return the session's token: ASCII `[A-Za-z0-9_.-]`, under 200 characters, no newline.

    It is the same at every login of the session, holds no secret of the team, and is stored
    nowhere: HMAC-SHA256 of the session's number under the contest's key.
    """
    digest = hmac.digest(key, f"session {session_id}".encode("ascii"), "sha256")
    return f"{session_id}.{base64.urlsafe_b64encode(digest).decode('ascii').rstrip('=')}"


def session_of_token(key: bytes, token: str) -> int | None:
    """Return the session a token was made for, or None when it is not one of ours.

    Nothing is remembered of what strangers send: the check takes two microseconds.
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
