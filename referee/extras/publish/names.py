# SPDX-License-Identifier: Apache-2.0
"""The names of a site's files: small letters, digits and dashes, which every host takes alike.

A file with its content's hash in its name never changes, so caches may keep it for ever.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

POINTER = "state"
"""The pointer's name without its end: the one small file that pages ask for again and again."""

DATA, IMAGES, BUNDLES, TEAMS = "data", "images", "bundles", "teams"
"""The folders of a site; what lies in `IMAGES` and `BUNDLES` was published by somebody's choice."""

_DIGITS = 16
_SLUG_MOST = 40
_TEAM_PAGE = re.compile(r"[a-z0-9-]+-[0-9a-f]{8}\.html")
_HASHED = re.compile(r"[a-z0-9-]+\.[0-9a-f]{16}\.[a-z0-9]{1,6}")


def hash_of(content: bytes) -> str:
    """Return the digits by which a content is named."""
    return sha256(content).hexdigest()[:_DIGITS]


def hashed_name(folder: str, kind: str, digits: str, end: str) -> str:
    """Return the path of a content in the site."""
    return f"{folder}/{kind}.{digits}.{end}"


def is_hashed(name: str) -> bool:
    """Tell whether a file's name is one of `hashed_name`, without its folder."""
    return _HASHED.fullmatch(name) is not None


def is_team_page(name: str) -> bool:
    """Tell whether a file's name is one of `team_page`, without its folder."""
    return _TEAM_PAGE.fullmatch(name) is not None


def team_page(team: str) -> str:
    """Return the path of a team's page; equal names have one, and others never the same.

    Letters that a host may not have are left out; the hash tells names apart that are equal then.
    """
    plain = unicodedata.normalize("NFKD", team).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_MOST].strip("-") or "team"
    return f"{TEAMS}/{slug}-{hash_of(team.encode())[:8]}.html"
