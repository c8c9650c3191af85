# SPDX-License-Identifier: Apache-2.0
"""Secrets are taken out of texts that leave the laptop."""

from __future__ import annotations

import re

REMOVED = "[removed]"
"""What stands in the place of a secret."""

# What tokens, hashes of passwords, seals of logins and long keys look like.
_LOOKS_SECRET = re.compile(
    r"\b\d{1,18}\.[A-Za-z0-9_-]{43}"  # a contestant's token: service/entry/tokens.py
    r"|\$argon2[a-z]*\$[^\s\"']+"  # a hash of a password: it has commas before salt and hash
    r"|\b[A-Za-z0-9]{4}(?:-[A-Za-z0-9]{4}){3}\b"  # a password that the referee made
    r"|\b[0-9a-fA-F]{64,}\b"  # a key of 32 bytes; a file's SHA-256 looks the same
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*-----"
    # What follows the name of a secret in a query, a form or a header.
    r"|(?i:(?<=password=)|(?<=token=)|(?<=bearer )|(?<=cookie: ))[^\s&\"']+"
)


def redacted(text: str) -> str:
    """Return the text without anything that looks like a secret."""
    return _LOOKS_SECRET.sub(REMOVED, text)
