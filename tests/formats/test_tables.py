# SPDX-License-Identifier: Apache-2.0
"""A table as CSV is read back as it was."""

from __future__ import annotations

import csv
import io

from referee.formats.tables import Table, csv_of


def test_every_digit_comes_back_and_nothing_is_computed():
    """A missing value is empty, and a text that a spreadsheet would compute is guarded."""
    table = Table("t", ("name", "value"), [["=1+1", 0.1 + 0.2], ["a, b", None]])
    (one, other) = csv.DictReader(io.StringIO(csv_of(table)))
    assert ("'=1+1", 0.1 + 0.2) == (one["name"], float(one["value"]))
    assert {"name": "a, b", "value": ""} == other
