# SPDX-License-Identifier: Apache-2.0
"""A form's fields that no list takes are named, and what they were meant for."""

from __future__ import annotations

import pytest

from referee.formats.answer_formats import media_type_by_looks
from referee.formats.answers import FORM_FIELDS
from referee.formats.forms import parse_multipart, parse_urlencoded
from referee.formats.unused_fields import (
    MOST_NAMED,
    FieldKind,
    FieldsUnused,
    UnusedParts,
    meaning_of,
    not_used,
    require_used,
)

NAMES = (*FORM_FIELDS, "token")
LISTS = "image_name=1&CLASS_ID=2&xmin=1&ymin=2&xmax=3&ymax=4"
CSV_ROW = "1,1,0.5,1,1,9,9"


def judged(body: bytes):
    """Return the names of a form's lists, its unused fields, and the number of further parts."""
    parts = UnusedParts()
    sent = parse_urlencoded(body, NAMES, 100, parts).keys() & set(FORM_FIELDS)
    return sent, parts.fields(media_type_by_looks), parts.others


def refusal(body: str) -> FieldsUnused:
    """Return the refusal of a form."""
    sent, unused, others = judged(body.encode())
    with pytest.raises(FieldsUnused) as refused:
        require_used(sent, unused, FORM_FIELDS, others)
    return refused.value


@pytest.mark.parametrize(
    ("body", "kind", "cure"),
    [
        ("image_name[]=1&xmin[]=2", FieldKind.BRACKETS, "image_name=1&image_name=2"),
        ("image_name%5B0%5D=1", FieldKind.BRACKETS, "without brackets"),
        ("detections[0][CLASS_ID]=1", FieldKind.BRACKETS, "CLASS_ID=1&CLASS_ID=2"),
        ("detections[0].xmin=1", FieldKind.BRACKETS, "xmin=1&xmin=2"),
        ("Image_Name=1", FieldKind.SPELLING, "'Image_Name' is 'image_name' here"),
        ("imageName=1", FieldKind.SPELLING, "'imageName' is 'image_name' here"),
        ("class_id=1", FieldKind.SPELLING, "'class_id' is 'CLASS_ID' here"),
        ("x_min=1", FieldKind.SPELLING, "'x_min' is 'xmin' here"),
        ("image_id=1&bbox=1", FieldKind.COCO, "application/json"),
        ("label=1", FieldKind.OTHER_NAME, "'label' is 'CLASS_ID' here"),
        ("x1=1", FieldKind.OTHER_NAME, "'x1' is 'xmin' here"),
        ("confidences=1", FieldKind.OTHER_NAME, "'confidences' is 'confidence' here"),
        ('results=[{"image_id": 1}]', FieldKind.CONTENT, "Content-Type: application/json"),
        ("detections=[object Object]", FieldKind.CONTENT, "Content-Type: application/json"),
        (f"data={CSV_ROW}", FieldKind.CONTENT, "Content-Type: text/csv"),
        (CSV_ROW.replace(",", "%2C"), FieldKind.NO_NAME, "Content-Type: text/csv"),
        ("[object Object]", FieldKind.NO_NAME, "JSON.stringify"),
        ("1 2 3 4 5", FieldKind.NO_NAME, "no fields NAME=VALUE"),
        ("a=1", FieldKind.UNKNOWN, "An answer's fields are 'image_name', 'CLASS_ID'"),
    ],
)
def test_a_form_of_which_nothing_is_used(body: str, kind: FieldKind, cure: str) -> None:
    """It is refused with a cure for its kind of fields, and each field is named."""
    refused = refusal(f"token=t&{body}")
    assert {kind} == {one.kind for one in refused.fields}
    assert cure in refused.message
    assert refused.message.startswith("Nothing was stored: 'image_name' is missing, and nothing")
    assert len(refused.fields) == len(refused.faults)
    assert all(one.name in refused.message for one in refused.fields)


@pytest.mark.parametrize("name", ["Confidence", "confidence[]", "score", "conf"])
def test_a_list_under_another_name_is_not_lost(name: str) -> None:
    """Confidences that would be left out are refused, though a form may have none at all."""
    assert f"'confidence' is missing, and nothing would be used of '{name}'" in str(
        refusal(f"{LISTS}&{name}=.5")
    )


@pytest.mark.parametrize("body", ["", "token=x", "&&", LISTS, f"token=x&{LISTS}&confidence=1"])
def test_a_form_without_other_fields_is_none(body: str) -> None:
    """A token alone, and a form of an answer's lists, have nothing that is not used."""
    sent, unused, others = judged(body.encode())
    require_used(sent, unused, FORM_FIELDS, others)
    assert ((), 0) == (not_used(unused), others)


def test_what_a_whole_form_has_beside_its_lists_is_told() -> None:
    """A field that replaces no list does no harm."""
    sent, unused, others = judged(f"{LISTS}&confidence=1&score=1&lane=2".encode())
    require_used(sent, unused, FORM_FIELDS, others)
    assert ("not used: 'score', 'lane'",) == not_used(unused)


def test_a_few_of_many_fields_are_named() -> None:
    """A stranger's thousand names cost no memory and no long header."""
    names = [f"{number}" + "z" * 500 for number in range(1000)]
    refused = refusal("&".join(f"{name}=1" for name in names))
    assert f"' and {1000 - MOST_NAMED} more. " in refused.message
    assert len(refused.message) < 1000
    assert MOST_NAMED == len(refused.fields) and all(len(it.name) <= 40 for it in refused.fields)


@pytest.mark.parametrize(
    ("head", "content", "meant", "cure"),
    [
        ('name="file"; filename="a.csv"', CSV_ROW, ("text/csv",), "--data-binary @FILE"),
        ('name="file"; filename="a"', '[{"a": 1}]', ("application/json",), "application/json'"),
        ('name="image_name"; filename="image_name"', "1", ("image_name",), "data=, not files="),
        ('name="model"; filename="a.bin"', "\x00", (), "--data-binary @FILE"),
    ],
)
def test_a_file_part_is_named(head: str, content: str, meant: tuple[str, ...], cure: str) -> None:
    """A part with a file name is no field, under whatever name it comes."""
    body = f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n--x--\r\n"
    parts = UnusedParts()
    assert {} == parse_multipart(body.encode(), "x", NAMES, 100, parts)
    (one,) = parts.fields(media_type_by_looks)
    assert (FieldKind.FILE, meant) == (one.kind, one.meant)
    with pytest.raises(FieldsUnused, match=cure):
        require_used((), [one], FORM_FIELDS)


def test_words_for_an_answers_lists() -> None:
    """Usual words are known whatever joins them; what is not a list's has no meaning."""
    for word in ("image_name", "Image-Names", "imageId", "img"):
        assert ("image_name",) == meaning_of(word)
    for word in ("token", "segmentation", "area", "id", "", "[]"):
        assert () == meaning_of(word)
