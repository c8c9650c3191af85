# SPDX-License-Identifier: Apache-2.0
"""The cells of a ranking."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

COLUMNS = [
    {"field": "team", "head": "team", "words": "who", "left": True},
    {"field": "score", "head": "mAP/Wh", "words": "the score", "left": False, "wide": True},
]


def test_a_row_has_the_printed_cells_of_its_columns(scripts: Scripts) -> None:
    """The server says which there are, and prints each; numbers are on the right."""
    body = """
    const row = m.rowOfCells(a[0], { team: "ants", score: "1.235" });
    const cells = [...row.element.cells].map((one) => [one.textContent, one.className]);
    return [cells, row.cell("score").textContent];
    """
    cells = [["ants", "team"], ["1.235", "score number wide"]]
    assert [cells, "1.235"] == scripts.run("shared/ranking.js", body, COLUMNS)


@pytest.mark.parametrize(
    ("entry", "text", "kind"),
    [
        ({"verdict": "VALID", "emulated": False}, "VALID", "VALID"),
        ({"verdict": "VALID", "emulated": True}, "VALIDEMULATED", "VALID"),
        ({"verdict": None, "emulated": False}, "–", ""),
    ],
)
def test_an_emulated_meter_is_said_below_the_verdict(
    scripts: Scripts, entry: dict[str, Any], text: str, kind: str
) -> None:
    """Without a verdict there is a dash, which has no colour."""
    body = """
    const cell = document.createElement("td");
    m.showVerdict(cell, a[0]);
    return [cell.textContent, cell.className];
    """
    assert [text, kind] == scripts.run("shared/ranking.js", body, entry)
