# SPDX-License-Identifier: Apache-2.0
"""What the ceremony brings: a page of the console, and a section of contest.toml."""

from __future__ import annotations

from referee.extras.ceremony.section import CeremonySection
from referee.service.setup.extra import Extra
from referee.service.setup.program import Later

EXTRA = Extra(
    "ceremony",
    section=CeremonySection,
    console={
        "GET /ceremony": "page",
        "GET /ceremony/scenes": "watch",
        "GET /ceremony/picture/<int:number>": "watch",
    },
    add_console_routes=Later("referee.extras.ceremony.pages:add_routes"),
)
