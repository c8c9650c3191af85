# SPDX-License-Identifier: Apache-2.0
"""A contestant's floods against the contest server: console, meter and memory meanwhile.

Eleven connections that retry a refused request without a pause, four that post 10 MB at a time,
eleven that post box by box, as contestants have done. The console is asked fifty times a second.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from referee.programs.hosting import Host, claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.observation.processes import processes_under
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection
from referee.store.answers import count_answers
from referee.store.readings import readings_of
from tests.bench.load import Figures, measure
from tests.bench.serving import make_contest
from tests.support.running import request

UPDATE_S = 0.1
SECONDS = 10.0


def run() -> None:
    """Flood in three ways, and print the effect on the console, the meter and the memory."""
    with tempfile.TemporaryDirectory() as name, claimed(Path(name) / "data"):
        folder = Path(name)
        make_contest(folder)
        config = practice_config(
            data=folder / "data",
            contest=ContestSection(mode="practice", seconds=600, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.json"),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0"),
            meter=MeterSection(
                voltage_range_v=150.0, current_range_a=0.5, update_interval_s=UPDATE_S
            ),
        )
        with hosted(config) as host:
            url = host.supervisor.contest_url
            _, token = request(f"{url}/login", b"username=me&password=practice", {})
            port = int(url.rpartition(":")[2])
            print(
                "flood              requests/s   console median,   p99 ms   readings"
                "   peak MB of server  and scorer"
            )
            for what, connections, message, status in _floods(token.decode()):
                _flood(host, port, what, connections, message, status)
            counted = count_answers(host.database.connection, 1)
            print(f"stored: {counted.answers} answers, {counted.detections} detections")


def _floods(token: str) -> list[tuple[str, int, bytes, bytes]]:
    """Return name, connections, message and expected status of each flood."""
    head = f"POST /result HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    row = b"1 1 0.51234567 10.123456 20.123456 99.123456 80.12345\n"
    refused = b"GET /image/1?token=1.x HTTP/1.1\r\nHost: x\r\n\r\n"
    return [
        ("none", 0, b"", b""),
        ("refused, retried", 11, refused, b"401"),
        ("10 MB a post", 4, _post(head, 190_000 * row), b"200"),
        ("a post a box", 11, _post(head, row), b"200"),
    ]


def _post(head: str, body: bytes) -> bytes:
    kind = f"Content-Type: text/csv\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + kind).encode() + body


def _flood(
    host: Host, port: int, what: str, connections: int, message: bytes, status: bytes
) -> None:
    # The load runs in a process of its own, so that it does not hold this one's lock.
    context = multiprocessing.get_context("spawn")
    stop, rates = context.Event(), context.Queue()
    loader = context.Process(
        target=load_until, args=(port, message, connections, status, stop, rates)
    )
    if connections:
        loader.start()
        rates.get(timeout=60)  # The first round is through, so the flood runs.
    before, begun = _readings(host), time.monotonic()
    console = _ask_console(host.supervisor.console_url)
    expected = (time.monotonic() - begun) / UPDATE_S
    readings = _readings(host) - before
    stop.set()
    rate = 0.0
    if connections:
        rate = rates.get(timeout=60)
        loader.join()
    print(
        f"{what:18} {rate:10.1f} {console.median_ms:18.1f} {console.p99_ms:7.1f} "
        f"{readings:10} of {expected:.0f}"
        f" {_peak_mb('contest'):10.0f} {_peak_mb('scorer'):10.0f}"
    )


def load_until(
    port: int, message: bytes, connections: int, status: bytes, stop: Any, rates: Any
) -> None:
    """Repeat a message until told to stop; report after one round, and the rate at the end."""
    requests = connections * (20 if len(message) < 10_000 else 1)
    sent, begun = 0, time.monotonic()
    while not stop.is_set():
        measure(
            port,
            lambda number: message,
            connections=connections,
            requests=requests,
            status=status,
        )
        if not sent:
            rates.put(0.0)
        sent += requests
    rates.put(sent / (time.monotonic() - begun))


def _ask_console(url: str) -> Figures:
    latencies = []
    until = time.monotonic() + SECONDS
    pause = threading.Event()
    while time.monotonic() < until:
        begun = time.perf_counter()
        request(f"{url}/board", None, {})
        latencies.append(1e3 * (time.perf_counter() - begun))
        pause.wait(0.02)
    ordered = sorted(latencies)
    return Figures(
        len(ordered) / SECONDS, ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))]
    )


def _readings(host: Host) -> int:
    return len(readings_of(host.database.connection, 1))


def _peak_mb(program: str) -> float:
    """Return the largest memory that any process of a program has had so far."""
    peaks = [0]
    for process in processes_under(os.getpid()):
        if process.program == program:
            with suppress(OSError):  # It may have ended.
                status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
                peaks.append(int(status.partition("VmHWM:")[2].split()[0]))
    return max(peaks) / 1024
