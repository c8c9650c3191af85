# SPDX-License-Identifier: Apache-2.0
"""The rules of the protocol of 2015-2019, in a session's order; each docstring is a name."""

from __future__ import annotations

import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Sequence

from client_sample.conformance.http import BrokenRule, Server, demand

Rule = Callable[[Server], None]

BAD = b"Invalid Token\n"
MISMATCH = b"Result field length mismatch\n"
RANGE = b"Image index out of range\n"
STORED = b"Result stored in the server database\n"
BOTH = ("GET", "POST")
BOX = {"CLASS_ID": "1", "confidence": "0.5", "xmin": "1", "ymin": "1", "xmax": "9", "ymax": "9"}


def help_is_free(server: Server) -> None:
    """/help answers by GET and POST before any login"""
    for method in BOTH:
        answer = server.ask(method, "/help")
        demand(answer, 200)
        if not answer.body.startswith(b"\nValid URLs:\n"):
            raise BrokenRule(f"it begins with {answer.body[:20]!r}")


def urls_are_exact(server: Server) -> None:
    """an unknown URL is 404, also with a slash at its end; a wrong method 405"""
    for path in ("/login/", "/nowhere"):
        demand(server.ask("POST", path, {}), 404)
    demand(server.ask("GET", "/result"), 405)


def login_needs_both_fields(server: Server) -> None:
    """a login without user name or password is 401 'Missing username or password'"""
    for path in ("/login", "/get_token"):
        for fields in ({}, {"username": server.user}, {"password": server.password}):
            answer = server.ask("POST", path, fields)
            demand(answer, 401, b"Missing username or password\n")


def login_needs_the_password(server: Server) -> None:
    """a wrong password is 401 'Invalid username or password'"""
    fields = {"username": server.user, "password": server.password + "x"}
    for method in BOTH:
        answer = server.ask(method, "/login", fields)
        demand(answer, 401, b"Invalid username or password\n")


def foreign_token_opens_nothing(server: Server) -> None:
    """a token that was not given out is 401 'Invalid Token'"""
    for path in ("/verify", "/image", "/zipimages", "/result", "/logout"):
        for token in ("x", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", ""):
            demand(server.ask("POST", path, {"token": token, "image_name": "1"}), 401, BAD)
    demand(server.ask("POST", "/no_of_images", {"token": "x"}), 401, b"Invalid User")


def missing_token(server: Server) -> None:
    """without a token: 400, but 401 'Invalid Token' from /no_of_images and /logout"""
    for path in ("/verify", "/image", "/zipimages", "/result"):
        demand(server.ask("POST", path, {"image_name": "1"}), 400)
    for path in ("/no_of_images", "/logout"):
        demand(server.ask("POST", path, {}), 401, BAD)


def login_gives_a_token(server: Server) -> None:
    """a good login gives a token of at most 200 characters A-Z a-z 0-9 _ . - and no newline"""
    answer = server.ask("POST", "/login", {"username": server.user, "password": server.password})
    demand(answer, 200)
    if not re.fullmatch(rb"[A-Za-z0-9_.-]{1,200}", answer.body):
        raise BrokenRule(f"the token is {answer.body[:80]!r}")
    server.token = answer.body.decode("ascii")


def login_again_gives_the_same(server: Server) -> None:
    """logging in again gives the same token, by GET and POST, at both URLs"""
    fields = {"username": server.user, "password": server.password}
    for path in ("/login", "/get_token"):
        for method in BOTH:
            demand(server.ask(method, path, fields), 200, server.token.encode())


def token_is_verified(server: Server) -> None:
    """/verify says 'Valid Token'"""
    for method in BOTH:
        demand(server.ask(method, "/verify", {"token": server.token}), 200, b"Valid Token\n")


def count_is_a_number(server: Server) -> None:
    """/no_of_images gives digits and nothing else"""
    answer = server.post("/no_of_images")
    demand(answer, 200)
    if not re.fullmatch(rb"[1-9][0-9]*", answer.body):
        raise BrokenRule(f"it says {answer.body[:40]!r}")
    server.images = int(answer.body)


def image_numbers_are_judged(server: Server) -> None:
    """image numbers that are none are 406, with 'Invalid Image index' or 'out of range'"""
    for path in ("/image", "/zipimages"):
        for text in ("abc", "1.jpg", "-1", "1.5"):
            demand(server.post(path, image_name=text), 406, b"Invalid Image index\n")
        for text in ("0", str(server.images + 1), "9" * 30):
            demand(server.post(path, image_name=text), 406, RANGE)
        demand(server.post(path), 400)
    if server.images > 1:
        demand(server.post("/zipimages", image_name="2"), 406, RANGE)


def image_is_sent(server: Server) -> None:
    """/image sends the image as an attachment K.jpg with its length, by GET and POST"""
    for method in BOTH:
        for text in ("1", "001"):
            answer = server.ask(method, "/image", {"token": server.token, "image_name": text})
            demand(answer, 200)
            _require_download(answer.headers, len(answer.body), r"1\.(jpg|png)")


def archive_is_sent(server: Server) -> None:
    """/zipimages sends a zip of the next hundred images, flat, the last one shorter"""
    last = (server.images - 1) // 100 * 100 + 1
    for first in sorted({1, last}):
        answer = server.post("/zipimages", image_name=str(first))
        demand(answer, 200)
        _require_download(answer.headers, len(answer.body), rf"{first}\.zip")
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            names = [name.rpartition(".")[0] for name in archive.namelist()]
        end = min(first + 100, server.images + 1)
        if names != [str(number) for number in range(first, end)]:
            raise BrokenRule(f"archive {first} holds {names[:3]}… ({len(names)} members)")


def answers_are_stored(server: Server) -> None:
    """/result stores what honest clients have sent: boxes of any shape, names with .jpg, nan"""
    plain: dict[str, str] = {}
    for changes in (
        plain,
        {"image_name": "1.jpg"},
        {"image_name": "0"},
        {"CLASS_ID": "205"},
        {"xmin": "-10", "xmax": "-20"},
        {"confidence": "1e-05"},
        {"confidence": "nan"},
    ):
        demand(server.post("/result", **{"image_name": "1", **BOX, **changes}), 200, STORED)
    demand(server.post("/result"), 200, STORED)


def thousands_of_boxes(server: Server) -> None:
    """/result takes 10,000 boxes of many images in one post of a megabyte"""
    fields = {name: [value] * 10_000 for name, value in BOX.items()}
    demand(server.post("/result", image_name=["1"] * 10_000, **fields), 200, STORED)


def unequal_lists(server: Server) -> None:
    """lists of different length are 406 'Result field length mismatch'"""
    faults: list[dict[str, list[str]]] = [{"ymax": []}, {"image_name": ["1", "1"]}]
    for changes in faults:
        demand(server.post("/result", **{"image_name": "1", **BOX, **changes}), 406, MISMATCH)


def continue_is_sent_at_once(server: Server) -> None:
    """'Expect: 100-continue' is answered before the body comes"""
    body = f"token={server.token}".encode()
    head = _head(server, "1.1", len(body), "Expect: 100-continue", "Connection: close")
    received = server.raw(head, b"HTTP/1.1 100", body)
    if b"HTTP/1.1 200" not in received:
        raise BrokenRule(f"it answered {received[:60]!r}")


def http_1_0_is_served(server: Server) -> None:
    """a client of HTTP/1.0 gets its answer and the end of the connection"""
    body = f"token={server.token}".encode()
    received = server.raw(_head(server, "1.0", len(body)) + body)
    if not received.startswith(b"HTTP/1.") or not received.endswith(STORED):
        raise BrokenRule(f"it answered {received[:60]!r}")


def many_connections(server: Server) -> None:
    """32 connections are served at once"""
    with ThreadPoolExecutor(32) as pool:
        asked = [pool.submit(server.post, "/image", image_name="1") for _ in range(64)]
        for future in asked:
            demand(future.result(), 200)


def logout_ends_the_session(server: Server) -> None:
    """/logout says 'Logout success'"""
    demand(server.post("/logout"), 200, b"Logout success\n")


def nothing_is_open_after_the_end(server: Server) -> None:
    """after the end every request with the token is 401, a second logout too"""
    for path in ("/verify", "/image", "/zipimages", "/result", "/logout"):
        fields = {"image_name": "1"} if path != "/result" else {"image_name": "1", **BOX}
        demand(server.post(path, **fields), 401, BAD)
    demand(server.post("/no_of_images"), 401, b"Invalid User")


def _require_download(headers: object, length: int, name: str) -> None:
    fields = dict(headers)  # type: ignore[call-overload]
    if int(fields.get("content-length", -1)) != length:
        raise BrokenRule(
            f"Content-Length is {fields.get('content-length')} and {length} bytes came"
        )
    disposition = str(fields.get("content-disposition"))
    if not re.fullmatch(rf'attachment; filename="?{name}"?', disposition):
        raise BrokenRule(f"Content-Disposition is {disposition!r}")


def _head(server: Server, version: str, length: int, *lines: str) -> bytes:
    text = (
        f"POST /result HTTP/{version}",
        f"Host: {server.place[0]}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {length}",
        *lines,
    )
    return "\r\n".join((*text, "", "")).encode()


BEFORE: Sequence[Rule] = (
    help_is_free,
    urls_are_exact,
    login_needs_both_fields,
    login_needs_the_password,
    foreign_token_opens_nothing,
    missing_token,
)
DURING: Sequence[Rule] = (
    login_gives_a_token,
    login_again_gives_the_same,
    token_is_verified,
    count_is_a_number,
    image_numbers_are_judged,
    image_is_sent,
    archive_is_sent,
    answers_are_stored,
    thousands_of_boxes,
    unequal_lists,
    continue_is_sent_at_once,
    http_1_0_is_served,
    many_connections,
)
AFTER: Sequence[Rule] = (logout_ends_the_session, nothing_is_open_after_the_end)
