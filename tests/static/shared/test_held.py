# SPDX-License-Identifier: Apache-2.0
"""The document that a page holds, made of differences by the page's own script."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from referee.core.changes import difference
from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


def some_document(chance: random.Random, depth: int = 3) -> Any:
    """Return a document of JSON with rows that have names, and names that JavaScript knows."""
    names = ["team", "rank", "a", "b", "__proto__", "constructor", "toString", ""]
    kind = chance.random()
    if depth and kind < 0.4:
        chosen = chance.sample(names, chance.randrange(5))
        return {name: some_document(chance, depth - 1) for name in chosen}
    if depth and kind < 0.8:
        return [some_document(chance, depth - 1) for _ in range(chance.randrange(5))]
    return chance.choice([None, True, False, 0, 1, 0.5, "", "1", "ants", "é\u2028"])


def test_the_page_makes_the_same_document(scripts: Scripts) -> None:
    """What the script makes of 1,000 differences of the server is what the server has."""
    chance = random.Random(41)
    pairs = [(some_document(chance), some_document(chance)) for _ in range(1000)]
    texts = [[json.dumps(old), json.dumps(difference(old, new))] for old, new in pairs]
    body = (
        "return a[0].map(([old, d]) => JSON.stringify(m.applied(JSON.parse(old), JSON.parse(d))))"
    )
    made = scripts.run("shared/held.js", body, texts)
    assert [new for _, new in pairs] == [json.loads(text) for text in made]


def test_untouched_parts_stay_the_same_object(scripts: Scripts) -> None:
    """So a page shows again only what has changed."""
    body = """
    const old = { view: { rows: [1] }, live: { s: 1 } };
    const made = m.applied(old, { fields: { live: { fields: { s: { set: 2 } } } } });
    return [made.view === old.view, made.live === old.live, made.live.s];
    """
    assert [True, False, 2] == scripts.run("shared/held.js", body)


def test_a_difference_against_another_state_is_not_taken(scripts: Scripts) -> None:
    """The page then holds nothing, so that it asks for all of it."""
    body = """
    const held = new m.Held();
    held.take({ number: "1.a", document: { n: 1 } });
    const change = { fields: { n: { set: 2 } } };
    const taken = held.change({ from: "1.a", number: "2.a", change });
    const skipped = held.change({ from: "3.a", number: "4.a", change });
    return [taken, skipped, held.number, held.document];
    """
    assert [True, False, "", {"n": 2}] == scripts.run("shared/held.js", body)


def test_a_sign_of_life_tells_what_was_missed(scripts: Scripts) -> None:
    """A page that hears of another state than its own asks again."""
    body = """
    const held = new m.Held();
    held.take({ number: "1.a", document: {} });
    return [held.has("1.a"), held.has(undefined), held.has("2.a"), held.number];
    """
    assert [True, True, False, ""] == scripts.run("shared/held.js", body)
