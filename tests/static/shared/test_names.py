# SPDX-License-Identifier: Apache-2.0
"""Names from right to left in the sentences of a page: each in a `bdi`, and the text unchanged."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

ARABIC, HEBREW = "فريق 7", "צוות 42 א"
MADE = "const made = m.make('p', ...a); return [made.textContent, made.innerHTML]"
PLACES = """
const made = m.make("p", `session 3 of ${m.isolated(a[0])}: 7 points`);
document.body.append(made);
const at = (node, from, to) => {
  const range = new Range();
  range.setStart(node, from);
  range.setEnd(node, to);
  return range.getBoundingClientRect().left;
};
const [before, name, after] = made.childNodes;
const found = [at(before, 0, 1), at(name.firstChild, 0, 1),
  at(after, 0, 1), at(after, 2, 3), at(after, 4, 5)];
made.remove();
return found;
"""


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        (f"'{ARABIC}' has withdrawn.", [ARABIC]),
        (f"The team's '{HEBREW}' and '{ARABIC}': 2", [HEBREW, ARABIC]),
        (f"\u2068{HEBREW}\u2069: 2nd with 110", [HEBREW]),
        ("'Busy Bees' isn't next", []),
        ("チーム 🚀", []),
    ],
)
def test_a_name_in_a_sentence_has_its_own_direction(
    scripts: Scripts, sentence: str, names: list[str]
) -> None:
    """What is quoted or isolated becomes a `bdi`; nothing is added to the text itself."""
    text, html = scripts.run("shared/page.js", MADE, sentence)
    assert sentence.replace("\u2068", "").replace("\u2069", "") == text
    assert len(names) == html.count("<bdi>")
    assert all(f"<bdi>{name}</bdi>" in html for name in names)


def test_what_follows_a_name_stands_behind_it(scripts: Scripts) -> None:
    """The number of a sentence is not drawn into an Arabic name: it stands to its right."""
    before, name, colon, number, points = scripts.run("shared/page.js", PLACES, ARABIC)
    assert before < name < colon < number < points


def test_a_title_keeps_the_isolates(scripts: Scripts) -> None:
    """An attribute has no elements; a Latin name is left alone."""
    assert [f"\u2068{ARABIC}\u2069", "Ants"] == scripts.run(
        "shared/page.js", "return a.map(m.isolated)", ARABIC, "Ants"
    )
