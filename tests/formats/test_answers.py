# SPDX-License-Identifier: Apache-2.0
"""An answer is taken whole or refused whole, and each fault is named.

It is long because a post may be wrong in so many ways, and each is a case with its sentence.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.core.counts import counted
from referee.core.detections import Detections
from referee.errors import Refusal
from referee.formats import detection_lines, json_text, lines, number_table
from referee.formats.answers import (
    FORM_FIELDS,
    MAX_JSON_COMMAS,
    MAX_ROWS,
    parse_csv,
    parse_form,
    parse_json,
)
from referee.formats.detection_lines import LINE_FIELDS
from referee.formats.image_numbers import UNKNOWN_IMAGE

ROW = ("7", "12", "0.5", "1", "2", "30", "40")


def form(*rows):
    """Return the parallel lists of a form with these rows."""
    return {name: [row[place] for row in rows] for place, name in enumerate(FORM_FIELDS)}


def changed(**cells):
    """Return the good row with these cells changed."""
    return tuple(cells.get(name, cell) for name, cell in zip(FORM_FIELDS, ROW, strict=True))


def first(detections):
    """Return the first row as plain numbers."""
    box = detections.box[0].tolist()
    return (
        int(detections.image_id[0]),
        int(detections.class_id[0]),
        float(detections.confidence[0]),
        *box,
    )


def bits(detections):
    """Return every bit of the detections, so that NaN equals itself and 0.0 differs from -0.0."""
    return (
        detections.image_id.tolist(),
        detections.class_id.tolist(),
        detections.confidence.tobytes(),
        np.ascontiguousarray(detections.box).tobytes(),
    )


def refusal(parse, body):
    """Return the refusal that the parser raises."""
    with pytest.raises(Refusal) as refused:
        parse(body)
    assert str(refused.value).startswith("Nothing was stored: ")
    return refused.value


# Forms


def test_form_row():
    """A row of a form becomes one detection."""
    assert (7, 12, 0.5, 1.0, 2.0, 30.0, 40.0) == first(parse_form(form(ROW)))


def test_empty_form():
    """A form without image_name is an empty answer, as in the old protocol."""
    assert 0 == len(parse_form({}))
    assert 0 == len(parse_form({"token": ["x"], "else": ["1", "2"]}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12.jpg", 12), ("12.JPEG", 12), ("12.0", 12), ("0", 0), ("-1", -1), ("007", 7)]
    + [(str(10**30), UNKNOWN_IMAGE), ("999999999999999999", 999999999999999999)],
)
def test_form_image_names(text, expected):
    """A form may name images by file names, out of range or as zero; all are kept (D4, D7)."""
    assert expected == parse_form(form(changed(image_name=text))).image_id[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1e-05", 1e-05), ("3e-06", 3e-06), ("1", 1.0), (" 0.5 ", 0.5), ("-0.0", -0.0)]
    + [("nan", math.nan), ("NaN", math.nan), ("inf", math.inf), ("-Infinity", -math.inf)]
    + [("1e999", math.inf), (".5", 0.5), ("5.", 5.0)],
)
def test_form_floats_are_read_as_python_reads_them(text, expected):
    """Confidences and corners take what numeric libraries print, NaN and infinity too (D5)."""
    detections = parse_form(form(changed(confidence=text, ymax=text)))
    got = (detections.confidence[0], detections.box[0, 3])
    assert np.asarray([expected] * 2).tobytes() == np.asarray(got).tobytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("205", 205), ("0", 0), ("-3", -3), ("12.0", 12), ("1e2", 100)]
    + [(str(10**30), UNKNOWN_IMAGE), ("1e30", UNKNOWN_IMAGE), (str(2**63 - 1), 2**63 - 1)],
)
def test_form_classes(text, expected):
    """Any integer is a class id, also an unlisted one or one printed as a float."""
    assert expected == parse_form(form(changed(CLASS_ID=text))).class_id[0]


def test_form_boxes_may_be_anywhere():
    """Negative, inverted and out-of-frame boxes are taken (D6)."""
    row = changed(xmin="-10", ymin="3331.5", xmax="-20", ymax="5")
    assert [-10.0, 3331.5, -20.0, 5.0] == parse_form(form(row)).box[0].tolist()


def test_form_takes_many_images():
    """One post may hold many images, in any order and repeated (D7)."""
    detections = parse_form(form(*(changed(image_name=name) for name in ("3", "1", "0", "3"))))
    assert [3, 1, 0, 3] == detections.image_id.tolist()


def test_form_without_confidence():
    """Rows without confidence are valid, and each confidence is 1."""
    fields = form(ROW, ROW)
    del fields["confidence"]
    assert [1.0, 1.0] == parse_form(fields).confidence.tolist()
    fields["confidence"] = []
    assert [1.0, 1.0] == parse_form(fields).confidence.tolist()


@pytest.mark.parametrize("name", FORM_FIELDS[1:])
@pytest.mark.parametrize("change", [-1, 1])
def test_form_lists_of_unequal_length(name, change):
    """A list shorter or longer than image_name is named with both lengths."""
    fields = form(ROW, ROW)
    fields[name] = fields[name][:1] if change < 0 else [*fields[name], fields[name][0]]
    refused = refusal(parse_form, fields)
    assert "lists_unequal" == refused.code
    assert (f"{name} has {counted(2 + change, 'value')} and image_name has 2",) == refused.faults


def test_form_with_a_list_missing():
    """A missing list counts as a list without values."""
    fields = form(ROW)
    del fields["ymin"]
    assert ("ymin has 0 values and image_name has 1",) == refusal(parse_form, fields).faults


@pytest.mark.parametrize(
    ("name", "text"),
    [("image_name", "cat"), ("image_name", "1.5"), ("image_name", ""), ("image_name", "nan")]
    + [("CLASS_ID", "person"), ("CLASS_ID", "1.5"), ("CLASS_ID", ""), ("CLASS_ID", "nan")]
    + [("CLASS_ID", "inf"), ("confidence", "high"), ("confidence", ""), ("xmin", "1,5")]
    + [("ymin", "0x10"), ("xmax", "--1"), ("ymax", "1 2")],
)
def test_form_text_in_numbers(name, text):
    """Text in the place of a number is named with its row and field."""
    refused = refusal(parse_form, form(ROW, changed(**{name: text}), ROW))
    assert "not_a_number" == refused.code
    assert (f"row 2: {name} '{text}' is not a number",) == refused.faults


@pytest.mark.parametrize("name", FORM_FIELDS)
@pytest.mark.parametrize("text", ["١", "７", "7\u3000"])
def test_form_takes_ascii_only(name, text):
    """Digits of other scripts are refused, as in the old protocol."""
    assert "not_a_number" == refusal(parse_form, form(changed(**{name: text}))).code


def test_form_faults_all_at_once():
    """Unequal lists and text in numbers are reported together."""
    fields = form(changed(image_name="cat", ymax="tall"), changed(CLASS_ID="dog"))
    fields["xmin"] = ["1"]
    refused = refusal(parse_form, fields)
    assert "lists_unequal" == refused.code
    assert (
        "xmin has 1 value and image_name has 2",
        "row 1: image_name 'cat' is not a number",
        "row 2: CLASS_ID 'dog' is not a number",
        "row 1: ymax 'tall' is not a number",
    ) == refused.faults


def test_faults_listed_are_bounded():
    """The answer to a post with very many faults lists some and counts them all."""
    refused = refusal(parse_form, form(*(changed(xmin="x" * 1000) for _ in range(5000))))
    assert 20 == len(refused.faults)
    assert str(refused).endswith("; and 4980 more.")
    assert len(str(refused)) < 3000


@pytest.mark.slow
def test_a_million_rows_are_refused():
    """Each form of a post of a million boxes is refused by its count alone."""
    rows = 10**6
    fields = {name: ["1"] * rows for name in FORM_FIELDS}
    for parse, body in (
        (parse_form, fields),
        (parse_csv, b"1 1 1 1 1 1 1\n" * rows),
        (parse_json, b"[" + b"0," * (rows - 1) + b"0]"),
    ):
        refused = refusal(parse, body)
        assert "too_many_rows" == refused.code
        assert f"{rows} detections" in str(refused)


@pytest.mark.slow
def test_the_most_rows_are_taken():
    """A post of exactly the limit is taken, and one row more is refused."""
    line = b"1 1 0.5 1 1 1 1\n"
    assert MAX_ROWS == len(parse_csv(line * MAX_ROWS))
    assert "too_many_rows" == refusal(parse_csv, line * (MAX_ROWS + 1)).code


# CSV


def _width(line, found, wanted):
    """Return the fault of a line with another number of fields than the first."""
    fields = [name for name in LINE_FIELDS if wanted == 7 or name != "confidence"]
    return (
        f"line {line} has {found} field{'s' * (found > 1)}, not {wanted}: give {','.join(fields)}"
    )


@pytest.mark.parametrize(
    "body",
    [b"7 12 0.5 1 2 30 40", b"7,12,0.5,1,2,30,40\r\n", b"\n 7\t12 , 0.5 1,2 30 40 \n\n"]
    + [b"7.jpg,12,5e-1,1.0,2,30,40\n"],
)
def test_csv_lines(body):
    """Commas or blanks, any line end, and empty lines all give the same row."""
    assert (7, 12, 0.5, 1.0, 2.0, 30.0, 40.0) == first(parse_csv(body))


def test_csv_without_confidence():
    """Lines of six numbers are valid, and each confidence is 1."""
    assert (7, 12, 1.0, 1.0, 2.0, 30.0, 40.0) == first(parse_csv(b"7 12 1 2 30 40\n"))


@pytest.mark.parametrize("body", [b"", b"\n\n", b" \t\r\n"])
def test_csv_without_rows(body):
    """A CSV without lines is an empty answer."""
    assert 0 == len(parse_csv(body))


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (b"7 12 0.5 1 2 30 40\n7 12 1 2 30 40", (_width(2, 6, 7),)),
        (b"7 12 1 2 30 40\n\n7 12 0.5 1 2 30 40", (_width(3, 7, 6),)),
        (b"7 12 0.5 1 2 30 40 9", (_width(1, 8, 7),)),
        (b"hello", (_width(1, 1, 7),)),
        (b"7 12 0.5 1 2 30", ()),
        (
            b"7 dog 0.5 1 2 30 40\n\n7 12 high 1 2 30 tall",
            (
                "line 1, class_id: 'dog' is not a whole number",
                "line 3, confidence: 'high' is not a number",
                "line 3, ymax: 'tall' is not a number",
            ),
        ),
        (
            b"1 2 3\n1 a 0.5 1 2 3 4\n1 1 0.5 1 2 3 4",
            (_width(1, 3, 7), "line 2, class_id: 'a' is not a whole number"),
        ),
        (
            b"image_id,class_id,confidence,xmin,ymin,xmax,ymax\n7,12,0.5,1,2,30,40",
            tuple(
                f"line 1, {name}: '{name}' is not a "
                + ("whole number" if name.endswith("_id") else "number")
                for name in LINE_FIELDS
            ),
        ),
    ],
)
def test_csv_faults_all_at_once(body, faults):
    """Every faulty line is named by its number in the file."""
    if not faults:
        assert 1 == len(parse_csv(body))
        return
    refused = refusal(parse_csv, body)
    assert "csv_invalid" == refused.code
    assert faults == refused.faults


@pytest.mark.parametrize(
    ("body", "shown"),
    [("١ 12 0.5 1 2 30 40".encode(), r"\xd9\xa1"), (b"\xff\x00 12 0.5 1 2 30 40", r"\xff\x00")],
)
def test_csv_is_ascii(body, shown):
    """A byte that is not printable ASCII is shown as an escape."""
    assert (f"line 1, image_id: '{shown}' is not a whole number",) == refusal(
        parse_csv, body
    ).faults


def test_csv_of_one_endless_line():
    """A line is refused for its length before it is split: each of its cells would cost memory."""
    body = b"1,1,.5,0,0,9,9\n" + b"," * (lines.LONGEST_LINE + 1)
    with pytest.raises(Refusal) as refused:
        parse_csv(body)
    assert str(refused.value) == "Nothing was stored: line 2 has more than 10000 bytes."


def test_csv_of_long_lines():
    """A line may be padded to the longest length."""
    row = b"1,1,.5,0,0,9,9"
    body = row.ljust(lines.LONGEST_LINE) + b"\n"
    assert len(parse_csv(body * 3 + row)) == 4


def test_csv_cut_short():
    """A post with a truncated last line is refused whole."""
    body = b"7 12 0.5 1 2 30 40\n7 12 0.5 1"
    assert (_width(2, 4, 7),) == refusal(parse_csv, body).faults


# JSON


def result(**values):
    """Return one COCO result with some values changed; None leaves a value out."""
    item = {"image_id": 7, "category_id": 12, "bbox": [1, 2, 30, 39], "score": 0.5} | values
    return {name: value for name, value in item.items() if value is not None}


def test_json_corners_are_inclusive():
    """A box of width 30 at x = 1 ends at pixel 30."""
    body = json.dumps([result()]).encode()
    assert (7, 12, 0.5, 1.0, 2.0, 30.0, 40.0) == first(parse_json(body))


def test_json_of_one_pixel():
    """A box of one pixel has equal corners."""
    body = json.dumps([result(bbox=[5, 6, 1, 1])]).encode()
    assert [5.0, 6.0, 5.0, 6.0] == parse_json(body).box[0].tolist()


def test_json_without_scores():
    """If no object has a score, each confidence is 1."""
    body = json.dumps([result(score=None)] * 2).encode()
    assert [1.0, 1.0] == parse_json(body).confidence.tolist()


def test_json_with_some_scores():
    """A score missing from only some objects is a fault."""
    body = json.dumps([result(), result(score=None)]).encode()
    assert ("row 2 has no score",) == refusal(parse_json, body).faults


def test_json_empty_list():
    """An empty list is an empty answer."""
    assert 0 == len(parse_json(b"[]"))


def test_json_numbers_that_are_not_finite():
    """NaN and Infinity are kept as Python's writer prints them."""
    body = json.dumps([result(score=math.nan, bbox=[math.inf, 0, 1, 1])]).encode()
    detections = parse_json(body)
    assert math.isnan(detections.confidence[0])
    assert math.inf == detections.box[0, 0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7.0, 7), (0, 0), (-1, -1), (10**30, UNKNOWN_IMAGE), (1e30, UNKNOWN_IMAGE), (2**62 + 1,) * 2],
)
def test_json_ids(value, expected):
    """Ids may be floats without a fraction, and of any size."""
    detections = parse_json(json.dumps([result(image_id=value, category_id=value)]).encode())
    assert (expected, expected) == (detections.image_id[0], detections.class_id[0])


def test_json_numbers_beyond_a_float():
    """An integer too large for a float becomes infinite."""
    body = json.dumps([result(bbox=[10**400, 0, 1, 1])]).encode()
    assert math.inf == parse_json(body).box[0, 0]


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (5, "row 2 is not an object"),
        (None, "row 2 is not an object"),
        (result(image_id="7"), 'row 2, image_id: "7" is not a whole number'),
        (result(image_id=1.5), "row 2, image_id: 1.5 is not a whole number"),
        (result(image_id=True), "row 2, image_id: true is not a whole number"),
        (result(image_id=math.nan), "row 2, image_id: NaN is not a whole number"),
        (result(category_id=None), "row 2 has no category_id"),
        (result(score="0.5"), 'row 2, score: "0.5" is not a number'),
        (result(score=False), "row 2, score: false is not a number"),
        (result(bbox=None), "row 2 has no bbox"),
        (result(bbox=[1, 2, 3]), "row 2, bbox: give four numbers [x, y, width, height]"),
        (result(bbox={"x": 1}), "row 2, bbox: give four numbers [x, y, width, height]"),
        (result(bbox=[1, 2, 3, "4"]), 'row 2, bbox: "4" is not a number'),
        (result(bbox=[1, 2, 3, None]), "row 2, bbox: null is not a number"),
        (result(image_id=[[1]]), "row 2, image_id: a list is not a whole number"),
        (result(image_id={"a": 1}), "row 2, image_id: an object is not a whole number"),
    ],
)
def test_json_faults(item, fault):
    """A faulty object is named by its index, its field and the value there."""
    refused = refusal(parse_json, json.dumps([result(), item]).encode())
    assert "json_invalid" == refused.code
    assert (fault,) == refused.faults


def test_json_faults_all_at_once():
    """Every faulty object is named in the same answer."""
    items = [result(image_id="x", bbox=[]), result(), result(score=[])]
    assert (
        'row 1, image_id: "x" is not a whole number',
        "row 1, bbox: give four numbers [x, y, width, height]",
        "row 3, score: a list is not a number",
    ) == refusal(parse_json, json.dumps(items).encode()).faults


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b'[{"image_id": 7', b"\xff\xfe", b"\x00", b"nonsense", b"[1,]", b"\xed\xa0\x80"]
    + [b"[" * 100_000, b"[" + b"9" * 5000 + b"]"],
)
def test_json_that_is_none(body):
    """Truncated, endlessly nested and non-JSON bodies are refused in one line."""
    refused = refusal(parse_json, body)
    assert "json_invalid" == refused.code
    assert "not JSON" in str(refused) or "UTF-16" in str(refused)
    assert len(str(refused)) < 300


@pytest.mark.parametrize("body", [b"{}", b"5", b"null", b'"text"', json.dumps(result()).encode()])
def test_json_that_is_no_list(body):
    """JSON of another shape is refused with the shape that is wanted."""
    assert "COCO results are a list" in str(refusal(parse_json, body))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["image_id", "category_id", "score", "bbox"])
def test_json_of_any_depth_is_refused(name):
    """A value nested to any depth is refused, also at Python's own limit."""
    for depth in range(900, 1010):
        nested = b"[" * depth + b"]" * depth
        body = b'[{"image_id":1,"category_id":1,"score":1,"bbox":[1,1,1,1],"%s":%s}]'
        with pytest.raises(Refusal):
            parse_json(body % (name.encode(), nested))


# A writer's output is read back bit for bit; everything else is refused.

IDS = st.integers(1 - 10**18, 10**18 - 1)
FLOATS = st.floats(allow_nan=False) | st.just(math.nan)
ROWS = st.lists(st.tuples(IDS, st.integers(-(2**63), 2**63 - 1), *[FLOATS] * 5), max_size=20)


@pytest.mark.slow
@given(ROWS)
def test_form_writer_is_read_back(rows):
    """Text written with all its digits gives the same bits."""
    fields = {name: [repr(row[i]) for row in rows] for i, name in enumerate(FORM_FIELDS)}
    assert bits(Detections.from_rows(rows)) == bits(parse_form(fields))


PLAIN = st.integers(0, 10**19).map(str) | st.sampled_from(["0" * 20 + "7", "9" * 17, "9" * 18])
ODD = st.sampled_from(["-1", "7.0", " 7 ", "1_0", "1e2", "7.jpg", "", "²", "9" * 5000, "nan"])


@pytest.mark.slow
@given(st.lists(st.tuples(PLAIN, PLAIN) | st.tuples(PLAIN | ODD, PLAIN | ODD), max_size=6))
def test_form_ids_are_read_alike_alone_and_together(ids):
    """A cell gives the same id or the same fault, alone or beside any other rows."""
    rows = [changed(image_name=image, CLASS_ID=klass) for image, klass in ids]
    alone, faults = [], set()
    for number, row in enumerate(rows, 1):
        try:
            alone.append(parse_form(form(row)))
        except Refusal as refused:
            faults |= {fault.replace("row 1:", f"row {number}:") for fault in refused.faults}
    if faults:
        assert faults == set(refusal(parse_form, form(*rows)).faults)
    else:
        assert bits(Detections.concatenate(alone)) == bits(parse_form(form(*rows)))


@pytest.mark.parametrize(
    ("text", "image", "klass"),
    [("9" * 17, 10**17 - 1, 10**17 - 1), ("9" * 18, 10**18 - 1, 10**18 - 1)]
    + [("9" * 19, UNKNOWN_IMAGE, UNKNOWN_IMAGE), ("0" * 20 + "7", 7, 7), (str(10**18), -1, 10**18)],
)
def test_form_ids_of_many_digits(text, image, klass):
    """Long ids are exact up to the limit, also beside short ones."""
    detections = parse_form(form(ROW, changed(image_name=text, CLASS_ID=text)))
    assert [7, image] == detections.image_id.tolist()
    assert [12, klass] == detections.class_id.tolist()


@pytest.mark.slow
@given(ROWS, st.sampled_from([" ", ",", ", ", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_csv_writer_is_read_back(rows, comma, end):
    """Lines written with all their digits give the same bits."""
    body = "".join(comma.join(map(repr, row)) + end for row in rows).encode()
    assert bits(Detections.from_rows(rows)) == bits(parse_csv(body))


@pytest.mark.slow
@given(ROWS)
def test_json_writer_is_read_back(rows):
    """Ids and scores come back bit for bit, and corners as the formula of COCO boxes gives them."""
    items = [
        {"image_id": i, "category_id": c, "score": s, "bbox": [x, y, w, h]}
        for i, c, s, x, y, w, h in rows
    ]
    expected = [(i, c, s, x, y, w + (x - 1), h + (y - 1)) for i, c, s, x, y, w, h in rows]
    assert bits(Detections.from_rows(expected)) == bits(parse_json(json.dumps(items).encode()))


CELLS = st.text() | st.sampled_from(ROW) | st.sampled_from(["nan", "1e400", "9" * 5000, "١"])


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*FORM_FIELDS, "token"]), st.lists(CELLS, max_size=4)))
def test_no_form_breaks_the_parser(fields):
    """Any lists of texts give detections or a refusal."""
    try:
        detections = parse_form(fields)
    except Refusal:
        return
    assert len(fields.get("image_name", [])) == len(detections)


LINES = st.sampled_from(["1 2 .5 3 4 5 6", "1,2,3,4,5,6", "", " ", "1 2 x 3 4 5 6", "1 2 3", "\f"])


@pytest.mark.slow
@given(st.lists(LINES, max_size=12), st.integers(1, 60))
def test_csv_is_read_in_parts_as_in_one(lines, block_bytes):
    """A CSV gives the same detections and faults, wherever its parts end."""

    def outcome():
        try:
            return bits(parse_csv("\n".join(lines).encode()))
        except Refusal as refused:
            return refused.code, sorted(refused.faults)

    whole = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detection_lines, "_FEW", 0)
        patch.setattr(number_table, "_BLOCK", block_bytes)
        assert whole == outcome()


@pytest.mark.slow
@given(
    st.binary() | st.text(st.sampled_from("0123456789.,- \n\tenaif"), max_size=80).map(str.encode)
)
@settings(max_examples=100)
def test_no_csv_breaks_the_parser(body):
    """Any bytes as CSV give detections or a refusal."""
    try:
        parse_csv(body)
    except Refusal as refused:
        assert refused.code in ("csv_invalid", "too_many_rows")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "image_id": JSON,
        "category_id": JSON,
        "score": JSON,
        "bbox": JSON | st.lists(st.floats() | st.integers(), min_size=4, max_size=4),
    },
)


@pytest.mark.slow
@given(
    st.binary()
    | JSON.map(json.dumps).map(str.encode)
    | st.lists(ITEMS).map(json.dumps).map(str.encode)
)
@settings(max_examples=100)
def test_no_json_breaks_the_parser(body):
    """Any bytes as JSON give detections or a refusal."""
    try:
        parse_json(body)
    except Refusal as refused:
        assert refused.code in ("json_invalid", "too_many_rows")


def test_json_of_millions_of_values_is_refused():
    """JSON with more values than detections need is refused before it is parsed."""
    body = b"[" + b"[]," * (MAX_JSON_COMMAS + 1) + b"[]"
    with pytest.raises(Refusal, match="more values than 200000 detections need") as refused:
        parse_json(body)
    assert refused.value.code == "too_many_rows"


@given(
    st.lists(
        st.sampled_from(['{"a":1}', '{"b":[{},{}]}', '{"c":"},{"}', "[1]", ",", " ", "}", "{", "]"])
    ),
    st.sampled_from(["", " ", "\n,", "]", "[", '"']),
)
def test_json_in_pieces_is_read_as_in_one(parts, after):
    """Wherever a long list is cut, its entries are those of the list, and so are its faults."""
    text = "[" + ",".join(parts) + "]" + after
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "_PIECE", 3)
        try:
            assert json_text.parse_json_text(text.encode()) == whole
        except json_text.FormatError:
            assert whole is None


def test_a_long_json_list_is_decoded_in_pieces(monkeypatch):
    """No call of the decoder, which lets no other thread run, takes a long list whole."""
    body = json.dumps([{"image_id": n, "bbox": [1, 2, 3, 4]} for n in range(20_000)])
    longest = []
    loads = json.loads

    def measured(text):
        longest.append(len(text))
        return loads(text)

    monkeypatch.setattr(json_text.json, "loads", measured)
    assert json_text.parse_json_text(body.encode()) == loads(body)
    assert max(longest) < 2**19 < len(body)
