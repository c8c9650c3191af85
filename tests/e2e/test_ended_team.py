# SPDX-License-Identifier: Apache-2.0
"""A team whose session has ended cannot exhaust the memory while the next team runs."""

from __future__ import annotations

import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Rehearse
from tests.support.running import PATIENCE_S, Program, get, request, running_as

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads a process's peak memory in /proc"),
]

MIB = 2**20
FORMS = 4
FORM_BYTES = 28 * MIB
# A form is kept once while it comes in. Its parsing may take five times its size.
MOST_GROWTH = FORMS * (1 + 5) * FORM_BYTES


def log_in(running: Program, team: str) -> str:
    """Log in and return the token."""
    body = f"username={team}&password=practice".encode()
    status, token = request(f"{running.contest}/login", body, {})
    assert status == 200, token
    return token.decode()


def peaks(running: Program) -> dict[int, int]:
    """Return the highest memory so far, in bytes, of each process of the contest server."""
    found = {}
    for pid in running_as("contest", running.child.pid):
        status = Path(f"/proc/{pid}/status").read_text()
        peak = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert peak is not None
        found[pid] = int(peak.group(1)) * 1024
    assert found
    return found


def begin(running: Program, body: bytes) -> socket.socket:
    """Connect and send a form, all but its last byte."""
    host, _, port = running.contest.removeprefix("http://").partition(":")
    head = (
        f"POST /result HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    link = socket.create_connection((host, int(port)), PATIENCE_S)
    link.sendall(head.encode() + body[:-1])
    return link


def finish(link: socket.socket, body: bytes) -> bytes:
    """Send the last byte and return the answer."""
    link.sendall(body[-1:])
    answer = b""
    while part := link.recv(65536):
        answer += part
    return answer


def test_long_forms_of_an_ended_team_are_parsed_in_bounded_memory(rehearse: Rehearse) -> None:
    """Four forms of 28 MiB at once take bounded memory, and the running team is served."""
    running = rehearse("--seconds", "600", "--meter", "none")
    ended = log_in(running, "ants")
    assert request(f"{running.contest}/logout", f"token={ended}".encode(), {})[0] == 200
    token = log_in(running, "bees")

    def assert_served() -> None:
        assert get(f"{running.contest}/image/1", Authorization=f"Bearer {token}")[0] == 200

    assert_served()
    before = peaks(running)
    # Escapes, again and again: a reader that splits at each takes seventy times as much.
    body = f"token={ended}&image_name=".encode() + b"%31" * (FORM_BYTES // 3)
    with ExitStack() as stack, ThreadPoolExecutor(FORMS) as pool:
        links = list(pool.map(lambda _: begin(running, body), range(FORMS)))
        for link in links:
            stack.enter_context(closing(link))
        assert_served()
        answers = [pool.submit(finish, link, body) for link in links]
        while not all(answer.done() for answer in answers):
            assert_served()
    after = peaks(running)
    assert before.keys() == after.keys(), "a worker ended, and its memory with it"
    assert sum(after.values()) - sum(before.values()) < MOST_GROWTH
    # An old client learns that the session is over; nothing of the form is stored.
    assert all(answer.result().startswith(b"HTTP/1.1 401 ") for answer in answers)
