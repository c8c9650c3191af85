# SPDX-License-Identifier: Apache-2.0
"""The pages' HTML is valid, as it is before the scripts add to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.markup import markup_faults

STATIC = Path(__file__).parents[2] / "static"
PAGES = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.html"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_valid(name: str) -> None:
    """Browsers and programs that read the page agree on what stands in it."""
    assert [] == markup_faults((STATIC / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<p>a<div>b</div></p>", "line 1"),
        ("<img alt=''>", "an img without src"),
        ("<table><tr></tr></table>", "a row without a cell"),
        ("<p id='a'></p><p id='a'></p>", "two elements have the id a"),
        ("<p aria-label='a'></p>", "a name on what has no role"),
        ("<label for='b'>c</label>", "for names no id: b"),
    ],
)
def test_what_is_invalid_is_found(body: str, fault: str) -> None:
    """Each kind of fault is told once."""
    page = f"<!doctype html><html lang='en'><head><title>t</title></head><body>{body}</body></html>"
    (told,) = markup_faults(page)
    assert told.startswith(fault)
