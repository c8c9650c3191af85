# SPDX-License-Identifier: Apache-2.0
"""The contest server's `/image` under TLS beside plain HTTP, in turns, in the same run.

One worker each, one image of 110 kB. The processor time is that of the server's processes alone.
The rate includes the client's part of TLS, on the same machine.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from referee.programs.hosting import claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.setup.certificate import make_certificate
from referee.service.setup.config import ContestSection, ImagesSection, MeterSection, ServerSection
from tests.bench.load import Figures, measure
from tests.bench.serving import make_contest
from tests.support.running import request

ROUNDS = 3
KEPT, FRESH = 2000, 400


@dataclass(frozen=True)
class Server:
    """A running contest server: its port, a token, its process, and what its clients trust."""

    port: int
    token: str
    process: psutil.Process
    tls: ssl.SSLContext | None

    def cpu_s(self) -> float:
        """Return the processor time of the server's processes until now."""
        family = [self.process, *self.process.children(recursive=True)]
        times = [one.cpu_times() for one in family]
        return float(sum(it.user + it.system for it in times))


def run() -> None:
    """Measure in turns and print the table."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        make_contest(folder)
        servers = {
            what: stack.enter_context(_running(folder, what)) for what in ("plain HTTP", "TLS")
        }
        for fresh, connections in ((False, 1), (False, 8), (True, 1), (True, 8)):
            title = f"{connections} connections, {'a new one each' if fresh else 'kept alive'}"
            print(f"{title:32} requests/s   median ms      p99 ms   server's ms of CPU each")
            rows: dict[str, list[tuple[Figures, float]]] = {what: [] for what in servers}
            for _ in range(ROUNDS):
                for what, server in servers.items():
                    rows[what].append(_measured(server, connections, fresh))
            for what, runs in rows.items():
                figures = [one for one, _ in runs]
                print(
                    f"  {what:30} {_middle([f.rate for f in figures]):10.0f}"
                    f" {_middle([f.median_ms for f in figures]):11.2f}"
                    f" {_middle([f.p99_ms for f in figures]):11.2f}"
                    f" {_middle([ms for _, ms in runs]):16.2f}"
                )


def _measured(server: Server, connections: int, fresh: bool) -> tuple[Figures, float]:
    head = f"GET /image/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    requests, before_s = FRESH if fresh else KEPT, server.cpu_s()
    figures = measure(
        server.port,
        lambda number: head.encode(),
        connections=connections,
        requests=requests,
        tls=server.tls,
        fresh=fresh,
    )
    return figures, 1e3 * (server.cpu_s() - before_s) / requests


@contextmanager
def _running(folder: Path, what: str) -> Iterator[Server]:
    data = folder / what
    with claimed(data):
        files = None
        if what == "TLS":
            files = make_certificate(data, data / "x", ["127.0.0.1"], datetime.now(UTC))
        config = practice_config(
            data=data,
            contest=ContestSection(mode="practice", seconds=3600, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.json"),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0", workers=1, contest_tls=files),
            meter=MeterSection(resource="none"),
        )
        with hosted(config) as host:
            tls = None if files is None else ssl.create_default_context(cafile=files.ca)
            url = host.supervisor.contest_url
            _, token = request(f"{url}/login", b"username=bench&password=practice", {}, tls)
            process = psutil.Process(host.supervisor.pids()["contest"])
            yield Server(int(url.rpartition(":")[2]), token.decode(), process, tls)


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
