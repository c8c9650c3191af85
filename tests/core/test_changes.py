# SPDX-License-Identifier: Apache-2.0
"""The difference between two JSON documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.changes import difference, is_same

NAMES = st.sampled_from(["team", "rank", "rows", "a", "b", "__proto__", "constructor", ""])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "x", "1"])
DOCUMENTS: Any = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def applied(old: Any, change: Any) -> Any:
    """Apply a difference as a page does; each row of the old list is used once at most."""
    if "set" in change:
        return change["set"]
    if "fields" in change:
        kept = {name: value for name, value in old.items() if name not in change.get("gone", ())}
        return kept | {name: applied(old.get(name), one) for name, one in change["fields"].items()}
    made, used = [], []
    for part in change["rows"]:
        if isinstance(part, list):
            used += range(part[0], part[0] + part[1])
            made += old[part[0] : part[0] + part[1]]
        elif "new" in part:
            made.append(part["new"])
        else:
            used.append(part["row"])
            made.append(applied(old[part["row"]], part["change"]))
    assert len(used) == len(set(used))
    return made


@given(DOCUMENTS, DOCUMENTS)
def test_a_difference_makes_the_new_document_of_the_old_one(old: Any, new: Any) -> None:
    """Whatever changes, also from true to 1, the page ends with the same JSON as the server."""
    change = json.loads(json.dumps(difference(old, new)))
    assert is_same(new, applied(old, change))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (1, True, False),
        ([0], [False], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([{"team": "ants"}], [{"team": "ants"}], True),
    ],
)
def test_what_is_the_same(old: Any, new: Any, same: bool) -> None:
    """JSON decides, and not Python, for which True is 1."""
    assert same == is_same(old, new)


def row(team: str, rank: int) -> dict[str, Any]:
    """Return a row of a ranking, long enough that nobody wants to send it again."""
    return {"team": team, "rank": rank, "printed": {"score": "1.0 mAP/Wh " * 20}}


def test_a_new_leader_costs_a_row_and_a_number_for_each_other_one() -> None:
    """Rows are known by their team, so nothing is sent of them but what has changed."""
    old = {"entries": [row(f"team {n}", n) for n in range(1, 41)]}
    new = {"entries": [row("ants", 1), *(row(f"team {n}", n + 1) for n in range(1, 41))]}
    change = difference(old, new)
    assert new == applied(old, change)
    first, second, *_ = change["fields"]["entries"]["rows"]  # type: ignore[typeddict-item]
    assert {"new": row("ants", 1)} == first
    assert {"row": 0, "change": {"fields": {"rank": {"set": 2}}}} == second
    assert len(json.dumps(change)) < len(json.dumps(new)) / 3


def test_rows_that_stay_are_runs() -> None:
    """Unchanged neighbours are one part, wherever they stand."""
    rows = [row(f"team {n}", n) for n in range(10)]
    assert {"rows": [[5, 5], [0, 5]]} == difference(rows, rows[5:] + rows[:5])


def test_two_rows_of_one_name_are_two_rows() -> None:
    """Each old row stands for one new row at most."""
    twice = [{"team": "ants", "n": 1}, {"team": "ants", "n": 2}]
    change = difference(twice, [*twice, {"team": "ants", "n": 3}])
    assert {"rows": [[0, 2], {"new": {"team": "ants", "n": 3}}]} == change
