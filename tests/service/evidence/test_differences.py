# SPDX-License-Identifier: Apache-2.0
"""A difference between two texts is told by its line, however the texts are cut into blocks."""

from __future__ import annotations

import json

import pytest

from referee.service.evidence.differences import (
    blocks_difference,
    json_difference,
    text_difference,
    without_additions,
)

TEXT = b"one\ntwo\nthree\nfour\n"

OTHERS = {
    # What was found instead of TEXT, and what is told of it.
    b"one\ntwo\nthree\nfour\n": None,
    b"one\ntwo\nthree\nfive\n": "line 4: found 'five', expected 'four'",
    b"ore\ntwo\nthree\nfour\n": "line 1: found 'ore', expected 'one'",
    b"one\nthree\nfour\n": "line 2: found 'three', expected 'two'",
    b"one\ntwo\nthree\nfour\nfive\n": "line 5: found 'five', expected ''",
    b"one\ntwo\n": "line 3: found '', expected 'three'",
    b"one\ntwo\nthree\nfour": "found 3 lines, expected 4",
    b"": "line 1: found '', expected 'one'",
}


@pytest.mark.parametrize("length", [1, 5, 8, 100])
@pytest.mark.parametrize("found", OTHERS)
def test_the_first_line_that_differs_is_told(found, length):
    """Blocks of any length tell the same as the whole text."""
    blocks = [TEXT[start : start + length] for start in range(0, len(TEXT), length)]
    assert OTHERS[found] == blocks_difference(found, blocks) == text_difference(found, TEXT)


ADDED = {
    # What an earlier version told, and how it differs from what this version tells.
    '{"a": 1, "ap": {"1": 0.5, "2": 0.5}, "inner": {"b": [{"c": 1}]}}': None,
    '{"a": 2, "ap": {"1": 0.5, "2": 0.5}, "inner": {"b": [{"c": 1}]}}': "a: found 2, expected 1",
    '{"ap": {"1": 0.5, "2": 0.5}, "inner": {"b": [{"c": 1}]}}': "a is missing",
    '{"a": 1, "ap": {"1": 0.5}, "inner": {"b": [{"c": 1}]}}': "ap.2 is missing",
    '{"a": 1, "ap": {"1": 0.5, "2": 0.5}, "inner": {}, "x": 1}': "x should not be there",
}


@pytest.mark.parametrize("then", ADDED)
def test_a_field_that_is_new_is_not_missed(then):
    """What was told is compared; a field that always was there, or a class, cannot be left out."""
    now = {"a": 1, "ap": {"1": 0.5, "2": 0.5}, "inner": {"b": [{"c": 1, "d": 2}], "e": 3}, "f": 4}
    told = json.loads(then)
    assert ADDED[then] == json_difference(told, without_additions(told, now, {"a"}))
