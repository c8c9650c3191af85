# SPDX-License-Identifier: Apache-2.0
"""What a stranger's connections cost the running team, the operator and the audience.

One address opens 0, 4, 60 or 250 connections without token or password, and repeats a request on
each without a pause: to the contest server the help and an image with a forged token in turns, to
console and scoreboard what is measured there. Where the server closes one, it opens another.
Meanwhile one client of another address asks one thing after the other: an image of 110 kB, an
answer of five boxes, the console's board, the scoreboard's view. The last column is how much later
than it was sent the referee noted an answer, at most. `FAIRNESS_BENCH_TLS=1` puts the contest
server under TLS. The flood has a process of its own with the lowest priority: at a venue it brings
its own machine.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from power.clock import real_elapsed_s
from referee.programs.hosting import claimed, hosted
from referee.programs.lower_priority import lower_priority
from referee.programs.practice_folder import practice_config
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection
from tests.bench.serving import make_contest
from tests.support.running import request

FLOODS = (0, 4, 60, 250)
SECONDS = float(os.environ.get("FAIRNESS_BENCH_S", "4"))
_FLOODER = "127.0.0.2"
_BOXES = b"1 1 0.5 10.5 20.25 99 80\n" * 5
_HEAD = "HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def run() -> None:
    """Print the median latencies of all four, idle and under each flood."""
    with tempfile.TemporaryDirectory() as name, claimed(Path(name) / "data"):
        folder = Path(name)
        make_contest(folder)
        config = practice_config(
            data=folder / "data",
            contest=ContestSection(mode="practice", seconds=3600, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.json"),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0", scoreboard="127.0.0.1:0", workers=1),
            meter=MeterSection(resource="none"),
        )
        with hosted(config) as host:
            supervisor = host.supervisor
            _, token = request(
                f"{supervisor.contest_url}/login", b"username=me&password=practice", {}
            )
            contest = _port(supervisor.contest_url)
            _table(contest, _port(supervisor.console_url), _port(supervisor.scoreboard_url), token)


def _port(url: str | None) -> int:
    return int((url or "").rpartition(":")[2])


def _table(contest: int, console: int, scoreboard: int, token: bytes) -> None:
    known = f"Authorization: Bearer {token.decode()}\r\n"
    kind = f"Content-Type: text/csv\r\nAccept: application/json\r\nContent-Length: {len(_BOXES)}"
    image = f"GET /image/1 {_HEAD}{known}\r\n".encode()
    answer = f"POST /result {_HEAD}{known}{kind}\r\n\r\n".encode() + _BOXES
    board, view = (f"GET /{what} {_HEAD}\r\n".encode() for what in ("board", "view"))
    print(
        "median and p99 in ms, and in the last column how much later an answer was noted, at most"
    )
    print("connections          image          answer           board            view     noted")
    for size in FLOODS:
        with flood(contest, "contest", size):
            row = [_asked(contest, image), _asked(contest, answer)]
        for port, message, what in ((console, board, "board"), (scoreboard, view, "view")):
            with flood(port, what, size):
                row.append(_asked(port, message))
        shown = "".join(f"{middle:9.1f}{late:7.0f}" for middle, late, _ in row)
        print(f"{size:11}{shown}{row[1][2]:10.1f}", flush=True)


def _asked(port: int, message: bytes) -> tuple[float, float, float]:
    """Repeat a request; return the median and the p99 of its latencies, and the noted lateness."""
    latencies, noted, pause = [], [], threading.Event()
    until_s = time.monotonic() + SECONDS
    with socket.create_connection(("127.0.0.1", port), 60) as link:
        while time.monotonic() < until_s or len(latencies) < 5:
            begun_s, sent_s = time.perf_counter(), real_elapsed_s()
            link.sendall(message)
            body = _answer(link)
            latencies.append(1e3 * (time.perf_counter() - begun_s))
            if message.startswith(b"POST"):
                # The session's own zero is not known here, so the earliest answer stands for it.
                noted.append(1e3 * (json.loads(body)["received_s"] - sent_s))
            pause.wait(0.002)
    late = max(noted) - min(noted) if noted else 0.0
    ordered = sorted(latencies)
    return statistics.median(ordered), ordered[int(0.99 * (len(ordered) - 1))], late


def _answer(link: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(link)
    head, _, body = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head[:80].decode("ascii", "replace"))
    lines = head.lower().split(b"\r\n")
    length = next(int(x.split(b":")[1]) for x in lines if x.startswith(b"content-length:"))
    while len(body) < length:
        body += _some(link)
    return body


def _some(link: socket.socket) -> bytes:
    part = link.recv(1 << 18)
    if not part:
        raise RuntimeError("the server has closed the connection of an honest client")
    return part


@contextmanager
def flood(port: int, what: str, size: int) -> Iterator[None]:
    """Flood a server with this many connections, from a process of its own."""
    if not size:
        yield
        return
    command = [sys.executable, "-m", "tests.bench.fairness", str(port), what, str(size)]
    flooding = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert flooding.stdout is not None
        assert flooding.stdout.readline() == "it floods\n"
        yield
    finally:
        flooding.terminate()
        flooding.communicate()


def _messages(what: str) -> tuple[bytes, bytes]:
    if what == "contest":
        return (
            f"GET /help {_HEAD}\r\n".encode(),
            f"GET /image/1?token=1.forged {_HEAD}\r\n".encode(),
        )
    return (f"GET /{what} {_HEAD}\r\n".encode(),) * 2


def send_for_ever(port: int, what: str, size: int) -> None:
    """Keep this many connections busy until killed."""
    lower_priority(19)
    messages, answers = _messages(what), 0
    with selectors.DefaultSelector() as selector:
        for number in range(size):
            _open(selector, port, messages[number % 2])
        while True:
            for key, mask in selector.select(1.0):
                answers += _go_on(selector, port, key, mask)
                if answers == min(size, 20):
                    answers += 1
                    print("it floods", flush=True)


def _open(selector: selectors.BaseSelector, port: int, message: bytes) -> None:
    link = socket.socket()
    link.bind((_FLOODER, 0))
    link.setblocking(False)
    with suppress(BlockingIOError):
        link.connect(("127.0.0.1", port))
    selector.register(link, selectors.EVENT_WRITE, [message, 0])


def _go_on(selector: selectors.BaseSelector, port: int, key: Any, mask: int) -> int:
    """Send the request or take a piece of the answer; return 1 after a whole answer."""
    link, state = key.fileobj, key.data
    try:
        if mask & selectors.EVENT_WRITE:
            link.sendall(state[0])
            selector.modify(link, selectors.EVENT_READ, state)
            return 0
        part = link.recv(1 << 18)
    except BlockingIOError:
        return 0
    except OSError:
        part = b""
    if not part:
        selector.unregister(link)
        link.close()
        _open(selector, port, state[0])
        return 0
    if not state[1]:
        head, _, rest = part.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        state[1] = length - len(rest)
    else:
        state[1] -= len(part)
    if state[1] <= 0:
        state[1] = 0
        with suppress(OSError):
            link.sendall(state[0])
        return 1
    return 0


if __name__ == "__main__":
    send_for_ever(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
