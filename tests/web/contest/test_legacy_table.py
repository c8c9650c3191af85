# SPDX-License-Identifier: Apache-2.0
"""The protocol of 2015-2019, row by row: status and bytes of every URL, by GET and by POST.

A row tells what a client sends and what the old referee answered. Where the old referee showed a
framework's page, which no client read, ours answers with one line of text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError, Unavailable
from referee.service.entry.admission import Admission
from tests.web.conftest import IMAGES, Site

BOTH = ("GET", "POST")
GOOD = {"username": "me", "password": "practice"}
ROW = {"image_name": "1", "CLASS_ID": "1", "confidence": "0.5"} | dict.fromkeys(
    ("xmin", "ymin", "xmax", "ymax"), "3"
)
MISMATCH = b"Result field length mismatch\n"
RANGE = b"Image index out of range\n"
DIGITS = b"Invalid Image index\n"
BAD_TOKEN = b"Invalid Token\n"
NO_LOGIN = b"Invalid username or password\n"
NO_DISPLAY = b"Display failed to start\n"

# URL, methods, token (good, bad, over or none), other fields, status, body (None: any).
TABLE: list[tuple[str, tuple[str, ...], str, dict[str, Any], int, bytes | None]] = [
    ("/", BOTH, "none", {}, 302, None),
    ("/help", BOTH, "none", {}, 200, None),
    ("/login/", BOTH, "none", GOOD, 404, None),
    ("/powermeter", BOTH, "good", {"player": "me"}, 404, None),
    ("/savecsv", BOTH, "good", {"player": "me"}, 404, None),
    *(
        (url, BOTH, "none", fields, 401, text)
        for url in ("/login", "/get_token")
        for fields, text in (
            ({}, b"Missing username or password\n"),
            ({"username": "me"}, b"Missing username or password\n"),
            ({"password": "practice"}, b"Missing username or password\n"),
            ({"username": "me", "password": "no"}, NO_LOGIN),
            ({"username": "me", "password": ""}, NO_LOGIN),
        )
    ),
    ("/verify", BOTH, "none", {}, 400, None),
    ("/verify", BOTH, "bad", {}, 401, BAD_TOKEN),
    ("/verify", BOTH, "over", {}, 401, BAD_TOKEN),
    ("/verify", BOTH, "good", {}, 200, b"Valid Token\n"),
    ("/no_of_images", ("GET",), "good", {}, 200, str(IMAGES).encode()),
    ("/no_of_images", ("POST",), "none", {}, 401, BAD_TOKEN),
    ("/no_of_images", ("POST",), "bad", {}, 401, b"Invalid User"),
    ("/no_of_images", ("POST",), "over", {}, 401, b"Invalid User"),
    ("/no_of_images", ("POST",), "good", {}, 200, str(IMAGES).encode()),
    *(
        (url, BOTH, token, {"image_name": image} if image is not None else {}, status, text)
        for url in ("/image", "/zipimages")
        for token, image, status, text in (
            ("none", "1", 400, None),
            ("bad", "1", 401, BAD_TOKEN),
            ("over", "1", 401, BAD_TOKEN),
            ("bad", "abc", 401, BAD_TOKEN),
            ("good", None, 400, None),
            ("good", "abc", 406, DIGITS),
            ("good", "1.jpg", 406, DIGITS),
            ("good", "-1", 406, DIGITS),
            ("good", " 1", 406, DIGITS),
            ("good", "", 500, None),
            ("good", "0", 406, RANGE),
            ("good", str(IMAGES + 1), 406, RANGE),
            ("good", "1", 200, None),
            ("good", "0000101", 200, None),
        )
    ),
    ("/image", BOTH, "good", {"image_name": "2"}, 200, None),
    ("/zipimages", BOTH, "good", {"image_name": "2"}, 406, RANGE),
    # The check of the display comes before the check of the token.
    ("/image_camera", BOTH, "none", {}, 500, NO_DISPLAY),
    ("/image_camera", BOTH, "bad", {"image_name": "1"}, 500, NO_DISPLAY),
    ("/image_camera", BOTH, "good", {"image_name": "1"}, 500, NO_DISPLAY),
    ("/result", ("GET",), "good", ROW, 405, None),
    *(
        ("/result", ("POST",), token, fields, status, text)
        for token, fields, status, text in (
            ("none", ROW, 400, None),
            ("bad", ROW, 401, BAD_TOKEN),
            ("over", ROW, 401, BAD_TOKEN),
            # A malformed answer after the end gets 401 too.
            ("over", ROW | {"xmin": []}, 401, BAD_TOKEN),
            ("over", ROW | {"xmin": "é"}, 401, BAD_TOKEN),
            ("bad", ROW | {"xmin": []}, 401, BAD_TOKEN),
            ("good", ROW | {"ymax": []}, 406, MISMATCH),
            ("good", ROW | {"image_name": ["1", "2"]}, 406, MISMATCH),
            ("good", ROW | {"ymax": ["3", "4"]}, 406, MISMATCH),
            ("good", ROW | {"xmin": "é"}, 406, MISMATCH),
            ("good", ROW | {"xmin": "three"}, 406, MISMATCH),
            ("good", {}, 200, b"Result stored in the server database\n"),
            ("good", ROW, 200, b"Result stored in the server database\n"),
            ("good", ROW | {"image_name": "0"}, 200, b"Result stored in the server database\n"),
            ("good", ROW | {"xmax": "-1"}, 200, b"Result stored in the server database\n"),
        )
    ),
    ("/logout", BOTH, "none", {}, 401, BAD_TOKEN),
    ("/logout", BOTH, "bad", {}, 401, BAD_TOKEN),
    ("/logout", BOTH, "over", {}, 401, BAD_TOKEN),
    ("/logout", BOTH, "good", {}, 200, b"Logout success\n"),
]


@pytest.mark.parametrize(("url", "methods", "token", "fields", "status", "text"), TABLE)
def test_row(
    site: Site,
    url: str,
    methods: tuple[str, ...],
    token: str,
    fields: dict[str, Any],
    status: int,
    text: bytes | None,
) -> None:
    """The answer is that of the old referee, byte for byte, for either method."""
    for method in methods:
        sent = dict(fields)
        if token != "none":
            sent["token"] = "x" if token == "bad" else site.login()
        if token == "over":
            site.clock.advance(601)
        answer = site.client.open(url, method=method, data=sent)
        assert answer.status_code == status, (method, answer.data)
        if text is not None:
            assert answer.data == text
            assert answer.content_type == "text/html; charset=utf-8"
            assert answer.content_length == len(text)
        elif status == 400:
            assert answer.content_type == "text/plain; charset=utf-8"
            assert answer.text == answer.headers["X-Referee-Detail"] + "\n"


def test_token_is_fit_for_every_client(site: Site) -> None:
    """A token has at most 200 characters, harmless ones that fit into command lines."""
    for url in ("/login", "/get_token"):
        answer = site.client.post(url, data=GOOD)
        assert answer.status_code == 200
        assert re.fullmatch(rb"[A-Za-z0-9_.-]{1,200}", answer.data)


def test_downloads(site: Site) -> None:
    """A download has its type, length and name, and its status is never 304."""
    token = site.login()
    headers = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT", "If-None-Match": "*"}
    for url, kind, name in (
        ("/image", "image/jpeg", "101.jpg"),
        ("/zipimages", "application/zip", "101.zip"),
    ):
        for method in BOTH:
            answer = site.client.open(
                url, method=method, data={"token": token, "image_name": "101"}, headers=headers
            )
            assert answer.status_code == 200
            assert answer.headers["Content-Type"] == kind
            assert answer.headers["Content-Disposition"] == f"attachment; filename={name}"
            assert int(answer.headers["Content-Length"]) == len(answer.data)


def test_file_that_is_gone(site: Site) -> None:
    """A file that cannot be read gives 500, for the image and for its archive."""
    token = site.login()
    Path(site.contest.images[4].path).unlink()
    for url, image in (("/image", "5"), ("/zipimages", "1")):
        answer = site.client.post(url, data={"token": token, "image_name": image})
        assert (answer.status_code, answer.data) == (500, b"Image not found\n")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unavailable("no meter"), b"Powermeter not connected\n"),
        (ConfigError("teams.csv: damaged"), NO_LOGIN),
        (OSError("disk"), NO_LOGIN),
    ],
)
def test_login_that_fails_inside(
    site: Site, monkeypatch: pytest.MonkeyPatch, error: Exception, text: bytes
) -> None:
    """A failed login gets 500: one text for the meter's fault, another for any other fault."""

    def fail(*arguments: Any) -> None:
        raise error

    monkeypatch.setattr(Admission, "login", fail)
    for method in BOTH:
        answer = site.client.open("/login", method=method, data=GOOD)
        assert (answer.status_code, answer.data) == (500, text)


def test_number_that_is_none_is_told(site: Site) -> None:
    """A header and the problem details add the reason that the old text leaves out."""
    data = {"token": site.login(), **ROW, "xmin": "é"}
    old = site.client.post("/result", data=data)
    assert "row 1: xmin" in old.headers["X-Referee-Detail"]
    new = site.client.post("/result", data=data, headers={"Accept": "application/json"})
    problem = json.loads(new.data)
    assert (problem["status"], problem["code"]) == (406, "not_a_number")
    assert problem["faults"] == ["row 1: xmin 'é' is not a number"]
