# SPDX-License-Identifier: Apache-2.0
"""A workbook in the place of CSV is named, never quoted byte by byte."""

from __future__ import annotations

import pytest

from referee.errors import InputError, Refusal
from referee.formats.answers import parse_csv
from referee.formats.csv_truth import read_csv_truth
from referee.formats.detections_file import read_detections
from referee.formats.team_table import parse_team_table

XLSX = b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00[Content_Types].xml"
XLS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64)


@pytest.mark.parametrize("content", [XLSX, XLS], ids=["xlsx", "xls"])
@pytest.mark.parametrize("reader", ["teams", "truth", "detections", "post"])
def test_workbook_is_named(tmp_path, reader, content):
    """The sentence says what the file is and what to do."""
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    read = {
        "teams": lambda: parse_team_table(content, str(path)),
        "truth": lambda: read_csv_truth(path, content, None),
        "detections": lambda: read_detections(path),
        "post": lambda: parse_csv(content),
    }
    with pytest.raises((InputError, Refusal)) as refused:
        read[reader]()
    assert "this is an Excel workbook or an archive, not text: save it as CSV" in str(refused.value)
    assert "x14" not in str(refused.value)
