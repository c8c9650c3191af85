# SPDX-License-Identifier: Apache-2.0
"""The page's table of commands is the emulator's own."""

from __future__ import annotations

from pathlib import Path

from power.emulator.supported import table

PAGE = Path(__file__).parents[3] / "docs/power.md"


def test_the_table_on_the_page_is_the_generated_one() -> None:
    """`python -m power emulate --commands` prints what docs/power.md holds."""
    begin = "<!-- python -m power emulate --commands -->\n"
    on_page = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition("<!-- end -->")[0]
    assert table() == on_page
