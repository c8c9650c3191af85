# SPDX-License-Identifier: Apache-2.0
"""A table with typed values, as CSV for programs; `workbook.py` writes it for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from referee.core.spreadsheet import plain_cell


@dataclass(frozen=True)
class Table:
    """Rows below heads; a value that is missing is None.

    A text in a column whose head ends in `_utc` is a moment in ISO 8601.
    """

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[object]]


def csv_of(table: Table) -> str:
    """Return a table as CSV with a header: all digits, and nothing for a missing value."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.heads)
    writer.writerows([plain_cell(cell) for cell in row] for row in table.rows)
    return text.getvalue()
