# SPDX-License-Identifier: Apache-2.0
"""What drills bring: their command."""

from __future__ import annotations

from referee.service.setup.extra import Extra

EXTRA = Extra(
    "drill",
    {"operators": {"drill": "train the operators: an emulated event in which things go wrong"}},
)
