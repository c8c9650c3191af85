# SPDX-License-Identifier: Apache-2.0
"""The conformance suite passes our own server, and fails a server that breaks the protocol."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.conftest import Rehearse
from tests.support.running import PATIENCE_S

pytestmark = pytest.mark.slow


def conformance(url: str, *options: str) -> tuple[int, list[str]]:
    """Run the suite and return its exit code and lines."""
    command = [sys.executable, "-m", "client_sample.conformance", url]
    command += ["--user", "me", "--password", "practice", *options]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S, cwd=root)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_our_server_holds_every_rule(standing: Rehearse) -> None:
    """Our server holds every rule, and each rule has one line."""
    holds_every_rule(standing)


def test_our_server_holds_every_old_rule(standing: Rehearse) -> None:
    """Our server holds every rule of the protocol of 2015-2019."""
    holds_every_rule(standing, "--legacy")


def holds_every_rule(standing: Rehearse, *options: str) -> None:
    """Run the suite against our server; no rule may fail."""
    code, lines = conformance(standing("--meter", "none").contest, *options)
    assert [line for line in lines[:-1] if not line.startswith("ok    ")] == []
    assert lines[-1] == f"{len(lines) - 1} of {len(lines) - 1} rules hold"
    assert code == 0


class Agreeable(BaseHTTPRequestHandler):
    """A server that answers everything with 200 and an empty body."""

    def do_GET(self) -> None:
        """Answer 200 with an empty body."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def test_a_server_that_breaks_the_rules_is_told_so() -> None:
    """A server that answers 200 to everything fails nearly every rule, each with a reason."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Agreeable) as server:
        thread = threading.Thread(target=server.serve_forever, name="agreeable")
        thread.start()
        try:
            code, lines = conformance(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
    assert code == 1
    failed = [line for line in lines[:-1] if line.startswith("FAIL  ")]
    assert len(failed) > len(lines) - 5
    assert all(": " in line for line in failed)
