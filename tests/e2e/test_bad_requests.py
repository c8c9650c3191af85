# SPDX-License-Identifier: Apache-2.0
"""Wrong requests of contestants' programs, over a real socket: one clear answer, nothing stored."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.conftest import IMAGES, Material
from tests.support.running import PATIENCE_S, Program, get, program, request

pytestmark = pytest.mark.slow

Contestant = tuple[Program, str]


@pytest.fixture(scope="module")
def contestant(
    tmp_path_factory: pytest.TempPathFactory, material: Material
) -> Iterator[Contestant]:
    """Return a rehearsal with a running session, and its token."""
    folder = tmp_path_factory.mktemp("bad")
    arguments = ["practice", "--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    arguments += ["--images", str(material.images), "--ground-truth", str(material.ground_truth)]
    arguments += ["--data", str(folder / "data"), "--meter", "none"]
    with program(arguments, folder) as running:
        status, token = request(f"{running.contest}/login", b"username=me&password=practice", {})
        assert status == 200
        yield running, token.decode()


def bearer(token: str, **headers: str) -> dict[str, str]:
    """Return the headers of an authorised request."""
    return {"Authorization": f"Bearer {token}", **headers}


def stored(contestant: Contestant) -> tuple[int, int]:
    """Return the numbers of answers and detections that the session has."""
    running, token = contestant
    status = json.loads(get(f"{running.contest}/status", **bearer(token))[1])
    return status["answers"], status["detections"]


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"", 401, b"Missing username or password\n"),
        (b"username=me", 401, b"Missing username or password\n"),
        (b"username=me&password=wrong", 401, b"Invalid username or password\n"),
        (b"username=&password=practice", 401, b"Invalid username or password\n"),
    ],
)
def test_login_is_refused(contestant: Contestant, body: bytes, status: int, text: bytes) -> None:
    """A login with something missing or wrong gets the old referee's text."""
    assert request(f"{contestant[0].contest}/login", body, {}) == (status, text)


def test_another_team_is_told_who_runs(contestant: Contestant) -> None:
    """A right login of another team during a session is refused with the reason."""
    status, text = request(f"{contestant[0].contest}/login", b"username=you&password=practice", {})
    assert status == 401
    assert text.startswith(b"A session of 'me' is running; it ends in ")


@pytest.mark.parametrize(
    "token", ["1.AAAA", "x", "", "999999999999999999999.a", "é", "1." + "A" * 43]
)
@pytest.mark.parametrize("path", ["/verify", "/image", "/zipimages", "/result", "/logout"])
def test_foreign_token_is_refused(contestant: Contestant, path: str, token: str) -> None:
    """A token that this contest did not give is refused."""
    body = f"token={token}&image_name=1".encode()
    assert request(f"{contestant[0].contest}{path}", body, {}) == (401, b"Invalid Token\n")


@pytest.mark.parametrize("path", ["/verify", "/image", "/zipimages", "/result"])
def test_no_token_is_a_bad_request_that_says_what_to_do(contestant: Contestant, path: str) -> None:
    """A request without a token gets the old referee's 400 page, and the page names the remedy."""
    status, text = request(f"{contestant[0].contest}{path}", b"image_name=1", {})
    assert status == 400
    assert b"log in with POST /login" in text


@pytest.mark.parametrize(
    ("image", "status", "text"),
    [
        ("0", 406, b"Image index out of range\n"),
        (str(IMAGES + 1), 406, b"Image index out of range\n"),
        ("1" + "0" * 30, 406, b"Image index out of range\n"),
        ("-1", 406, b"Invalid Image index\n"),
        ("1.5", 406, b"Invalid Image index\n"),
        ("abc", 406, b"Invalid Image index\n"),
    ],
)
@pytest.mark.parametrize("how", ["/image?image_name={}", "/image/{}", "/zipimages?image_name={}"])
def test_image_number_is_refused(
    contestant: Contestant, how: str, image: str, status: int, text: bytes
) -> None:
    """A number of no image gets the old text; problem details add a sentence."""
    running, token = contestant
    url = running.contest + how.format(image)
    assert get(url, **bearer(token)) == (status, text)
    code, details = get(url, **bearer(token, Accept="application/json"))
    assert code == status
    assert f"1 to {IMAGES}" in json.loads(details)["detail"]


BOX = "&CLASS_ID=1&confidence=0.5&xmin=1&ymin=2&xmax=3"


@pytest.mark.parametrize(
    ("kind", "body", "status", "words"),
    [
        ("form", f"image_name=1{BOX}", 406, "ymax has 0 values and image_name has 1"),
        ("form", f"image_name=1{BOX}&ymax=4&ymax=5", 406, "ymax has 2 values and image_name has 1"),
        ("form", f"image_name=1{BOX}&ymax=four", 406, "row 1: ymax 'four' is not a number"),
        ("form", f"image_name=one{BOX}&ymax=4", 406, "row 1: image_name 'one' is not a number"),
        ("text/csv", "1 1 0.5 1 2 3", 200, ""),
        ("text/csv", "1 1 0.5 1 2 3 4\n1 1 0.5 1 2", 400, "line 2 has 5 fields, not 7"),
        ("text/csv", "1 1 0.5 1 2 3 x", 400, "line 1, ymax: 'x' is not a number"),
        ("application/json", "[{}]", 400, "row 1 has no image_id"),
        ("application/json", "[", 400, "not JSON"),
        ("application/json", '{"image_id": 1}', 400, "are a list of"),
        ("application/xml", "<a/>", 415, "'application/xml' is not understood"),
    ],
)
def test_malformed_answer_is_refused_whole(
    contestant: Contestant, kind: str, body: str, status: int, words: str
) -> None:
    """A post with a fault changes nothing; its problem details name the fault."""
    running, token = contestant
    before = stored(contestant)
    kind = "application/x-www-form-urlencoded" if kind == "form" else kind
    headers = bearer(token, Accept="application/json", **{"Content-Type": kind})
    code, text = request(f"{running.contest}/result", body.encode(), headers)
    assert code == status
    if status != 200:
        assert words in json.loads(text)["detail"]
        assert stored(contestant) == before


def test_unequal_lists_get_the_old_text(contestant: Contestant) -> None:
    """An old client sees its familiar text; a header holds the faults."""
    running, token = contestant
    body = f"token={token}&image_name=1{BOX}".encode()
    assert request(f"{running.contest}/result", body, {}) == (
        406,
        b"Result field length mismatch\n",
    )


def test_not_a_number_is_taken_and_flagged(contestant: Contestant) -> None:
    """NaN is accepted as in the old protocol, and flagged as a row that can never match."""
    running, token = contestant
    headers = bearer(token, **{"Content-Type": "text/csv"})
    code, text = request(f"{running.contest}/result", b"1 1 nan 1 2 3 4\n1 1 0.5 1 2 3 4", headers)
    answer = json.loads(text)
    assert code == 200
    assert answer["stored"] == 2
    assert answer["flagged"] == [{"row": 1, "reason": "confidence not finite"}]
    assert answer["late"] is False


def test_a_million_boxes_are_refused_with_the_limit(contestant: Contestant) -> None:
    """A post over the limits is refused with the limit in the answer, and the server goes on."""
    running, token = contestant
    before = stored(contestant)
    headers = bearer(token, **{"Content-Type": "text/csv"})
    body = b"1 1 0.5 1 2 3 4\n" * 1_000_000
    code, text = request(f"{running.contest}/result", body, headers)
    assert code == 413
    assert b"at most 200000 are taken" in text
    assert stored(contestant) == before


def test_a_body_over_the_limit_is_refused_unread(contestant: Contestant) -> None:
    """The server refuses a body whose announced length is over the limit before it arrives."""
    answer = _raw(contestant, b"", length=10**12)
    assert b" 413 " in answer.splitlines()[0]
    assert b"33554432" in answer


def test_a_truncated_body_stores_nothing(contestant: Contestant) -> None:
    """A body shorter than its Content-Length is not stored, and the client learns why."""
    before = stored(contestant)
    answer = _raw(contestant, f"image_name=1{BOX}&ymax=4".encode(), length=500, shut=True)
    assert b" 400 " in answer.splitlines()[0]
    assert stored(contestant) == before


@pytest.mark.parametrize("path", ["/result", "/image", "/login"])
@pytest.mark.parametrize("known", [True, False], ids=["team", "stranger"])
def test_malformed_chunks_are_refused_with_the_reason(
    contestant: Contestant, path: str, known: bool
) -> None:
    """Malformed chunks get 400 from anybody, and the connection ends."""
    running, token = contestant
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        f"Authorization: Bearer {token if known else 'x'}\r\n\r\n"
    )
    received = _to_the_end(running, head.encode() + b"zz\r\n")
    assert received.count(b"HTTP/1.1 ") == 1
    if known or path != "/result":  # On /result the token is judged before the body is read.
        assert b" 400 " in received.splitlines()[0]
        assert b"the chunks of the body break off or are malformed" in received
    else:
        assert b" 401 " in received.splitlines()[0]


NEXT = b"GET /classes HTTP/1.1\r\nHost: x\r\n\r\n"
"""A request that nobody sent: it hides in the body of another one."""

CHUNKED = b"Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 6\r\n" + CHUNKED, b"0\r\n\r\n"),
        (CHUNKED + b"\r\nContent-Length: 6", b"0\r\n\r\n"),
        (b"Content-Length: 0\r\nContent-Length: 36", b""),
        (b"Content-Length: 0, 0", b""),
        (b"Content-Length: +0", b""),
        (b"Content-Length: -1", b""),
        (b"Content-Length: 0x0", b""),
        (b"Content-Length: 1_0", b""),
        (b"Content-Length : 5", b"abcde"),
        (b"X: y\r\n Content-Length: 5\r\nContent-Length: 0", b""),
        (b"X: a\nContent-Length: 36\r\nContent-Length: 0", b""),
        (b"X: a\rContent-Length: 36\r\nContent-Length: 0", b""),
        (b"X: a\0b\r\nContent-Length: 0", b""),
        (CHUNKED + b", identity", b"0\r\n\r\n"),
        (CHUNKED + b"\r\n" + CHUNKED, b"0\r\n\r\n"),
        (b"Transfer-Encoding: xchunked", b"0\r\n\r\n"),
        (b"Transfer-Encoding: \x0bchunked", b"0\r\n\r\n"),
        (b"Transfer-Encoding: gzip, chunked", b"0\r\n\r\n"),
        (CHUNKED, b"0;a=\n\r\n\r\n"),
        (CHUNKED, b"-1\r\n\r\n"),
        (CHUNKED, b"0x0\r\n\r\n"),
        (CHUNKED, b"0\n\n"),
        (CHUNKED, b"0\r\nAuthorization: x\r\n\r\n"),
    ],
)
def test_no_request_hides_in_another(contestant: Contestant, head: bytes, body: bytes) -> None:
    """A body of doubtful length is refused with its connection; what follows is no request."""
    running, token = contestant
    before = stored(contestant)
    asked = b"POST /result HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token.encode()
    received = _to_the_end(running, asked + b"\r\n" + head + b"\r\n\r\n" + body + NEXT)
    assert 1 == received.count(b"HTTP/1.1 ")
    assert received.split()[1] in (b"400", b"415", b"501")
    assert before == stored(contestant)


@pytest.mark.parametrize(
    "start",
    [
        b"GE T /classes HTTP/1.1\r\nHost: x",
        b"GET /classes HTTP/9.9\r\nHost: x",
        b"GET /classes",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x",
        b"GET /classes HTTP/1.1\r\n" + b"\r\n".join([b"X: y"] * 500),
        b"GET /classes HTTP/1.1\r\nX: " + b"a" * 100_000,
        b"GET /classes HTTP/1.1\r\nHost: a\r\nHost: b",
        b"PRI * HTTP/2.0\r\n\r\nSM",
        b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /classes HTTP/1.1\r\nHost: x",
    ],
    ids=lambda start: start[:24].decode(errors="replace"),
)
def test_a_head_that_is_none_is_refused(contestant: Contestant, start: bytes) -> None:
    """Other versions, doubled hosts, and heads without bounds get 4xx and one sentence."""
    received = _to_the_end(contestant[0], start + b"\r\n\r\n")
    head, _, text = received.partition(b"\r\n\r\n")
    assert 1 == head.count(b"HTTP/1.1 4")
    assert b"Content-Type: text/plain" in head
    assert text.startswith(b"The request is not HTTP as the referee takes it: ")
    assert text.endswith(b".\n")


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/ground_truth.json",
        "//x/classes",
        "/image/..%2f..%2fground_truth.json",
        "/image/1%00",
        "/image/%ff",
        "/image/1%20",
        "/images/1/../1",
        "/static/../ground_truth.json",
    ],
)
def test_no_path_leads_to_another_file(contestant: Contestant, path: str) -> None:
    """A path that is none of the routes is refused, however it is written."""
    running, token = contestant
    assert get(running.contest + path, **bearer(token))[0] in (404, 406)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "x-gzip, gzip"])
def test_a_compressed_answer_is_refused_and_not_unpacked(
    contestant: Contestant, coding: str
) -> None:
    """The refusal says what to do. So no answer is lost without a word, and no bomb unpacked."""
    running, token = contestant
    before = stored(contestant)
    headers = bearer(token, Accept="application/json") | {"Content-Encoding": coding}
    status, told = request(f"{running.contest}/result", gzip.compress(b"[" * 10**6), headers)
    assert (415, True) == (status, "without compression" in json.loads(told)["detail"])
    assert before == stored(contestant)


def test_a_body_longer_than_its_length_is_cut_there(contestant: Contestant) -> None:
    """Bytes after the announced length belong neither to the answer nor to the next request."""
    whole = f"image_name=1{BOX}&ymax=4".encode()
    answers, detections = stored(contestant)
    received = _raw(contestant, whole + b"GARBAGE", length=len(whole), shut=True)
    assert b" 200 " in received.splitlines()[0]
    assert received.count(b"HTTP/1.1 200 ") == 1
    assert stored(contestant) == (answers + 1, detections + 1)


def test_unknown_path_and_method(contestant: Contestant) -> None:
    """An unknown path gets 404 and a wrong method 405, in problem details too."""
    running, _ = contestant
    assert get(f"{running.contest}/login/")[0] == 404
    assert get(f"{running.contest}/result")[0] == 405
    code, text = get(f"{running.contest}/nowhere", Accept="application/json")
    assert (code, json.loads(text)["status"]) == (404, 404)


@pytest.mark.parametrize("name", ["SCRIPT_NAME", "PATH_INFO", "REMOTE_ADDR"])
def test_a_header_cannot_change_what_is_asked(contestant: Contestant, name: str) -> None:
    """A header that a proxy might send changes neither the path nor the answer."""
    running, token = contestant
    asked = f"{running.contest}/image/1"
    assert get(asked, **bearer(token)) == get(asked, **bearer(token, **{name: "/help"}))


def test_console_is_not_on_the_contest_port(contestant: Contestant) -> None:
    """The contest port has no pages and no actions for operators."""
    running, _ = contestant
    for path in (
        "/board",
        "/events",
        "/sessions",
        "/static/console/console.js",
        "/powermeter",
        "/savecsv",
    ):
        assert get(f"{running.contest}{path}")[0] == 404


def test_operators_action_needs_the_pages_key(contestant: Contestant) -> None:
    """Neither a form of another site nor a stale page can stop a session."""
    running, _ = contestant
    code, text = request(f"{running.console}/sessions/1/stop", b"{}", {})
    assert (code, json.loads(text)["code"]) == (409, "form_key_wrong")
    key = json.loads(get(f"{running.console}/form-key")[1])["key"]
    headers = {"X-Form-Key": key, "Content-Type": "application/json"}
    code, text = request(f"{running.console}/sessions/1/stop", b'{"seen_state": "ARMED"}', headers)
    assert (code, json.loads(text)["code"]) == (409, "state_moved")


def _to_the_end(running: Program, sent: bytes) -> bytes:
    """Send bytes, and return every byte that comes back until the server closes."""
    host, _, port = running.contest.removeprefix("http://").partition(":")
    received = b""
    with closing(socket.create_connection((host, int(port)), PATIENCE_S)) as link:
        link.sendall(sent)
        while part := link.recv(65536):
            received += part
    return received


def _raw(contestant: Contestant, body: bytes, *, length: int, shut: bool = False) -> bytes:
    """Send a post with this Content-Length and return every byte that comes back."""
    running, token = contestant
    host, _, port = running.contest.removeprefix("http://").partition(":")
    head = (
        f"POST /result HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
    )
    with closing(socket.create_connection((host, int(port)), PATIENCE_S)) as link:
        link.sendall(head.encode() + body)
        if shut:
            link.shutdown(socket.SHUT_WR)
        received = b""
        while b"\r\n\r\n" not in received or shut:
            part = link.recv(65536)
            received += part
            if not part:
                break
        return received


ONE_BOX = b"image_name=1&CLASS_ID=1&confidence=0.5&xmin=1&ymin=2&xmax=3&ymax=4"


def opened(contestant: Contestant) -> socket.socket:
    """Return a connection to the contest server."""
    host, _, port = contestant[0].contest.removeprefix("http://").partition(":")
    link = socket.create_connection((host, int(port)), PATIENCE_S)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def to_the_end(link: socket.socket) -> bytes:
    """Return all that the server sends until it closes."""
    came = b""
    while part := link.recv(65536):
        came += part
    return came


@pytest.mark.parametrize("behind", [ONE_BOX, b"1 1 0.5 1 2 3 4\n", b'[{"image": 1}]'])
@pytest.mark.parametrize("together", [True, False], ids=["one_packet", "two_packets"])
def test_a_body_whose_length_is_not_said_is_no_answer(
    contestant: Contestant, behind: bytes, together: bool
) -> None:
    """A post whose body has neither length nor chunks gets 411, and nothing counts as stored."""
    before = stored(contestant)
    head = f"POST /result HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {contestant[1]}\r\n\r\n"
    with closing(opened(contestant)) as link:
        for piece in [head.encode() + behind] if together else [head.encode(), behind]:
            link.sendall(piece)
        link.shutdown(socket.SHUT_WR)
        came = to_the_end(link)
    assert came.startswith(b"HTTP/1.1 411 ")
    assert b"send Content-Length with every body" in came and b" 200 " not in came
    assert before == stored(contestant)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_post_without_a_body_needs_no_length(contestant: Contestant, version: str) -> None:
    """Old clients post with the token in the address, and neither a body nor a length."""
    for path, status in (("verify", 200), ("no_of_images", 200), ("image/1", 200), ("result", 200)):
        head = f"POST /{path}?token={contestant[1]} HTTP/{version}\r\nHost: x\r\n"
        with closing(opened(contestant)) as link:
            link.sendall(f"{head}Connection: close\r\n\r\n".encode())
            assert to_the_end(link).startswith(f"HTTP/{version} {status} ".encode()), path


def test_many_small_answers_in_chunks_are_taken_at_once(contestant: Contestant) -> None:
    """Sixteen answers that say no length, all on their way at a time, are all stored."""
    before = stored(contestant)
    head = (
        f"POST /result HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {contestant[1]}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n"
        f"Connection: close\r\n\r\n{len(ONE_BOX):x}\r\n"
    )
    links = [opened(contestant) for _ in range(16)]
    for link in links:
        link.sendall(head.encode() + ONE_BOX)
    # All of them have begun when the first one ends.
    assert stored(contestant) == before
    for link in links:
        link.sendall(b"\r\n0\r\n\r\n")
    for link in links:
        assert to_the_end(link).startswith(b"HTTP/1.1 200 ")
        link.close()
    assert (before[0] + 16, before[1] + 16) == stored(contestant)
