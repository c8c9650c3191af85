# SPDX-License-Identifier: Apache-2.0
"""Cheap refusals: strangers' tokens, long bodies and endless forms cost little."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

from referee.web.contest import answers as contest_answers
from referee.web.server.bodies import BEGINNING_BYTES, MAX_BODY_BYTES, SMALL_BODY_BYTES
from tests.web.conftest import Site

FORM = "application/x-www-form-urlencoded"


class Counted(io.RawIOBase):
    """A body without end that counts the bytes read from it."""

    def __init__(self, beginning: bytes = b"") -> None:
        self.beginning = beginning
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self.beginning[self.taken : self.taken + size].ljust(size, b"&")
        self.taken += size
        return data


@pytest.fixture
def unparsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail the test when an answer is parsed."""

    def never(*arguments: Any) -> None:
        raise AssertionError("the answer was parsed")

    for name in ("answer_format_of", "form_of"):
        monkeypatch.setattr(contest_answers, name, never)
    yield


def post(
    site: Site, path: str, body: Counted, length: int, kind: str = FORM, **headers: str
) -> Any:
    """Post a body of this length and kind."""
    environ = {"wsgi.input": body, "CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind}
    return site.client.post(path, headers=headers, environ_overrides=environ)


@pytest.mark.parametrize("token", ["x", "1." + "A" * 43, "A" * 201, "A" * 100_000, ""])
@pytest.mark.usefixtures("unparsed")
def test_answers_of_strangers_are_not_parsed(site: Site, token: str) -> None:
    """An answer with a stranger's token is refused without being parsed."""
    for where in (
        {"headers": {"Authorization": f"Bearer {token or 'x'}"}},
        {"data": f"token={token}&image_name=1", "content_type": FORM},
        {"data": {"token": token, "image_name": "1"}, "content_type": "multipart/form-data"},
        {"query_string": {"token": token}, "json": [{}]},
    ):
        answer = site.client.post("/result", **where)
        assert (answer.status_code, answer.data) == (401, b"Invalid Token\n")


@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x", ""])
@pytest.mark.usefixtures("unparsed")
def test_of_a_long_form_without_a_token_64_kib_are_read(site: Site, kind: str) -> None:
    """A form that is no answer and has no token in its first 64 KiB is read no further."""
    body = Counted()
    answer = post(site, "/result", body, MAX_BODY_BYTES, kind)
    assert (400, SMALL_BODY_BYTES) == (answer.status_code, body.taken)


@pytest.mark.parametrize("kind", ["application/json", "text/csv", "image/jpeg", FORM])
@pytest.mark.parametrize("token", [None, "x", "1." + "A" * 43])
def test_nothing_is_read_of_a_body_whose_head_has_no_good_token(
    site: Site, kind: str, token: str | None
) -> None:
    """A stranger's long body is refused by its head, where that says all."""
    if kind == FORM and token is None:
        return  # The form may have the token.
    body = Counted()
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer = post(site, "/result", body, MAX_BODY_BYTES, kind, **headers)
    assert (400 if token is None else 401, 0) == (answer.status_code, body.taken)


def test_of_a_long_answer_without_a_token_a_mebibyte_is_read(site: Site) -> None:
    """An answer may have its token behind its lists, so more of it is read."""
    body = Counted(b"image_name=1&")
    assert 400 == post(site, "/result", body, MAX_BODY_BYTES).status_code
    assert BEGINNING_BYTES == body.taken


@pytest.mark.parametrize("before", range(SMALL_BODY_BYTES - 60, SMALL_BODY_BYTES + 60, 7))
def test_a_token_may_lie_anywhere_behind_the_lists(site: Site, before: int) -> None:
    """A token that begins in the first 64 KiB and ends behind them is read whole."""
    token = site.login().encode()
    form = b"image_name=1&CLASS_ID=1&confidence=1&xmin=1&ymin=1&xmax=2&ymax=2&x="
    answer = site.client.post(
        "/result", data=form.ljust(before, b"x") + b"&token=" + token, content_type=FORM
    )
    assert (200, b"Result stored in the server database\n") == (answer.status_code, answer.data)


def test_the_rest_of_a_known_senders_answer_is_read(site: Site) -> None:
    """A team whose session takes no answers can read why: its body is read before."""
    session = site.login()
    sent = {"Authorization": f"Bearer {session}"}
    site.client.post("/logout", headers=sent)
    site.clock.advance(100_000)
    body = Counted()
    answer = post(site, "/result", body, MAX_BODY_BYTES, **sent)
    assert (401, MAX_BODY_BYTES) == (answer.status_code, body.taken)


def test_a_token_late_in_a_long_form_is_not_looked_for(site: Site) -> None:
    """A long form needs its token in the first mebibyte; a shorter one may have it anywhere."""
    token = site.login().encode()
    short = b"image_name=1&" * (BEGINNING_BYTES // 14) + b"token=" + token
    long = b"image_name=1&" * (BEGINNING_BYTES // 13 + 10) + b"token=" + token
    lists = b"&CLASS_ID=1"  # The answer has been parsed here: the refusal names its too few values.
    for body, status in ((short + lists, 406), (long + lists, 400)):
        answer = site.client.post("/result", data=body, content_type=FORM)
        assert answer.status_code == status


@pytest.mark.parametrize("path", ["/login", "/verify", "/image", "/zipimages", "/logout", "/help"])
def test_other_requests_have_small_bodies(site: Site, path: str) -> None:
    """A body over 64 KiB that is no answer is refused and not kept."""
    body = Counted()
    answer = post(site, path, body, SMALL_BODY_BYTES + 1)
    assert answer.status_code == 413
    assert b"at most 65536 bytes" in answer.data
    assert post(site, path, Counted(b"token=x&username=a&"), SMALL_BODY_BYTES).status_code != 413


def test_a_body_over_all_limits_is_not_read(site: Site) -> None:
    """A body whose announced length is over all limits is refused unread."""
    token = site.login()
    body = Counted()
    for path in ("/result", "/image"):
        answer = post(site, path, body, MAX_BODY_BYTES + 1, Authorization=f"Bearer {token}")
        assert answer.status_code == 413
    assert body.taken == 0


@pytest.mark.parametrize("cut", [3, 40, 200])
def test_a_multipart_answer_that_breaks_off_is_refused_whole(site: Site, cut: int) -> None:
    """A form without its last boundary has lost fields: nothing of it is stored."""
    token = site.login()
    names = ("image_name", "CLASS_ID", "xmin", "ymin", "xmax", "ymax")
    part = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n1\r\n'
    whole = "".join(part.format(name) for name in names) + "--x--"
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=x"}
    answer = site.client.post("/result", data=whole[:-cut], headers=sent)
    assert (400, True) == (answer.status_code, answer.data.endswith(b").\n"))
    assert b"Nothing was stored: the multipart form is malformed or breaks off" in answer.data
    counted = site.client.get("/status", headers={"Authorization": f"Bearer {token}"}).get_json()
    assert 0 == counted["answers"]


def test_an_endless_form_is_refused(site: Site) -> None:
    """A form with more fields than any answer has is refused without being parsed."""
    token = site.login()
    body = Counted(f"token={token}&".encode())
    answer = post(site, "/result", body, 2_000_000)
    assert answer.status_code == 413
    assert b"form fields" in answer.data


def test_an_answer_for_an_old_session_is_refused_before_it_is_parsed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer long after the end costs no more than a look at the session."""
    token = site.login()
    site.clock.advance(661)
    monkeypatch.delattr(contest_answers, "answer_format_of")
    answer = site.client.post("/result", json=[], headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.data) == (401, b"Invalid Token\n")


@pytest.mark.parametrize(
    ("data", "kind"),
    [("image_name=1", FORM), ("x", "text/csv"), ("[", "application/json"), ("a", "text/plain")],
)
def test_a_faulty_answer_after_the_end_is_late_first(site: Site, data: str, kind: str) -> None:
    """A malformed answer after the end is refused because the session is over, as in old years."""
    token = site.login()
    headers = {"Authorization": f"Bearer {token}"}
    answer = site.client.post("/result", data=data, content_type=kind, headers=headers)
    assert answer.status_code in (400, 406, 415)
    site.clock.advance(600)
    answer = site.client.post("/result", data=data, content_type=kind, headers=headers)
    assert (answer.status_code, answer.data) == (401, b"Invalid Token\n")


def test_a_second_device_changes_nothing_where_it_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request with the token, and a repeated login, gets 403 and the sentence."""
    form = {"username": "ants", "password": "practice"}
    token = site.client.post("/login", data=form).text
    section = type(site.contest.config.contest)
    monkeypatch.setattr(section, "refuses_second_address", True)
    assert "One device at a time" in site.client.get("/help").text
    other: Any = {"environ_base": {"REMOTE_ADDR": "10.0.0.9"}}
    asked = [
        site.client.post("/login", data=form, **other),
        site.client.post("/verify", data={"token": token}, **other),
        site.client.post("/no_of_images", data={"token": token}, **other),
        site.client.get(f"/image/1?token={token}", **other),
        site.client.get(f"/status?token={token}", **other),
        site.client.post("/result", data={"token": token, "image_name": "1"}, **other),
        site.client.post("/logout", data={"token": token}, **other),
    ]
    assert {403} == {answer.status_code for answer in asked}
    assert all("this session began from 127.0.0.1" in answer.text for answer in asked)
    status: Any = site.client.get(f"/status?token={token}").json
    assert ("RUNNING", 0, 0) == (status["state"], status["answers"], status["images_fetched"])
