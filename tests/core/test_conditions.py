# SPDX-License-Identifier: Apache-2.0
"""Which conditions are usual among sessions, and what of a session differs from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.core.conditions import (
    EMULATED,
    UNKNOWN,
    Conditions,
    Difference,
    differences,
    to_review,
    unknown_conditions,
    usual_conditions,
)

USUAL = Conditions("network", 600.0, 0.0, "WT300 series", "RMS", True, None, "aa", None, None)


def marks(*changes):
    """Return the differences of sessions 1, 2, … that have these changes."""
    by_session = {n: replace(USUAL, **change) for n, change in enumerate(changes, 1)}
    usual = usual_conditions(by_session)
    return [differences(one, usual) for one in by_session.values()]


def test_what_most_sessions_have_is_usual():
    """A session is marked with what it had, and what the most had."""
    assert [(Difference("length_s", 300.0, 600.0),), (), ()] == marks({"length_s": 300.0}, {}, {})
    assert None is usual_conditions({})


def test_of_as_many_the_earliest_counts():
    """After the second session the first one is the rule, whatever the order of the rows."""
    assert [(), (Difference("length_s", 300.0, 600.0),)] == marks({}, {"length_s": 300.0})
    late_first = {2: replace(USUAL, length_s=300.0), 1: USUAL}
    assert 600.0 == usual_conditions(late_first).length_s


@pytest.mark.parametrize(("field", "value"), [("extra_s", 60), ("meter", EMULATED)])
def test_what_was_given_on_top_is_not_the_rule(field, value):
    """Of as many, extra time and an emulated meter are the ones that are marked."""
    first, second = marks({field: value}, {})
    assert ([field], ()) == ([one.condition for one in first], second)


def test_a_proposal_and_no_review_makes_files_equal():
    """Files belong to the score, the others to the run."""
    (_, found) = marks({}, {"ground_truth": "bb", "blacklist": "cc", "extra_s": 30})
    assert ["extra_s", "ground_truth", "blacklist"] == [one.condition for one in found]
    assert ["extra_s"] == [one.condition for one in to_review(found)]


def test_what_is_unknown_is_told_and_never_accused():
    """It neither differs nor is the rule, however many do not tell it."""
    untold = {"length_s": UNKNOWN, "meter": UNKNOWN}
    assert [(), (), (), ()] == marks(untold, untold, untold, {})
    assert [(), (Difference("length_s", 300.0, 600.0),), ()] == marks(
        {}, untold | {"length_s": 300.0}, untold
    )
    assert ("length_s", "meter") == unknown_conditions(replace(USUAL, **untold))


def test_scores_of_other_rules_are_not_alike():
    """Another version of the rules gives other numbers, and a proposal makes them equal."""
    (_, found) = marks({"rules": "devkit 2014"}, {"rules": "voc 2010"})
    assert [Difference("rules", "voc 2010", "devkit 2014")] == list(found)
    assert () == to_review(found)
