# SPDX-License-Identifier: Apache-2.0
"""A post of which nothing would be used is refused; a stored one says what it lacks."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from referee.formats.answer_formats import all_formats
from referee.store.unused_fields import UnusedFields, unused_fields_of
from tests.web.conftest import Site

DETAIL = "X-Referee-Detail"
PLAIN = "text/plain; charset=utf-8"
URLENCODED = "application/x-www-form-urlencoded"
MISMATCH = b"Result field length mismatch\n"
STORED = b"Result stored in the server database\n"
LISTS = {"image_name": "1", "CLASS_ID": "1", "xmin": "3", "ymin": "3", "xmax": "30", "ymax": "30"}
RESULT = {"image_id": 1, "category_id": 1, "bbox": [3, 3, 9, 9], "score": 0.5}


def post(site: Site, **sent: Any) -> TestResponse:
    """Post an answer with the token in the header."""
    headers = {"Authorization": f"Bearer {site.login()}"} | sent.pop("headers", {})
    return site.client.post("/result", headers=headers, **sent)


def stored(site: Site) -> tuple[int, int]:
    """Return the numbers of answers and of detections."""
    status = site.client.get("/status", query_string={"token": site.login()}).get_json()
    return status["answers"], status["detections"]


def csv_file() -> tuple[io.BytesIO, str]:
    """Return a file part."""
    return io.BytesIO(b"1,1,1,3,3,9,9"), "a.csv"


@pytest.mark.parametrize(
    ("sent", "name", "cure"),
    [
        ({"data": {"file": csv_file}}, "file", "--data-binary"),
        ({"data": {"image_name[]": ["1", "2"]}}, "image_name[]", "without brackets"),
        ({"data": {"image_name[0]": "1"}}, "image_name[0]", "without brackets"),
        ({"data": {"image_id": "1", "category_id": "1"}}, "image_id", "application/json"),
        ({"data": {"results": json.dumps([RESULT])}}, "results", "application/json"),
        ({"data": {"Image_Name": "1"}}, "Image_Name", "'image_name' here"),
        ({"query_string": LISTS}, "image_name", "in the body"),
        ({"data": b"1 2 3 4 5"}, "1 2 3 4 5", "NAME=VALUE"),
        ({"data": b"hello", "content_type": URLENCODED}, "hello", "NAME=VALUE"),
    ],
)
@pytest.mark.parametrize("where", ["header", "form"])
def test_a_form_of_which_nothing_is_used_is_refused(
    site: Site, sent: dict[str, Any], name: str, cure: str, where: str
) -> None:
    """It gets 406 in the old words; header and problem details name the fields and the cure."""
    fields = sent.get("data")
    in_form = where == "form" and isinstance(fields, dict)
    headers = {} if in_form else {"Authorization": f"Bearer {site.login()}"}

    def ask(**more: str) -> TestResponse:
        data = fields
        if isinstance(fields, dict):  # The client closes a file that it has sent.
            data = {key: it() if callable(it) else it for key, it in fields.items()}
            data |= {"token": site.login()} if in_form else {}
        return site.client.post("/result", headers=headers | more, **(sent | {"data": data}))

    old = ask()
    assert (406, MISMATCH, PLAIN) == (old.status_code, old.data, old.content_type)
    assert f"'{name}'" in old.headers[DETAIL] and cure in old.headers[DETAIL]
    new = ask(Accept="application/json")
    told = json.loads(new.data)
    assert (406, "fields_unused") == (new.status_code, told["code"])
    assert told["faults"][0].startswith(f"'{name}' is not used")
    assert (0, 0) == stored(site)


def test_the_fields_of_refused_forms_are_facts(site: Site) -> None:
    """Each refused form counts, and its fields are kept with their kinds."""
    for data in ({"a[]": "1", "xmin[]": "1"}, {"xmin[]": "2"}, LISTS | {"Confidence": "1"}):
        assert 406 == post(site, data=data).status_code
    post(site, data=LISTS | {"lane": "1"})
    assert (1, 1) == stored(site)  # The status waits until the notes are stored.
    found = unused_fields_of(site.contest.database.connection, 1)
    fields = (("a[]", "unknown"), ("xmin[]", "brackets"), ("Confidence", "spelling"))
    assert UnusedFields(3, fields) == found


@pytest.mark.parametrize("sent", [{}, {"query_string": {}}, {"data": b"&&"}])
def test_the_token_alone_is_an_empty_answer(site: Site, sent: dict[str, Any]) -> None:
    """Old clients post the token alone for an image without objects; a header says what it was."""
    answer = post(site, **sent)
    assert (200, STORED) == (answer.status_code, answer.data)
    assert "no rows were stored: the form has no 'image_name'." == answer.headers[DETAIL]
    old = site.client.post("/result", data={"token": site.login()})
    assert (200, STORED) == (old.status_code, old.data)
    assert (2, 0) == stored(site)


def test_a_form_without_confidence_says_so(site: Site) -> None:
    """Six lists are a valid answer, and the header says what was put in the seventh's place."""
    answer = post(site, data=LISTS)
    assert (200, STORED) == (answer.status_code, answer.data)
    assert answer.headers[DETAIL].startswith("confidence missing: each row was read as image, cl")
    assert DETAIL not in post(site, data=LISTS | {"confidence": "1"}).headers


def test_a_form_says_what_was_not_used_and_what_never_matches(site: Site) -> None:
    """A stored form has the old text; the header counts what does not count."""
    row = LISTS | {"confidence": "1"}
    assert "not used: 'lane'." == post(site, data=row | {"lane": "1"}).headers[DETAIL]
    two = {name: [value] * 2 for name, value in row.items()} | {"image_name": ["1", "999"]}
    assert "1 of 2 rows can never match." == post(site, data=two).headers[DETAIL]
    none = post(site, data=row | {"image_name": "999"})
    assert "no row can ever match: unknown image." == none.headers[DETAIL]


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("application/json", "[]", "the list is empty"),
        ("text/csv", "", "the body has no line that is not blank"),
        ("text/csv", " \n\r\n", "the body has no line that is not blank"),
        ("application/x-ndjson", "\n\n", "the body has no line that is not blank"),
    ],
)
def test_a_receipt_of_nothing_says_why(site: Site, kind: str, body: str, why: str) -> None:
    """A receipt of no rows has the reason."""
    receipt = post(site, data=body, content_type=kind).get_json()
    assert (0, [f"no rows were stored: {why}"]) == (receipt["stored"], receipt["remarks"])


def test_a_receipt_says_that_no_row_can_match(site: Site) -> None:
    """Rows that are all flagged are stored, and the receipt says what that means."""
    receipt = post(site, json=[RESULT | {"image_id": 0}, RESULT | {"category_id": 999}]).get_json()
    assert ["no row can ever match: unknown image, class out of range"] == receipt["remarks"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/csv", "1 1 0.5 0.1 0.2 0.4 0.6\n1 1 0.5 -0.02 0 1.1 1"),
        ("application/json", json.dumps([RESULT | {"bbox": [0.1, 0.2, 0.3, 0.4]}])),
        ("application/x-ndjson", json.dumps(RESULT | {"bbox": [0.1, 0.2, 0.9, 0.8]})),
    ],
)
def test_a_receipt_names_boxes_between_0_and_1(site: Site, kind: str, body: str) -> None:
    """Fractions of the image are named with the first answer, in each form of boxes."""
    remarks = post(site, data=body, content_type=kind).get_json()["remarks"]
    assert any(remark.startswith("boxes between 0 and 1: ") for remark in remarks)


def test_boxes_of_some_pixels_are_no_fractions(site: Site) -> None:
    """One row of pixels among few is enough to see that these are pixels."""
    body = "1 1 0.5 0.1 0.2 0.4 0.6\n1 1 0.5 1 1 9 9"
    assert [] == post(site, data=body, content_type="text/csv").get_json()["remarks"]


def test_the_remark_on_json_describes_its_rows(site: Site) -> None:
    """A COCO result without score is described as such, not as a line of six numbers."""
    lost = {name: value for name, value in RESULT.items() if name != "score"}
    (remark,) = post(site, json=[lost]).get_json()["remarks"]
    assert "an object of image_id, category_id and bbox [x, y, width, height]" in remark


@pytest.mark.parametrize(
    "kind",
    [
        *("application/ndjson", "application/jsonl", "text/json", "application/csv"),
        *(kind for one in all_formats() for kind in one.other_types),
    ],
)
def test_other_names_of_a_type_are_taken(site: Site, kind: str) -> None:
    """Each format has the types that libraries and people use for it."""
    one = next(it for it in all_formats() if kind in it.other_types)
    answer = post(site, data=one.example, content_type=f"{kind}; charset=utf-8")
    assert (200, 1) == (answer.status_code, answer.get_json()["stored"])


JSON_LINE = json.dumps(RESULT)
PACKED = gzip.compress(b"1 1 1 3 3 9 9", mtime=0)


@pytest.mark.parametrize(
    ("kind", "body", "status", "words"),
    [
        ("text/plain", "1 1 1 3 3 9 9", 415, "looks like CSV: send 'Content-Type: text/csv'"),
        ("text/plain", "image_name=1&xmin=2", 415, f"a form: send 'Content-Type: {URLENCODED}'"),
        ("text/plain", "hello", 415, "'text/plain' is not understood"),
        ("application/octet-stream", f"[{JSON_LINE}]", 415, "Content-Type: application/json"),
        ("text/csv", f"[{JSON_LINE}]", 400, "looks like JSON: send"),
        ("text/csv", "token=x&image_name=1", 400, f"a form: send 'Content-Type: {URLENCODED}'"),
        ("application/json", "1,1,1,3,3,9,9\n", 400, "looks like CSV: send"),
        ("application/json", f"{JSON_LINE}\n{JSON_LINE}\n", 400, "looks like JSON lines: send"),
        ("application/json", "[object Object]", 400, "JSON.stringify"),
        ("application/json", json.dumps(f"[{JSON_LINE}]"), 400, "encode it once"),
        ("application/x-ndjson", f"[{JSON_LINE}]", 400, "looks like JSON: send"),
        ("text/csv", "1,1,1,3,3,9,92,1,1,3,3,9,9", 400, "--data-binary @FILE keeps them"),
        (URLENCODED, "1,1,1,3,3,9,92,1,1,3,3,9,9", 415, "-d @FILE drops line ends"),
        ("application/x-ndjson", f"{JSON_LINE}{JSON_LINE}", 400, "--data-binary @FILE does"),
        (
            "text/csv",
            '"image","class","score","x1","y1","x2","y2"\n',
            400,
            "Line 1 is a header: leave it out",
        ),
        ("application/json", '{"detections": [{}]}', 400, "'detections' holds a list (send that"),
        ("application/json", '{"annotations": [{}]}', 400, "'annotations' holds a list (send tha"),
        ("application/json", "{}", 400, "the JSON is an object:"),
        ("application/json", "null", 400, "the JSON is null"),
        ("application/json", "", 400, "not JSON"),
        ("application/json", '[{"confidence": 1}]', 400, "its 'confidence' is not used"),
        ("application/json", '[{"imageId": 1}]', 400, "has no image_id: its 'imageId' is not"),
        (URLENCODED, "--b\r\nContent-Disposition: form-data", 415, "is a multipart form"),
        ("multipart/form-data", "--b\r\n", 400, "names no boundary"),
        ("text/csv", PACKED, 400, "packed by gzip"),
        ("", PACKED, 415, "packed by gzip"),
        ("application/x-ndjson", f"{JSON_LINE}\nbad\n", 400, "line 2, column 1: not JSON"),
    ],
)
def test_a_body_under_another_type_is_told_what_it_is(
    site: Site, kind: str, body: str | bytes, status: int, words: str
) -> None:
    """Good content under the wrong type, and content in a wrapping, is refused with the cure."""
    answer = post(site, data=body, headers={"Content-Type": kind})
    assert (status, PLAIN) == (answer.status_code, answer.content_type)
    assert words in answer.headers[DETAIL]
    assert (0, 0) == stored(site)


def test_confidences_under_another_name_in_json_are_refused(site: Site) -> None:
    """Confidences are content: they are not replaced by 1.0 because their name is another one."""
    other = {("confidence" if name == "score" else name): it for name, it in RESULT.items()}
    answer = post(site, json=[other])
    assert "row 1 has no score: its 'confidence' is not used" in answer.headers[DETAIL]


@pytest.mark.parametrize("value", ["[1, 2]", "[1 2]", "(1, 2)", "1, 2", "1 2", "1,2"])
def test_a_list_in_one_field_is_told_apart(site: Site, value: str) -> None:
    """What str() and join() make of a list is refused with the way to send it."""
    answer = post(site, data=dict.fromkeys(LISTS, value))
    assert (406, MISMATCH) == (answer.status_code, answer.data)
    assert "one field for each value: xmin=1&xmin=2" in answer.headers[DETAIL]


def test_a_fields_type_is_named_where_no_field_is_found(site: Site) -> None:
    """A form under `text/plain` has no fields, at any route; the answer says why."""
    token = site.login()
    for path, body in (
        ("/login", "username=me&password=practice"),
        ("/image", f"token={token}&image_name=1"),
        ("/result", f"token={token}&image_name=1"),
    ):
        answer = site.client.post(path, data=body, content_type="text/plain")
        assert answer.status_code in (400, 401)
        assert "The body's Content-Type is 'text/plain'" in answer.headers[DETAIL]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_token_count_and_status_of_new_clients(site: Site, method: str) -> None:
    """Token and count are plain text, and both count and status are asked by either method."""
    fields = {"username": "me", "password": "practice"}
    login = site.client.post("/login", data=fields)
    assert PLAIN == login.content_type
    headers = {"Authorization": f"Bearer {login.text}"}
    count = site.client.open("/no_of_images", method=method, headers=headers)
    assert (200, PLAIN, "120") == (count.status_code, count.content_type, count.text)
    status = site.client.open("/status", method=method, headers=headers)
    assert (200, "RUNNING") == (status.status_code, status.get_json()["state"])
    by_form = site.client.post("/status", data={"token": login.text})
    assert "RUNNING" == by_form.get_json()["state"]
    bad = site.client.open("/no_of_images", method=method, headers={"Authorization": "Bearer x"})
    assert (401, PLAIN, "Invalid User") == (bad.status_code, bad.content_type, bad.text)
