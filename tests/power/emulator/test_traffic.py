# SPDX-License-Identifier: Apache-2.0
"""A load that follows a contest server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from power.emulator.instrument import Instrument, Options
from power.emulator.load import Load
from power.emulator.profile import constant
from power.emulator.traffic import Traffic, TrafficFollower, watts
from tests.support.fakes import eventually


class Counter(BaseHTTPRequestHandler):
    """A handler that counts on by ten at each request."""

    count = 0
    asked = threading.Semaphore(0)

    def do_GET(self) -> None:  # noqa: N802 (the library's own name)
        """Answer with the count as JSON."""
        Counter.count += 10
        body = json.dumps({"images_fetched": Counter.count}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        Counter.asked.release()

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """Return the URL of a counting server."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Counter)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), name="counter")
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}/status"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_work_costs_energy() -> None:
    """The load is idle watts plus joules per unit; a smaller count begins a new session."""
    traffic = Traffic("http://x", idle_w=2.0, joules=0.5)
    assert 2.0 == watts(traffic, 0, 0.5)
    assert 12.0 == watts(traffic, 10, 0.5)
    assert 2.0 == watts(traffic, -30, 0.5)


def test_the_load_follows_the_server(server: str) -> None:
    """After two answers the load is above idle, and is part of the true integral."""
    meter = Instrument(Load(constant(2.0)), time.monotonic, Options(profile_from_start=False))
    guard = threading.Condition()
    follower = TrafficFollower(Traffic(server, every_s=0.02), meter, guard)
    for _ in range(4):
        assert Counter.asked.acquire(timeout=180)
    follower.close()
    powers = meter.measurement.inputs.load.profile.watts
    assert 2.0 == powers[0]
    assert max(powers) > 5.0


def test_no_answer_is_idle() -> None:
    """Without an answer the load stays at its idle power."""
    meter = Instrument(Load(constant(9.0)), time.monotonic, Options(profile_from_start=False))
    follower = TrafficFollower(
        Traffic("http://127.0.0.1:9/x", every_s=0.01), meter, threading.Condition()
    )
    eventually(lambda: len(meter.measurement.inputs.load.profile.watts) >= 3)
    follower.close()
    assert 2.0 == meter.measurement.inputs.load.profile.watts[-1]
