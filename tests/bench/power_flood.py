# SPDX-License-Identifier: Apache-2.0
"""The recorder at 100 ms while a contestant floods the contest server on the same machine.

POWER_BENCH_SECONDS sets the length of the run (default 60). The flood comes from a process of its
own, over 32 connections as fast as the server answers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from power.bench.priority import hurried
from tests.bench import serving
from tests.bench.load import measure
from tests.bench.power_timing import emulated, follow

CONNECTIONS = 32
_BATCH = 3200


def flood(port: int, token: str) -> None:
    """Ask for the image until killed, and print each batch's rate."""
    request = (
        f"GET /image/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()
    while True:
        figures = measure(port, lambda number: request, connections=CONNECTIONS, requests=_BATCH)
        print(f"{figures.rate:.0f}", flush=True)


@contextmanager
def flooded(port: int, token: str) -> Iterator[list[str]]:
    """Flood the server from another process; the list holds the rates when it has ended."""
    rates: list[str] = []
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.power_flood", str(port), token],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield rates
    finally:
        process.terminate()
        out, _ = process.communicate()
        rates += out.split()


def run() -> None:
    """Print missed updates, jitter, and how hard the flood was."""
    seconds = int(os.environ.get("POWER_BENCH_SECONDS", "60"))
    with tempfile.TemporaryDirectory() as name:
        serving.make_contest(Path(name))
        with serving.running_referee(Path(name)) as (port, token):
            # The order matters: neither server nor flood inherits the priority.
            with flooded(port, token) as rates, hurried() as priority, emulated() as resource:
                print(f"at {priority}, recording at 0.1 s beside {CONNECTIONS} connections")
                follow(resource, seconds)
    print(f"  the flood got {', '.join(rates[:3])} … images/s")


if __name__ == "__main__":
    flood(int(sys.argv[1]), sys.argv[2])
