# SPDX-License-Identifier: Apache-2.0
"""Login and logout of an event over HTTP: until the integration runs, until the meter has stopped.

A session is armed before its login, as at an event, so the meter is prepared already. The clock
and the integration begin when START was written; the rest of a login's time is its confirmation.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

from referee.programs.hosting import Host, claimed, hosted
from referee.service.entry.team_list import register_team
from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    MeterSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config
from tests.bench.serving import make_contest
from tests.support.running import eventually, request

ROUNDS = 30


def run() -> None:
    """Measure, and print the medians and the worst."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_contest(folder)
        path = folder / "contest.toml"
        config = Config(
            path,
            ContestSection(seconds=60, shuffle=False),
            ImagesSection(folder / "images", folder / "truth.json"),
            ServerSection("127.0.0.1:0", "127.0.0.1:0"),
            MeterSection(voltage_range_v=150.0, current_range_a=0.5, update_interval_s=0.1),
            StorageSection(folder / "data"),
        )
        path.write_text(dump_config(config))
        password = register_team(load_config(path).teams, "bench")
        with claimed(folder / "data"), hosted(load_config(path)) as host:
            times = [_session(host, password) for _ in range(ROUNDS)]
    for what, values in zip(("login", "logout"), zip(*times, strict=True), strict=True):
        ordered = sorted(1e3 * value for value in values)
        print(
            f"{what:7} median {statistics.median(ordered):6.0f} ms, "
            f"p90 {ordered[int(0.9 * len(ordered))]:6.0f} ms, worst {ordered[-1]:6.0f} ms"
        )


def _session(host: Host, password: str) -> tuple[float, float]:
    """Arm a session, log in and out, and wait for its score; return both durations."""
    console, contest = host.supervisor.console_url, host.supervisor.contest_url
    number = _act(console, "/sessions", {"team": "bench"})["session"]
    _act(console, f"/sessions/{number}/arm", {})
    body = f"username=bench&password={password}".encode()
    begun = time.monotonic()
    status, token = request(f"{contest}/login", body, {})
    logged_in = time.monotonic()
    if status != 200:
        raise RuntimeError(f"login failed: {token!r}")
    middle = time.monotonic()
    request(f"{contest}/logout", b"token=" + token, {})
    logged_out = time.monotonic()
    eventually(lambda: _state(console, number) == "SCORED", "the score")
    return logged_in - begun, logged_out - middle


def _act(console: str, path: str, arguments: dict[str, str]) -> dict[str, int]:
    with urllib.request.urlopen(f"{console}/form-key", timeout=30) as response:
        key = json.load(response)["key"]
    headers = {"X-Form-Key": key, "Content-Type": "application/json"}
    status, answer = request(console + path, json.dumps(arguments).encode(), headers)
    if status != 200:
        raise RuntimeError(f"{path}: {answer!r}")
    found: dict[str, int] = json.loads(answer)
    return found


def _state(console: str, number: int) -> str:
    _, board = request(f"{console}/board", None, {})
    return next(row["state"] for row in json.loads(board)["sessions"] if row["id"] == number)
