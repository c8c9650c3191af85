# SPDX-License-Identifier: Apache-2.0
"""The page "Where is what" of `docs/design.md` names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")
WHERE = DESIGN.partition("## Where is what\n")[2].partition("\n## ")[0]
OF_THE_PROJECT = re.compile(r"`((?:referee|power|client_sample|static|tests|docs)/[\w./]*)`")


def questions() -> list[tuple[str, list[str]]]:
    """Return each question of the page with the files that answer it."""
    rows = re.findall(r"^\| (.*?\?) \| (.*) \|$", WHERE, re.MULTILINE)
    return [(question, OF_THE_PROJECT.findall(answer)) for question, answer in rows]


def test_the_page_has_ten_questions_at_least() -> None:
    """The page has at least ten questions."""
    assert len(questions()) >= 10


@pytest.mark.parametrize(("question", "files"), questions(), ids=lambda value: str(value)[:40])
def test_each_question_leads_to_files_that_are_there(question: str, files: list[str]) -> None:
    """Each answer names at least one file, and each of its files exists."""
    assert files
    assert [] == [name for name in files if not (ROOT / name).exists()]


def test_every_file_that_the_design_names_is_there() -> None:
    """Each file that the rest of the document names exists."""
    named = set(OF_THE_PROJECT.findall(DESIGN))
    assert len(named) > 30
    assert [] == sorted(name for name in named if not (ROOT / name).exists())


def test_every_room_has_its_line() -> None:
    """The table of layers has each folder of the referee."""
    folders = [path for path in (ROOT / "referee").iterdir() if (path / "__init__.py").exists()]
    assert [] == sorted(p.name for p in folders if f"| `referee/{p.name}` |" not in DESIGN)
