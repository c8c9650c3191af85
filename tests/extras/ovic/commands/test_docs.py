# SPDX-License-Identifier: Apache-2.0
"""docs/ovic.md agrees with the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from referee.cli import main
from referee.extras.ovic.rules.score import RULES

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/ovic.md").read_text(encoding="utf-8")
RULE = re.compile(r'Failure\(\s*"(\w+)"')


def test_the_example_prints_what_the_page_shows(capsys):
    """The score on the page is what the command prints."""
    command, printed = re.search(
        r"\$ referee (ovic score --task detection --accuracy 25\.0 .*?)\n(.*?)```", PAGE, re.DOTALL
    ).groups()
    assert 0 == main(shlex.split(command))
    assert printed == capsys.readouterr().out


def test_every_rule_is_on_the_page():
    """The page names each rule that a model can break."""
    sources = [
        path
        for room in ("rules", "judging")
        for path in (ROOT / "referee/extras/ovic" / room).glob("*.py")
    ]
    rules = {it for path in sources for it in RULE.findall(path.read_text(encoding="utf-8"))}
    assert len(rules) > 15
    assert set() == {rule for rule in rules if f"`{rule}`" not in PAGE}


@pytest.mark.parametrize("task", RULES)
def test_the_constants_are_on_the_page(task):
    """The page has each task's constants, and the frontier at the edges of its window."""
    rules = RULES[task]
    values = (rules.frontier.at(ms) for ms in (rules.fastest_ms, rules.target_ms, rules.slowest_ms))
    row = (
        f"| `{task}` | {rules.accuracy} | {rules.target_ms:g} ms | {rules.frontier.k!r}"
        f" | {rules.frontier.a0!r} | {' | '.join(f'{value:.2f}' for value in values)} |"
    )
    assert row in PAGE
