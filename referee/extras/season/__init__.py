# SPDX-License-Identifier: Apache-2.0
"""A season: many evidence bundles scored again under other rules, by many processes."""

COMMANDS = {
    "rescore": "score many evidence bundles again, under other rules",
    "season": "report what other rules do to published rankings",
}
