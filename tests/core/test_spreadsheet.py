# SPDX-License-Identifier: Apache-2.0
"""A table that people open in a spreadsheet computes nothing that a stranger wrote."""

from __future__ import annotations

import csv
import io

import pytest

from referee.core.spreadsheet import plain_cell
from referee.service.event.result_entry import ResultEntry
from referee.service.event.results_table import results_csv
from tests.support.rankings import results_of


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(1)", "\t=1", "\r=1"])
def test_text_that_a_spreadsheet_computes_is_text(text):
    """Such a text gets an apostrophe, by which spreadsheets know a text."""
    assert f"'{text}" == plain_cell(text)


@pytest.mark.parametrize("value", [-1.5, 7, None, "", "Team =1", "1-2"])
def test_numbers_and_other_texts_stay(value):
    """A negative number stays a number."""
    assert value == plain_cell(value)


def test_ranking_as_csv_has_no_formula():
    """A team's name is no formula in the CSV of the results."""
    entry = ResultEntry(team="=cmd|calc", score=-1.0)
    (row,) = csv.DictReader(io.StringIO(results_csv(results_of(entry))))
    assert ("'=cmd|calc", "-1.0") == (row["team"], row["score"])
