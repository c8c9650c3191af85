# SPDX-License-Identifier: Apache-2.0
"""The pages that name tests name those that exist; no page's script makes markup."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("page", "least"), [("security.md", 40), ("venue.md", 18), ("recipes.md", 8)]
)
def test_every_test_that_the_page_names_exists(page: str, least: int) -> None:
    """A defence or a recipe whose test was renamed or deleted is noticed."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / page).read_text())
    assert len(named) > least
    missing = [f"{file}::{name}" for file, name in named if name not in _tests_in(ROOT / file)]
    assert [] == missing


def test_no_page_makes_markup_of_text() -> None:
    """No script turns a text into elements or into code, so no name can hold a script."""
    ways = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment"
        r"|DOMParser|\beval\(|new Function|javascript:|\.srcdoc"
    )
    scripts = sorted((ROOT / "static").rglob("*.js"))
    assert scripts
    assert [] == [str(path) for path in scripts if ways.search(path.read_text())]


def _tests_in(file: Path) -> set[str]:
    if not file.exists():
        return set()
    tree = ast.parse(file.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
