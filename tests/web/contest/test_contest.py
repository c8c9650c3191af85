# SPDX-License-Identifier: Apache-2.0
"""The contestants' protocol: statuses, texts and headers of every URL, in every phase."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.store.notices import notices_of
from referee.store.requests import refused_answers_of, requests_of
from tests.web.conftest import IMAGES, Site

PLAIN = "text/plain; charset=utf-8"
DETAIL = "X-Referee-Detail"
ROW = {"image_name": "1", "CLASS_ID": "1", "confidence": "0.5"} | dict.fromkeys(
    ("xmin", "ymin", "xmax", "ymax"), "3"
)


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


# HEAD goes with GET, and OPTIONS with every URL. The referee of 2015-2019 took these methods, but
# for GET of the number of images.
METHODS = {
    "/": "GET POST",
    "/help": "GET POST",
    "/login": "GET POST",
    "/get_token": "GET POST",
    "/verify": "GET POST",
    "/no_of_images": "GET POST",
    "/image": "GET POST",
    "/zipimages": "GET POST",
    "/image_camera": "GET POST",
    "/result": "POST",
    "/logout": "GET POST",
    "/status": "GET POST",
    "/classes": "GET",
    "/powermeter": "",
    "/savecsv": "",
}


@pytest.mark.parametrize("path", METHODS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_methods_of_each_url(site: Site, path: str, method: str) -> None:
    """Each URL takes its methods; another method gets 405, and an unknown URL 404."""
    status = site.client.open(path, method=method).status_code
    if not METHODS[path]:
        assert status == 404
    else:
        assert (status == 405) == (method not in METHODS[path].split())


def test_a_method_is_refused_in_one_line(site: Site) -> None:
    """A URL answers another method in text, with what it takes."""
    answer = site.client.delete("/classes")
    assert (405, PLAIN) == (answer.status_code, answer.content_type)
    assert answer.data == b"This address takes no DELETE: GET /help lists what it takes.\n"
    assert {"GET", "HEAD", "OPTIONS"} == set(answer.allow)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/login/", 404),
        ("GET", "/image//1", 404),
        ("GET", "/result", 405),
        ("PUT", "/image", 405),
        ("BREW", "/", 405),
    ],
)
def test_what_no_route_takes_gets_one_line(site: Site, method: str, path: str, status: int) -> None:
    """An unknown URL and a wrong method get a line of text, never a page in HTML or a redirect."""
    answer = site.client.open(path, method=method)
    assert (status, PLAIN) == (answer.status_code, answer.content_type)
    assert answer.headers["X-Referee-Detail"] + "\n" == answer.text


def test_whole_session_of_an_old_client(site: Site) -> None:
    """Login, count, image, result and logout by POST give the old statuses, types and texts."""
    token = site.login()
    count = site.client.post("/no_of_images", data={"token": token})
    assert (count.status_code, count.data) == (200, str(IMAGES).encode())
    image = site.client.post("/image", data={"token": token, "image_name": "007"})
    assert image.status_code == 200
    assert image.headers["Content-Type"] == "image/jpeg"
    assert image.headers["Content-Disposition"] == "attachment; filename=7.jpg"
    assert int(image.headers["Content-Length"]) == len(image.data)
    assert image.headers["Cache-Control"] == "no-store"
    result = site.client.post("/result", data={"token": token, **ROW})
    assert (result.status_code, result.data) == (200, b"Result stored in the server database\n")
    assert result.headers["Content-Type"] == "text/html; charset=utf-8"
    verify = site.client.post("/verify", data={"token": token})
    assert (verify.status_code, verify.data) == (200, b"Valid Token\n")
    logout = site.client.post("/logout", data={"token": token})
    assert (logout.status_code, logout.data) == (200, b"Logout success\n")
    again = site.client.post("/logout", data={"token": token})
    assert (again.status_code, again.data) == (401, b"Invalid Token\n")


@pytest.mark.parametrize("path", ["/login", "/get_token"])
def test_both_login_urls_give_the_same_token_while_the_session_runs(site: Site, path: str) -> None:
    """A second login, by either URL or method, gets the same token and starts nothing."""
    first = site.login()
    site.clock.advance(100)
    query = {"username": "me", "password": "practice"}
    assert site.client.get(path, query_string=query).data.decode() == first
    assert site.client.get(path, data=query).data.decode() == first
    status = site.client.get("/status", headers=bearer(first)).get_json()
    assert (status["session"], status["remaining_seconds"]) == (1, 500.0)


def test_login_as_json_tells_the_session(site: Site) -> None:
    """A login that asks for JSON gets token, session, images, length and remaining time."""
    answer = site.client.post(
        "/login",
        data={"username": "me", "password": "practice"},
        headers={"Accept": "application/json"},
    )
    token = answer.get_json()["token"]
    assert answer.get_json() == {
        "token": token,
        "session": 1,
        "images": IMAGES,
        "seconds": 600.0,
        "remaining_seconds": 600.0,
        "frame_tag": None,
    }


@pytest.mark.parametrize("text", ["Invalid User"])
def test_no_of_images_has_a_text_of_its_own(site: Site, text: str) -> None:
    """/no_of_images answers a bad token without a final newline, and a missing one as usual."""
    bad = site.client.post("/no_of_images", data={"token": "x"})
    assert (bad.status_code, bad.get_data(as_text=True)) == (401, text)
    missing = site.client.post("/no_of_images")
    assert (missing.status_code, missing.data) == (401, b"Invalid Token\n")


@pytest.mark.parametrize(("first", "count"), [("1", 100), ("101", 20), ("0101", 20)])
def test_archives_hold_a_hundred_images_each(site: Site, first: str, count: int) -> None:
    """An archive has flat, deflated members K.jpg; the last one is shorter; each counts as sent."""
    token = site.login()
    answer = site.client.post("/zipimages", data={"token": token, "image_name": first})
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == f"attachment; filename={int(first)}.zip"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert archive.testzip() is None
        names = [f"{number}.jpg" for number in range(int(first), int(first) + count)]
        assert archive.namelist() == names
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        single = site.client.get(f"/image/{int(first)}", headers=bearer(token)).data
        assert archive.read(names[0]) == single
    status = site.client.get("/status", headers=bearer(token)).get_json()
    assert status["images_fetched"] == count


def test_archive_between_the_hundreds_is_out_of_range(site: Site) -> None:
    """An archive that begins at another number gets the old text."""
    token = site.login()
    answer = site.client.post("/zipimages", data={"token": token, "image_name": "2"})
    assert (answer.status_code, answer.data) == (406, b"Image index out of range\n")


def test_an_image_that_has_vanished_is_500_and_an_alarm(site: Site) -> None:
    """A missing file gives the contestant the old text, and the operators a notice."""
    token = site.login()
    (site.contest.config.images.folder / "3.jpg").unlink()
    answer = site.client.get("/image/3", headers=bearer(token))
    assert (answer.status_code, answer.data) == (500, b"Image not found\n")
    # The status waits until the notice is stored.
    assert site.client.get("/status", headers=bearer(token)).status_code == 200
    row = site.contest.database.connection.execute(
        "select text from notices where level = 'alarm'"
    ).fetchone()
    assert "Image 3" in row["text"]


def test_camera_without_a_display_says_so_before_it_looks_at_the_token(site: Site) -> None:
    """With the display off, the camera's URL gives the old text and status for any token."""
    answer = site.client.post("/image_camera", data={"token": "x", "image_name": "1"})
    assert (answer.status_code, answer.data) == (500, b"Display failed to start\n")


def test_the_deadline_is_half_open(site: Site) -> None:
    """A request a millisecond before the deadline is served; at the deadline it is not."""
    token = site.login()
    site.clock.advance(599.999)
    assert site.client.get("/image/1", headers=bearer(token)).status_code == 200
    assert site.client.post("/result", data={"token": token, **ROW}).status_code == 200
    site.clock.advance(0.001)
    late = site.client.get("/image/1", headers=bearer(token))
    assert (late.status_code, late.data) == (401, b"Invalid Token\n")


def test_an_answer_counts_from_its_last_byte(site: Site) -> None:
    """A body that begins in time and ends after the deadline is late."""
    token = site.login()
    site.clock.advance(599)

    class Slow(io.BytesIO):
        """A body whose last byte takes two seconds."""

        def read(self, size: int | None = -1) -> bytes:
            site.clock.advance(2)
            return super().read(size)

    environ = {"wsgi.input": Slow(b"[]"), "CONTENT_LENGTH": "2"}
    headers = bearer(token) | {"Content-Type": "application/json"}
    answer = site.client.post("/result", headers=headers, environ_overrides=environ)
    assert (answer.json["late"], answer.json["received_s"]) == (True, 601.0)


def test_a_late_answer_is_stored_marked_and_told(site: Site) -> None:
    """A late answer gets 401 or, for a new client, its receipt; it is stored and does not count."""
    token = site.login()
    site.clock.advance(600)
    old = site.client.post("/result", data={"token": token, **ROW})
    assert (old.status_code, old.data) == (401, b"Invalid Token\n")
    new = site.client.post("/result", json=[], headers=bearer(token)).get_json()
    assert (new["late"], new["received_s"], new["remaining_seconds"]) == (True, 600.0, 0.0)
    status = site.client.get("/status", headers=bearer(token)).get_json()
    assert (status["answers"], status["late_answers"]) == (0, 2)


def test_an_answer_that_came_in_time_is_not_late_because_it_was_read_late(site: Site) -> None:
    """The instant of an answer is its last byte's, as its connection tells it."""
    token = site.login()
    came = SimpleNamespace(arrived_s=site.clock.now().monotonic_s + 599.9)
    site.clock.advance(600.2)
    answer = site.client.post(
        "/result", json=[], headers=bearer(token), environ_overrides={"gunicorn.socket": came}
    ).get_json()
    assert (answer["late"], answer["received_s"]) == (False, pytest.approx(599.9))


def test_late_answers_are_bounded_in_time(site: Site) -> None:
    """An answer more than a minute after the deadline is not stored."""
    token = site.login()
    site.clock.advance(661)
    assert site.client.post("/result", json=[], headers=bearer(token)).status_code == 401
    assert site.client.get("/status", headers=bearer(token)).get_json()["late_answers"] == 0


@pytest.mark.parametrize("six", [True, False])
def test_confidence_may_be_missing_altogether(site: Site, six: bool) -> None:
    """A form, CSV and JSON are all valid without any confidence."""
    token = site.login()
    form = {key: value for key, value in ROW.items() if not (six and key == "confidence")}
    assert site.client.post("/result", data={"token": token, **form}).status_code == 200
    line = "1 1 3 3 3 3" if six else "1,1,0.5,3,3,3,3"
    csv = site.client.post(
        "/result", data=line, content_type="text/csv", headers=bearer(token)
    ).get_json()
    item = {"image_id": 1, "category_id": 1, "bbox": [3, 3, 1, 1]} | ({} if six else {"score": 0.5})
    new = site.client.post("/result", json=[item], headers=bearer(token)).get_json()
    assert (csv["stored"], new["stored"]) == (1, 1)
    rows = site.contest.database.connection.execute("select content from answers").fetchall()
    assert len({bytes(row["content"]) for row in rows}) == 1


def test_an_empty_post_is_taken(site: Site) -> None:
    """A post without image_name gets 200 and stores no box, as in the old protocol."""
    token = site.login()
    answer = site.client.post("/result", data={"token": token})
    assert (answer.status_code, answer.data) == (200, b"Result stored in the server database\n")
    assert "no rows were stored: the form has no 'image_name'." == answer.headers[DETAIL]


def test_a_repeated_single_field_counts_once(site: Site) -> None:
    """The first value counts when token or image_name of /image is repeated."""
    token = site.login()
    body = f"token={token}&token=x&image_name=2&image_name=3"
    answer = site.client.post("/image", data=body, content_type="application/x-www-form-urlencoded")
    assert answer.headers["Content-Disposition"] == "attachment; filename=2.jpg"


def test_query_strings_of_a_post_are_ignored_but_for_the_token(site: Site) -> None:
    """The fields of a POST come from its body; only the token may stand in the query."""
    token = site.login()
    answer = site.client.post(f"/image?token={token}&image_name=2")
    assert answer.status_code == 400
    assert b"image_name" in answer.data


@pytest.mark.parametrize("name", ["12.jpg", "12.JPEG", "012", "0", "999999", "-1"])
def test_posted_image_names_of_old_clients_are_taken(site: Site, name: str) -> None:
    """Image names are stored as old clients post them; unknown ones are flagged."""
    token = site.login()
    answer = site.client.post(
        "/result",
        data={"token": token, **ROW, "image_name": name},
        headers={"Accept": "application/json"},
    ).get_json()
    assert answer["stored"] == 1
    assert bool(answer["flagged"]) == (name in ("0", "999999", "-1"))


def test_multipart_forms_are_taken(site: Site) -> None:
    """A multipart form works like an urlencoded one, also with hundreds of boxes."""
    token = site.login()
    fields = {"token": token} | {key: [value] * 300 for key, value in ROW.items()}
    answer = site.client.post("/result", data=fields, content_type="multipart/form-data")
    assert answer.status_code == 200
    status = site.client.get("/status", headers=bearer(token)).get_json()
    assert status["detections"] == 300


def test_problem_details_name_every_fault(site: Site) -> None:
    """A new client gets code, sentence and the list of faults."""
    token = site.login()
    broken = {"token": token, **ROW, "xmin": "a", "CLASS_ID": ["1", "2"]}
    answer = site.client.post("/result", data=broken, headers={"Accept": "application/json"})
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(answer.data)
    assert (problem["status"], problem["code"]) == (406, "lists_unequal")
    assert problem["faults"] == [
        "CLASS_ID has 2 values and image_name has 1",
        "row 1: xmin 'a' is not a number",
    ]


@pytest.mark.parametrize("accept", [None, "*/*", "application/json"])
def test_the_home_page_leads_old_programs_to_the_old_site(site: Site, accept: str | None) -> None:
    """For a program the root redirects as in 2015-2019."""
    answer = site.client.get("/", headers={} if accept is None else {"Accept": accept})
    assert (answer.status_code, answer.headers["Location"]) == (302, "http://lpirc.net/")


def test_the_home_page_leads_a_browser_to_the_help(site: Site) -> None:
    """A person with a browser on a closed network finds the help, which is on the same server."""
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    answer = site.client.get("/", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/help")
    assert site.client.get("/help").status_code == 200


def test_an_answer_is_stored_with_the_address_that_it_came_from(site: Site) -> None:
    """The record says which machine has sent an answer."""
    token = site.login()
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "text/csv"}
    came = {"REMOTE_ADDR": "10.0.0.9"}
    for line in ("1,1,0.5,1,1,2,2", "2,1,0.5,1,1,2,2"):
        answer = site.client.post("/result", data=line, headers=sent, environ_overrides=came)
        assert answer.status_code == 200
        came = {"REMOTE_ADDR": "10.0.0.10"}
    rows = site.contest.database.connection.execute("select address from answers order by rowid")
    assert ["10.0.0.9", "10.0.0.10"] == [row[0] for row in rows]


def test_help_is_free_and_starts_nothing(site: Site) -> None:
    """The help needs no login, begins as in the old protocol, and states the limits."""
    answer = site.client.get("/help")
    assert answer.data.startswith(b"\nValid URLs:\n")
    assert b"32 MiB and 200000 boxes" in answer.data
    assert site.client.get("/board").status_code == 404
    rows = site.contest.database.connection.execute("select * from sessions").fetchall()
    assert rows == []


@pytest.mark.parametrize("path", ["/image/1", "/zipimages?image_name=1"])
def test_asking_for_the_head_of_an_image_is_not_fetching_it(site: Site, path: str) -> None:
    """Only images whose bytes were sent count as processed; HEAD sends none."""
    headers = bearer(site.login())

    def fetched() -> int:
        return int(site.client.get("/status", headers=headers).get_json()["images_fetched"])

    head = site.client.head(path, headers=headers)
    assert (head.status_code, head.data) == (200, b"")
    assert fetched() == 0
    assert site.client.get(path, headers=headers).status_code == 200
    assert fetched() > 0


def test_a_missing_image_is_told_once(site: Site) -> None:
    """A missing file gives the operator one alarm, however many requests ask for it."""
    headers = bearer(site.login())
    paths = [Path(site.contest.images[n].path) for n in (4, 5)]
    for path in paths:
        path.unlink()
    for number in (5, 5, 6, 5):
        assert site.client.get(f"/image/{number}", headers=headers).status_code == 500
    assert site.client.get("/status", headers=headers).status_code == 200
    texts = [n.text for n in notices_of(site.contest.database.connection, 1) if n.level == "alarm"]
    assert [str(path) in text for path, text in zip(paths, texts, strict=True)] == [True, True]


def test_status_does_not_need_the_disk(site: Site) -> None:
    """A contestant gets the status even while the disk takes no writes."""
    headers = bearer(site.login())
    with site.contest.database.write():
        status = site.client.get("/status", headers=headers)
    assert (status.status_code, status.get_json()["state"]) == (200, "RUNNING")


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("application/x-www-form-urlencoded", b'[{"image_id": 1}]', "application/json"),
        ("", b' {"image_id": 1}', "application/json"),
        ("", b"1,1,0.5,3,3,3,3\n", "text/csv"),
        ("application/x-www-form-urlencoded", b"\n1 1 3 3 3 3\n2 1 3 3 3 3", "text/csv"),
        ("", b"image_id,class_id,confidence,xmin,ymin,xmax,ymax\n", "text/csv"),
        ("", b"\xef\xbb\xbf1,1,0.5,3,3,3,3\n", "text/csv"),
        ("", b"\xef\xbb\xbf[]", "application/json"),
        ("", b"1,,0.5,58,3,3,3\n", "text/csv"),
    ],
)
def test_json_and_csv_that_are_sent_as_a_form_are_refused(
    site: Site, kind: str, body: bytes, words: str
) -> None:
    """JSON or CSV under the form type is refused, with the type to send."""
    token = site.login()
    headers = bearer(token) | {"Content-Type": kind}
    answer = site.client.post("/result", data=body, headers=headers)
    assert answer.status_code == 415
    assert f"send it with 'Content-Type: {words}'" in answer.get_data(as_text=True)
    status = site.client.get("/status", headers=bearer(token)).get_json()
    assert status["answers"] == 0


@pytest.mark.parametrize("body", [b"", b"token", b"&&", b"token=x"])
def test_a_form_of_the_token_alone_is_taken(site: Site, body: bytes) -> None:
    """A form that has nothing but a token is an empty answer, as in the old protocol."""
    answer = site.client.post("/result", data=body, headers=bearer(site.login()))
    assert (answer.status_code, answer.data) == (200, b"Result stored in the server database\n")


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", ""])
def test_a_json_login_is_told_what_to_send(site: Site, kind: str) -> None:
    """A JSON login is told to send a form, rather than that a field is missing."""
    body = json.dumps({"username": "me", "password": "practice"})
    answer = site.client.post("/login", data=body, headers={"Content-Type": kind})
    assert answer.status_code == 415
    assert b"send the body 'username=NAME&password=PASSWORD'" in answer.data


def test_classes_are_told_before_the_login_and_after_it(site: Site) -> None:
    """Class ids and names come as lines, as JSON on request, and in /help."""
    expected = [{"id": number, "name": name} for number, name in site.contest.classes.items()]
    for _ in range(2):
        assert site.client.get("/classes", headers={"Accept": "application/json"}).json == expected
        text = site.client.get("/classes")
        assert text.content_type == "text/plain; charset=utf-8"
        assert text.text == "".join(f"{row['id']} {row['name']}\n" for row in expected)
        site.login()
    first = expected[0]
    assert f"{first['id']} {first['name']}" in site.client.get("/help").text


@pytest.mark.parametrize("code", [*range(0x20), 0x7F, 0x85, 0x2028])
def test_control_characters_are_quoted_harmlessly(site: Site, code: int) -> None:
    """Control characters in a request break no header, and the log has the status that was sent."""
    headers = bearer(site.login())
    text = f"1{chr(code)}"
    wrong = ROW | {"image_name": text + "x"}
    for answer in (
        site.client.get("/image", query_string={"image_name": text}, headers=headers),
        site.client.post("/image", data={"image_name": text}, headers=headers),
        site.client.post("/result", data=wrong, headers=headers),
    ):
        assert answer.status_code == 406
        assert answer.headers["X-Referee-Detail"].isprintable()
    site.client.get(f"/image/1%{code % 256:02x}", headers=headers)
    assert site.client.get("/status", headers=headers).status_code == 200
    logged = requests_of(site.contest.database.connection, 1)
    assert all(request.path.isprintable() for request in logged)
    assert [406, 406, 406] == [request.status for request in logged][1:4]


CSV_ROW = "{image} 1 {confidence} 3 3 3 3"
JSON_ROW = '{{"image_id": {image}, "category_id": 1, "bbox": [3, 3, 1, 1], "score": {confidence}}}'


@pytest.mark.parametrize(
    ("kind", "row", "text", "told"),
    [
        ("text/csv", CSV_ROW, "{}\n{}", "line 2"),
        ("application/json", JSON_ROW, "[{},{}]", "row 2"),
    ],
)
def test_receipts_and_refusals_count_rows_from_one(
    site: Site, kind: str, row: str, text: str, told: str
) -> None:
    """The same row of a post has the same number in a receipt and in a refusal."""
    headers = bearer(site.login()) | {"Content-Type": kind}
    good = row.format(image=1, confidence=0.5)
    data = text.format(good, row.format(image=0, confidence=0.5))
    receipt = site.client.post("/result", data=data, headers=headers).json
    assert [{"row": 2, "reason": "unknown image"}] == receipt["flagged"]
    data = text.format(good, row.format(image=0, confidence='"x"'))
    refused = site.client.post("/result", data=data, headers=headers)
    assert f"{told}, " in refused.headers["X-Referee-Detail"]


def test_refused_answers_are_kept_with_their_reasons(site: Site) -> None:
    """A refused answer leaves its reason; stored ones, late ones and other requests leave none."""
    headers = bearer(site.login())
    csv = headers | {"Content-Type": "text/csv"}
    site.client.post("/result", data="1 1 0.5 3 3 3 3", headers=csv)
    site.client.post("/result", data="1 x 0.5 3 3 3 3", headers=csv)
    site.client.post("/result", data={"image_name": "1"}, headers=headers)
    site.client.get("/image/0", headers=headers)
    site.client.get("/result", headers=headers)
    site.clock.advance(601)
    row = {"image_name": "1", "CLASS_ID": "1"} | dict.fromkeys(("xmin", "ymin", "xmax", "ymax"), 3)
    assert 401 == site.client.post("/result", data=row, headers=headers).status_code
    first, second = refused_answers_of(site.contest.database.connection, 1)
    assert "Nothing was stored: line 1, class_id: 'x' is not a whole number." == first
    assert second.startswith("Nothing was stored: CLASS_ID has 0 values and image_name has 1")


@pytest.mark.parametrize(
    ("kind", "full", "lost"),
    [
        ("text/csv", "1 1 0.5 3 3 3 3", "1 1 3 3 3 3"),
        (
            "application/json",
            '[{"image_id": 1, "category_id": 1, "bbox": [3, 3, 1, 1], "score": 0.5}]',
            '[{"image_id": 1, "category_id": 1, "bbox": [3, 3, 1, 1]}]',
        ),
    ],
)
def test_a_receipt_says_that_the_confidence_is_missing(
    site: Site, kind: str, full: str, lost: str
) -> None:
    """A post that lost its column of confidences is stored, and its receipt says so."""
    headers = bearer(site.login()) | {"Content-Type": kind}
    assert [] == site.client.post("/result", data=full, headers=headers).json["remarks"]
    (remark,) = site.client.post("/result", data=lost, headers=headers).json["remarks"]
    assert remark.startswith("confidence missing: ")
