# SPDX-License-Identifier: Apache-2.0
"""What the ceremony brings: a page of the console, diplomas, and its section."""

from __future__ import annotations

from referee.extras.ceremony.section import CeremonySection, unknown_pictured
from referee.service.setup.extra import Extra
from referee.service.setup.program import Later

EXTRA = Extra(
    "ceremony",
    {"organisers": {"diploma": "make a diploma for each team, to print on A4"}},
    section=CeremonySection,
    console={
        "GET /ceremony": "page",
        "GET /ceremony/scenes": "watch",
        "GET /ceremony/picture/<int:number>": "watch",
    },
    add_console_routes=Later("referee.extras.ceremony.pages:add_routes"),
    open_points=unknown_pictured,
)
