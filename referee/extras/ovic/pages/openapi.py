# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the routes of OVIC's submission service, from `openapi.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from referee.web.contest.openapi import paths_of


def ovic_paths() -> dict[str, Any]:
    """Return the paths of the service."""
    return paths_of(Path(__file__).with_suffix(".toml"))
