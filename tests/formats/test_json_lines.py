# SPDX-License-Identifier: Apache-2.0
"""JSON lines of results, posted and in files: the rows of COCO results, and faults by line."""

from __future__ import annotations

import itertools
import json

import pytest

from referee.errors import InputError, Refusal
from referee.formats import coco_results, fast_reading, json_lines
from referee.formats.answer_formats import JSON_LINES
from referee.formats.answers import MAX_ROWS, parse_json
from referee.formats.detections_file import begin_coco_results, read_detections
from tests.formats.test_one_grammar import BOM, RESULT, VALUES, from_file, posted, rows

parse = JSON_LINES.parse
LINE = json.dumps(RESULT).encode()
SHORT = json.dumps({name: value for name, value in RESULT.items() if name != "score"}).encode()


def odd_results():
    """Yield objects that are JSON or nearly so: each odd value in each field of a good one."""
    for value, field in itertools.product(VALUES, RESULT):
        fields = {name: json.dumps(good) for name, good in RESULT.items()} | {field: value}
        yield ("{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}").encode()
    yield from (b"{}", b"[]", b"7", b"null", b'"text"', SHORT)


BODIES = [
    *(b"", b"\n", b" \n\t\r\n", BOM, LINE, LINE + b"\n", b"\n\n" + LINE + b"\n\n" + LINE),
    *(LINE + b"\r\n" + LINE + b"\r\n", BOM + LINE, b" " + LINE + b" ", LINE + b"\n" + SHORT),
    *(SHORT + b"\n" + SHORT, LINE + LINE, LINE + b"," + LINE, LINE + b"\n" + BOM + LINE),
    *(b"[" + LINE + b"]", b"?", LINE + b"\n{", b"{" * 100_000, b"\xff\xfe{\x00", LINE + b"\xff"),
    *(LINE[:-1] + b"\n" + b'"x": 1}', LINE + b"\x00", json.dumps(RESULT, indent=1).encode()),
]


def test_a_line_is_an_entry_of_coco_results():
    """An object gives the same rows, or the same faults, on a line and in a list."""
    for body in odd_results():
        listed = posted(parse_json, b"[" + LINE + b"," + body + b"]")
        alone = posted(parse, LINE + b"\n" + body)
        if not isinstance(listed, str):
            assert listed == alone, body
        elif "not JSON" not in listed:
            assert listed.replace("row 2", "line 2") == alone, body
        else:
            assert alone.startswith("line 2") and "not JSON" in alone, body


def test_posts_and_files_have_one_grammar(tmp_path):
    """Each odd body gives the same posted and in a file, whatever the suffix says of JSON lines."""
    for body in (*BODIES, *odd_results()):
        for name in ("results.jsonl", "results.NDJSON"):
            assert posted(parse, body) == from_file(tmp_path / name, body), body


def test_the_fast_reader_changes_nothing(monkeypatch):
    """Each body gives the same decoded by its type and line by line."""
    fast = [posted(parse, body) for body in (*BODIES, *odd_results())]
    monkeypatch.setattr(json_lines, "_read_piece", lambda piece, room: None)
    assert fast == [posted(parse, body) for body in (*BODIES, *odd_results())]
    assert any(isinstance(one, str) for one in fast) and any(isinstance(one, list) for one in fast)


def test_a_long_file_is_read_by_two_processes(tmp_path, monkeypatch):
    """A text of many pieces gives the rows of its lines in their order, CRLF and blanks too."""
    monkeypatch.setattr(fast_reading, "_LONG", 0)
    lines = [json.dumps(RESULT | {"image_id": number}) for number in range(5000)]
    path = tmp_path / "long.ndjson"
    path.write_text("\r\n\n".join(lines))
    assert list(range(5000)) == read_detections(path).image_id.tolist()
    assert [1.0, 2.0, 30.0, 39.0] == begin_coco_results(path)().box[4999].tolist()


def test_every_fault_names_its_line():
    """Blank lines count, and all faults are told at once."""
    with pytest.raises(Refusal) as refused:
        parse(LINE + b"\n\n{\n[]\n" + SHORT + b'\n{"image_id": "x", "category_id": 1}\n')
    assert "ndjson_invalid" == refused.value.code
    assert (
        "line 3, column 2: not JSON (expecting property name enclosed in double quotes);"
        " give one object a line",
        "line 4 is not an object",
        "line 5 has no score",
        'line 6, image_id: "x" is not a whole number',
        "line 6 has no score",
        "line 6 has no bbox",
    ) == refused.value.faults


def test_too_many_lines_are_refused_before_they_are_read():
    """A post has at most so many lines; blank ones do not count."""
    with pytest.raises(Refusal) as refused:
        parse(b"?\n\n" * (MAX_ROWS + 1))
    assert "too_many_rows" == refused.value.code


def test_missing_confidences_are_told():
    """Lines without any score count with 1.0, and the post is known to have none."""
    found = parse(SHORT + b"\n" + SHORT)
    assert ([1.0, 1.0], True) == (found.confidence.tolist(), found.without_confidence)
    assert not parse(LINE).without_confidence


@pytest.mark.parametrize("name", ["results.txt", "results"])
def test_a_file_is_known_by_its_first_line(tmp_path, name):
    """A file that begins with a whole result on a line holds JSON lines; others hold JSON."""
    path = tmp_path / name
    path.write_bytes(b"\n" + LINE + b"\n" + LINE)
    assert 2 == len(read_detections(path))
    path.write_bytes(b'{"images": [], "annotations": []}')
    with pytest.raises(InputError, match="an object, as ground truth is"):
        read_detections(path)


def test_a_file_that_is_named_json_is_json(tmp_path):
    """JSON lines in a file named .json are refused with what to do."""
    path = tmp_path / "results.json"
    path.write_bytes(LINE + b"\n" + LINE)
    with pytest.raises(InputError, match="line 2, column 1: not JSON .extra data.; .*JSON lines"):
        read_detections(path)


def test_the_same_rows_as_a_list_to_the_last_bit():
    """Lines and list of the same objects give equal bits."""
    listed = coco_results.parse_results(b"[" + b",".join([LINE, LINE]) + b"]").to_detections()
    assert rows(listed) == rows(parse(LINE + b"\n" + LINE))
