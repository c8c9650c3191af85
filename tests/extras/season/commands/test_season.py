# SPDX-License-Identifier: Apache-2.0
"""`referee season report` prints or writes what a season's file says."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.extras.season.rows import season_bytes
from tests.extras.season.test_rankings import season


@pytest.fixture
def file(tmp_path):
    """Return a season's file."""
    path = tmp_path / "season.jsonl"
    path.write_bytes(season_bytes(season()))
    return path


def test_each_form_of_the_report(file, capsys):
    """Text, JSON, three CSVs, and a page."""
    assert 0 == main(["season", "report", str(file)])
    assert "1 of 3 pairs turn" in capsys.readouterr().out
    assert 0 == main(["season", "report", str(file), "--rank-by", "map", "--json"])
    assert "map" == json.loads(capsys.readouterr().out)["by"]
    columns = {"rankings": "old_rank", "pairs": "turn_probability", "bundles": "reproduces"}
    for form, column in [
        (["--csv"], "old_rank"),
        *((["--csv", it], columns[it]) for it in columns),
    ]:
        assert 0 == main(["season", "report", str(file), *form])
        assert column in capsys.readouterr().out.splitlines()[0]
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'test'")
    book = file.with_suffix(".xlsx")
    assert 0 == main(["season", "report", str(file), "--xlsx", str(book)])
    sheets = openpyxl.load_workbook(book)
    assert list(columns) == sheets.sheetnames
    assert all(columns[sheet.title] in {cell.value for cell in sheet[1]} for sheet in sheets)
    page = file.with_suffix(".html")
    assert 0 == main(["season", "report", str(file), "--html", str(page)])
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_file_without_a_scored_bundle_says_so(tmp_path, capsys):
    """The text and the page say it, in the place of a table without rows."""
    path, page = tmp_path / "season.jsonl", tmp_path / "season.html"
    path.write_bytes(b"")
    assert 0 == main(["season", "report", str(path)])
    assert "The file has no bundle that was scored." in capsys.readouterr().out
    assert 0 == main(["season", "report", str(path), "--html", str(page)])
    text = page.read_text(encoding="utf-8")
    assert "The file has no bundle that was scored." in text
    assert "<table>" not in text


@pytest.mark.parametrize(
    ("content", "told"), [(None, "none.jsonl"), ("{}", "line 1"), ("\x00", "line 1")]
)
def test_another_file_is_refused(tmp_path, capsys, content, told):
    """The message names the file and the line."""
    path = tmp_path / "none.jsonl"
    if content is not None:
        path.write_text(content)
    assert 2 == main(["season", "report", str(path)])
    assert told in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_told(file, capsys):
    """The message names the page."""
    page = file.parent / "nowhere" / "page.html"
    assert 2 == main(["season", "report", str(file), "--html", str(page)])
    assert "page.html cannot be written" in capsys.readouterr().err
