# SPDX-License-Identifier: Apache-2.0
"""The deadline over a real socket: the time of the last byte counts."""

from __future__ import annotations

import json
import socket
from contextlib import closing

import pytest

from tests.e2e.conftest import Rehearse
from tests.support.running import PATIENCE_S, Program, eventually, get, request

pytestmark = pytest.mark.slow

BODY = b"image_name=1&CLASS_ID=1&confidence=0.5&xmin=1&ymin=2&xmax=3&ymax=4"


def connect(program: Program) -> socket.socket:
    """Connect to the contest server."""
    host, _, port = program.contest.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), PATIENCE_S)


def head(token: str, *lines: str, version: str = "1.1") -> bytes:
    """Return the head of a post of `BODY`."""
    text = (
        f"POST /result HTTP/{version}",
        "Host: referee",
        f"Authorization: Bearer {token}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(BODY)}",
        *lines,
    )
    return "\r\n".join((*text, "", "")).encode()


def login(program: Program) -> str:
    """Log in and return the token."""
    return request(f"{program.contest}/login", b"username=me&password=practice", {})[1].decode()


def status(program: Program, token: str) -> dict[str, object]:
    """Return the session's status."""
    answer: dict[str, object] = json.loads(get(f"{program.contest}/status?token={token}")[1])
    return answer


def test_a_body_that_trickles_past_the_deadline_is_late(rehearse: Rehearse) -> None:
    """A post that begins in time and ends after the deadline is stored as late."""
    referee = rehearse("--seconds", "2", "--meter", "none")
    token = login(referee)
    with closing(connect(referee)) as link:
        link.sendall(head(token) + BODY[:-1])
        over = ("ENDED", "SCORED")
        eventually(lambda: status(referee, token)["state"] in over, "the deadline")
        link.sendall(BODY[-1:])
        assert link.recv(4096).startswith(b"HTTP/1.1 401 ")
    counted = status(referee, token)
    assert (counted["answers"], counted["late_answers"]) == (0, 1)
    assert referee.scored()["mean_ap"] == 0.0


def test_expect_100_continue_is_answered_before_the_body(standing: Rehearse) -> None:
    """A client that waits for 100 Continue gets it before it sends a byte of the body."""
    referee = standing("--seconds", "600", "--meter", "none")
    token = login(referee)
    with closing(connect(referee)) as link:
        link.sendall(head(token, "Expect: 100-continue"))
        assert link.recv(4096).startswith(b"HTTP/1.1 100 ")
        link.sendall(BODY)
        assert link.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_an_http_1_0_client_is_served(standing: Rehearse) -> None:
    """A client of HTTP/1.0 gets its answer, and then the connection closes."""
    referee = standing("--seconds", "600", "--meter", "none")
    token = login(referee)
    with closing(connect(referee)) as link:
        link.sendall(head(token, version="1.0") + BODY)
        received = b""
        while part := link.recv(4096):
            received += part
    assert received.endswith(b"Result stored in the server database\n")
