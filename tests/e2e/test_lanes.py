# SPDX-License-Identifier: Apache-2.0
"""An event of two lanes on real processes: two teams at once, and one meter that goes away."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from tests.e2e.conftest import Material
from tests.e2e.test_event import register
from tests.support.running import Program, client, descendants, eventually, get, program, request

pytestmark = pytest.mark.slow

LANES = """
[[lane]]
name = "left"
contest = "127.0.0.1:0"
resource = "emulated"

[[lane]]
name = "right"
contest = "127.0.0.1:0"
resource = "emulated"
emulated_load = "8.0"
"""


@pytest.fixture
def lanes(event: Path) -> Path:
    """Return the configuration of an event of two lanes, left and right, of 8 s."""
    text = event.read_text().replace("seconds = 5", "seconds = 8")
    text = text.replace('contest = "127.0.0.1:0"\n', "").replace('resource = "emulated"\n', "")
    event.write_text(text + LANES)
    return event


def act(running: Program, path: str, **arguments: object) -> None:
    """Act as the page does."""
    key = json.loads(get(f"{running.console}/form-key")[1])["key"]
    headers = {"Content-Type": "application/json", "X-Form-Key": key}
    status, body = request(f"{running.console}/{path}", json.dumps(arguments).encode(), headers)
    assert status == 200, body


def log_in(url: str, team: str, password: str) -> tuple[int, str]:
    """Try to log in and return status and text."""
    body = f"username={team}&password={password}".encode()
    status, text = request(f"{url}/login", body, {})
    return status, text.decode()


def emulators(running: Program) -> list[int]:
    """Return the process ids of the emulated meters, that of lane 1 first."""
    found = [pid for pid, line in descendants(running.child.pid) if "power emulate" in line]
    return sorted(found)


def test_one_meter_goes_away_and_the_other_lane_is_unharmed(
    lanes: Path, material: Material
) -> None:
    """The lane with the killed meter has the alarm and no valid energy; the other lane is VALID."""
    teams = {team: register(lanes, team) for team in ("ants", "bees")}
    with program(["serve", "--config", str(lanes)], lanes.parent) as running:
        left, right = re.findall(r"here (http://[\d.:]+)\)", running.ready)
        for number, team in enumerate(teams, 1):
            act(running, "sessions", team=team, lane=number)
            act(running, f"sessions/{number}/arm")
        status, text = log_in(right, "ants", teams["ants"])
        assert (status, "Your session is in lane 'left'" in text) == (401, True)
        status, token = log_in(left, "ants", teams["ants"])
        assert status == 200
        status, said = request(f"{right}/verify", f"token={token}".encode(), {})
        assert (status, b"lane 'left'" in said) == (401, True)
        answers = ("--answers", str(material.answers), "--no-logout")
        player = threading.Thread(
            target=client,
            args=(right, *answers),
            kwargs={"user": "bees", "password": teams["bees"]},
        )
        player.start()
        eventually(lambda: running.board()["lanes"][1]["current"]["state"] == "RUNNING", "bees")
        first, _ = emulators(running)
        os.kill(first, signal.SIGKILL)
        eventually(lambda: running.board()["lanes"][0]["alarm"], "the alarm of the left lane")
        board = running.board()
        assert board["lanes"][1]["alarm"] is None
        assert {"left"} == {alarm["lane"] for alarm in board["alarms"] if alarm["lane"]}
        player.join()
        harmed, unharmed = running.scored(1), running.scored(2)
    assert harmed["verdict"] in ("SUSPECT", "INVALID")
    assert unharmed["verdict"] == "VALID"
    assert unharmed["energy_wh"] == pytest.approx(8.0 * 8 / 3600, rel=0.02)
    assert unharmed["mean_ap"] > 0.3
    logs = lanes.parent / "data"
    assert (logs / "meter.jsonl").exists() and (logs / "meter2.jsonl").exists()
