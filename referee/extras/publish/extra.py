# SPDX-License-Identifier: Apache-2.0
"""What the site of an event brings: its command, and its section of `contest.toml`."""

from __future__ import annotations

from referee.extras.publish.section import PublishSection, unknown_consenting
from referee.service.setup.extra import Extra

EXTRA = Extra(
    "publish",
    {"organisers": {"publish": "write a static site of the event, and renew it while it runs"}},
    section=PublishSection,
    open_points=unknown_consenting,
)
