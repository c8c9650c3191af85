# SPDX-License-Identifier: Apache-2.0
"""A session while 500 scoreboards of one address are open, and the bytes of a change.

The audience is a process of its own. It opens 500 streams from one address, as a hall behind one
router does, and reads all that comes: a stream that is refused or ends, ends the bench. At a venue
the audience brings its own machines, so here its process has the lowest priority: what it takes
itself is not what the scoreboard costs. A contestant asks for 100 images a second on eight
connections. Rounds with the audience and without it alternate, in pairs of changing order, and each
p99 is that of all requests of all such rounds together. The emulated meter is read every 100 ms.

Then follows what a page gets for one more result among 30 and 300 teams: the whole view, as it was
before, and the difference.
"""

from __future__ import annotations

import os
import socket
import statistics
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path

from referee.programs.hosting import Host, claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.observation.processes import processes_under
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection
from referee.store.readings import readings_of
from tests.bench.serving import make_contest
from tests.bench.viewers import AUDIENCE, audience, bytes_of_changes
from tests.support.running import request

CONNECTIONS = 8
RATE = 100.0
UPDATE_S = 0.1
PAIRS = int(os.environ.get("SCOREBOARD_BENCH_PAIRS", "8"))
ROUND_S = 8.0


def run() -> None:
    """Print images' latency and meter readings without and with the audience, and their ratio."""
    with tempfile.TemporaryDirectory() as name, claimed(Path(name) / "data"):
        folder = Path(name)
        make_contest(folder)
        config = practice_config(
            data=folder / "data",
            contest=ContestSection(mode="practice", seconds=3600, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.json"),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0", scoreboard="127.0.0.1:0"),
            meter=MeterSection(
                voltage_range_v=150.0, current_range_a=0.5, update_interval_s=UPDATE_S
            ),
        )
        with hosted(config) as host:
            _, token = request(
                f"{host.supervisor.contest_url}/login", b"username=me&password=practice", {}
            )
            _compare(host, token.decode())
    bytes_of_changes()


def _compare(host: Host, token: str) -> None:
    rounds: dict[int, list[list[float]]] = {0: [], AUDIENCE: []}
    print("audience   median ms   p99 ms   readings   scoreboard ms/s   MiB   events/s to all")
    for pair in range(PAIRS):
        for size in (0, AUDIENCE) if pair % 2 == 0 else (AUDIENCE, 0):
            rounds[size].append(_round(host, token, size))
    ratios = [p99(on) / p99(off) for off, on in zip(rounds[0], rounds[AUDIENCE], strict=True)]
    alone, watched = (p99(sum(found, [])) for found in rounds.values())
    print(
        f"p99 of {len(sum(rounds[0], []))} requests without the audience {alone:.2f} ms, with it "
        f"{watched:.2f} ms, ratio {watched / alone:.2f}; median ratio of the {PAIRS} pairs "
        f"{statistics.median(ratios):.2f}"
    )


def p99(latencies: list[float]) -> float:
    """Return the latency that one request in a hundred exceeds."""
    return sorted(latencies)[int(0.99 * (len(latencies) - 1))]


def _round(host: Host, token: str, size: int) -> list[float]:
    """Return the latencies of one round, and print what happened in it."""
    port = int((host.supervisor.scoreboard_url or "").rpartition(":")[2])
    with audience(port) if size else nullcontext([0]) as events:
        before, heard, begun = _readings(host), sum(events), time.monotonic()
        took_before = _processor_s()
        found = paced(int(host.supervisor.contest_url.rpartition(":")[2]), token)
        took = time.monotonic() - begun
        used_ms = 1e3 * (_processor_s() - took_before)
        print(
            f"{size:8} {statistics.median(found):11.2f} {p99(found):8.2f} "
            f"{_readings(host) - before:6} of {took / UPDATE_S:.0f} {used_ms / took:14.1f} "
            f"{_memory_mib():8.1f} "
            f"{(sum(events) - heard) / took:12.1f}",
            flush=True,
        )
    return found


def _processor_s() -> float:
    """Return the processor time so far of the scoreboard's program with its workers."""
    return sum(it.cpu_s for it in processes_under(os.getpid()) if it.program == "scoreboard")


def _memory_mib() -> float:
    """Return the memory of the scoreboard's program with its workers."""
    found = processes_under(os.getpid())
    return sum(it.memory_bytes for it in found if it.program == "scoreboard") / 2**20


def _readings(host: Host) -> int:
    return len(readings_of(host.database.connection, 1))


def paced(port: int, token: str) -> list[float]:
    """Ask for an image at a fixed rate; return the latencies in ms, from when each was due."""
    message = f"GET /image/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    latencies: list[float] = []
    begun = time.monotonic() + 0.1
    count = int(RATE * ROUND_S) // CONNECTIONS

    def work(index: int) -> None:
        pause = threading.Event()
        with socket.create_connection(("127.0.0.1", port), 30) as link:
            for number in range(count):
                due = begun + (number * CONNECTIONS + index) / RATE
                pause.wait(max(0.0, due - time.monotonic()))
                link.sendall(message)
                _read_answer(link)
                latencies.append(1e3 * (time.monotonic() - due))

    threads = [
        threading.Thread(target=work, args=(index,), name=f"contestant-{index}")
        for index in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


def _read_answer(link: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        received += link.recv(1 << 18)
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    left = int(fields[b"Content-Length"]) - len(body)
    while left > 0:
        left -= len(link.recv(1 << 18))
