# SPDX-License-Identifier: Apache-2.0
"""What the joint board brings: its command."""

from __future__ import annotations

from referee.service.setup.extra import Extra

EXTRA = Extra(
    "stations",
    {"organisers": {"board": "rank the teams of several stations together"}},
)
