# SPDX-License-Identifier: Apache-2.0
"""The cells of tables that people open in a spreadsheet; files for programs have no use for it."""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(value: object) -> object:
    """Return a value for a cell; a text that a spreadsheet would compute gets an apostrophe.

    Numbers stay as they are.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
