# SPDX-License-Identifier: Apache-2.0
"""Style sheets: a browser says nothing of a rule or a line that it does not understand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[3] / "static"
SHEETS = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.css"))

# Count the rules that a sheet has in the browser, and name the lines that it does not take.
COUNT = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(a[0]);
const all = (rules) => [...rules].flatMap((rule) => [rule, ...all(rule.cssRules ?? [])]);
const lines = a[1].filter(([name, value]) => !name.startsWith("--") && !CSS.supports(name, value));
return [all(sheet.cssRules).length, lines];
"""


def without_comments(text: str) -> str:
    """Return a style sheet without its comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def lines_of(text: str) -> list[tuple[str, str]]:
    """Return the name and the value of each line of the rules."""
    blocks = re.findall(r"\{([^{}]*)\}", text)
    pairs = (line.partition(":") for block in blocks for line in block.split(";") if line.strip())
    return [(name.strip(), value.replace("!important", "").strip()) for name, _, value in pairs]


@pytest.mark.parametrize("sheet", SHEETS)
def test_the_browser_takes_every_rule(scripts: Scripts, sheet: str) -> None:
    """Each rule and each line of it counts: a selector with a point too many counts for nothing."""
    text = without_comments((STATIC / sheet).read_text(encoding="utf-8"))
    taken, strange = scripts.run("shared/format.js", COUNT, text, lines_of(text))
    assert (text.count("{"), []) == (taken, strange)


def test_a_rule_that_is_left_out_is_noticed(scripts: Scripts) -> None:
    """A selector and a value that no browser knows."""
    text = "..a { color: red; } b { colour: red; } @media print { p { margin: 1 em; } }"
    taken, strange = scripts.run("shared/format.js", COUNT, text, lines_of(text))
    assert (3, [["colour", "red"], ["margin", "1 em"]]) == (taken, strange)
