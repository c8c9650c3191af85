# SPDX-License-Identifier: Apache-2.0
"""What seasons bring: two commands."""

from __future__ import annotations

from referee.service.setup.extra import Extra

EXTRA = Extra(
    "season",
    {
        "laboratories and researchers": {
            "rescore": "score many evidence bundles again, under other rules",
            "season": "report what other rules do to published rankings",
        }
    },
)
