# SPDX-License-Identifier: Apache-2.0
"""What AIoTBench brings: its command."""

from __future__ import annotations

from referee.service.setup.extra import Extra

EXTRA = Extra(
    "aiotbench",
    {"other tracks": {"aiotbench": "score logs of AIoTBench, and rank devices, offline"}},
)
