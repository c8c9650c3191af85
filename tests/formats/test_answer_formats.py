# SPDX-License-Identifier: Apache-2.0
"""The table of answer formats: each entry is whole."""

from __future__ import annotations

import pytest

from referee.errors import Refusal
from referee.formats import answer_formats
from referee.formats.answer_formats import (
    CSV,
    FORM,
    all_formats,
    any_of,
    format_by_looks,
    format_of_type,
)
from referee.tracks.network import TRACK
from tests.tracks.top1 import TRACK as TOP1

EACH = pytest.mark.parametrize("one", all_formats(), ids=[one.name for one in all_formats()])


@EACH
def test_the_example_is_one_detection(one):
    """The body that /help shows is parsed, to the same detection in each format."""
    found = TRACK.parse(one, one.example.encode())
    assert [[1, 58]] == [[*found.image_id, *found.class_id]]
    assert ([0.9], [[10, 20, 110, 220]]) == (found.confidence.tolist(), found.box.tolist())


@EACH
def test_a_faulty_body_is_refused_with_the_formats_own_code(one):
    """What is no such body gets the code that the table names."""
    with pytest.raises(Refusal) as refused:
        one.parse(b"?")
    assert one.refusal == refused.value.code


@EACH
def test_a_body_is_known_by_type_and_by_looks(one):
    """Each format is found by its media type, and its example by its looks."""
    assert one is format_of_type(one.media_type)
    assert one is format_by_looks(b"\xef\xbb\xbf " + one.example.encode() + b"\n")


def test_what_has_no_format_is_not_found():
    """Other types, and a body that may be a form, have no format."""
    assert None is format_of_type("text/plain") is format_of_type("")
    assert None is format_by_looks(b"image_name=1&CLASS_ID=2") is format_by_looks(b"")


def test_names_and_types_are_different():
    """No two formats share a name, a media type or a refusal."""
    names = [FORM, *(it.name for it in all_formats())]
    for values in (
        names,
        [it.media_type for it in all_formats()],
        [it.refusal for it in all_formats()],
    ):
        assert len(values) == len(set(values))


def test_a_track_without_a_parser_refuses_the_format():
    """A track takes the formats for which it has a method, and names itself in the refusal."""
    assert 1 == len(TOP1.parse(CSV, b"1,2,0.5"))
    with pytest.raises(Refusal, match="the track 'top1' takes no answers as json"):
        TOP1.parse(answer_formats.JSON, b"[]")


@pytest.mark.parametrize(
    ("words", "sentence"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_words_are_listed_as_people_do(words, sentence):
    """Commas stand between all but the last two."""
    assert sentence == any_of(*words)
