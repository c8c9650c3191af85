# SPDX-License-Identifier: Apache-2.0
"""A workbook has each value as what it is, whatever the country of the spreadsheet."""

from __future__ import annotations

import io
from datetime import datetime

import pytest

from referee.errors import InputError
from referee.formats.tables import Table
from referee.formats.workbook import workbook_of

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'test'")

UTC = "2026-06-07T16:02:11+00:00"
# Each looks like something else to a spreadsheet, or to the library that writes.
NAMES = tuple(
    "007, 1/2, 1e5, mar2, =1+1, +1, @a, 'a, TRUE, 東京の蜂, نحل, 🐝, <r>a</r>, <r></b></r>, "
    "_x0041_, a b,  a  b , http://x, {=1}, 0.025".split(", ")
)


def read(content):
    """Return a workbook as another program reads it."""
    return openpyxl.load_workbook(io.BytesIO(content))


def column(values, head="value"):
    """Write values into a column, and return the cells that another program reads."""
    sheet = read(workbook_of([Table("t", (head,), [[one] for one in values])], UTC))["t"]
    return [sheet.cell(line, 1) for line in range(2, len(values) + 2)]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays_a_name(name):
    """Nothing is computed, turned into a number or a date, or lost."""
    (cell,) = column([name])
    assert (name, "s") == (cell.value, cell.data_type)


def test_numbers_truths_and_moments_have_their_types():
    """A number keeps every digit, a moment is one in UTC, and what is missing is empty."""
    values = [0.025, 0.1 + 0.2, 1e-7, -3, True, None, ""]
    assert [0.025, 0.1 + 0.2, 1e-7, -3, True, None, None] == [it.value for it in column(values)]
    cells = column(["2026-06-07T18:02:11+02:00", "unknown"], "first_utc")
    assert [datetime(2026, 6, 7, 16, 2, 11), "unknown"] == [cell.value for cell in cells]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**60, "a\ud83db", "a\x01b"])
def test_what_no_cell_can_hold_is_text(value):
    """The file opens, and the text says what there was."""
    (cell,) = column([value])
    assert "s" == cell.data_type and cell.value


def test_sheets_have_names_that_a_spreadsheet_takes():
    """Names of guests may be long, strange or equal."""
    names = ["OVIC: a/b [c]", "x" * 40, "X" * 40, "'", ""]
    sheets = read(workbook_of([Table(name, ("a",), []) for name in names], UTC)).sheetnames
    assert ["OVIC  a b  c", "x" * 31, "X" * 29 + " 2", "table", "table 2"] == sheets


def test_equal_tables_have_equal_bytes():
    """Nothing in the file tells when or where it was written."""
    table = Table("t", ("a",), [["x"], [1.5]])
    assert workbook_of([table], UTC) == workbook_of([table], UTC)


def test_what_no_spreadsheet_can_hold_is_refused():
    """A text of more letters than a cell takes would be cut in silence."""
    assert "x" * 32_767 == column(["x" * 32_767])[0].value
    with pytest.raises(InputError, match="longer than a cell"):
        column(["x" * 32_768])
