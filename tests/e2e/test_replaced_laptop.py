# SPDX-License-Identifier: Apache-2.0
"""A laptop is gone in mid-event, and another one goes on from a stick with an older copy."""

from __future__ import annotations

import json
import shutil
import urllib.parse
from pathlib import Path

import pytest

from tests.e2e.conftest import Material
from tests.e2e.test_corrected_event import Corrected
from tests.support.running import Program, referee, request

pytestmark = pytest.mark.slow


def log_in(running: Program, team: str, password: str) -> tuple[int, str]:
    """Log in as a contestant's program does; return the status and the text, a good one's token."""
    body = urllib.parse.urlencode({"username": team, "password": password}).encode()
    status, text = request(f"{running.contest}/login", body, {})
    return status, text.decode()


def status_of(running: Program, token: str) -> tuple[int, str]:
    """Ask for the state of a token's session; return the status and the text."""
    status, text = request(f"{running.contest}/status?token={token}", None, {})
    return status, text.decode()


def carried(event: Corrected, place: Path, material: Material) -> Corrected:
    """Return the event in another folder, as the new laptop has it, without the first folder."""
    moved = Corrected.__new__(Corrected)
    moved.folder, moved.answers = place, material.answers
    moved.config = place / event.config.parent.name / event.config.name
    moved.truth = moved.config.parent / event.truth.name
    return moved


def test_another_laptop_goes_on_from_the_stick(tmp_path: Path, material: Material) -> None:
    """Old sessions stand, a lost one is told, and no token, slip or file name is given twice."""
    (tmp_path / "first").mkdir()
    event = Corrected(tmp_path / "first", material)
    shutil.copytree(material.images, event.config.parent / "pictures")
    event.edit(f'"{material.images}"', '"pictures"')
    with event.serve() as running:
        event.play(running, "ants", 1)
        event.play(running, "bees", 2)
    stick = tmp_path / "stick"
    shutil.copytree(event.config.parent, stick / "event")
    with event.serve() as running:
        lost_password = event.referee("team", "add", "crabs").stdout.strip().rpartition(" ")[2]
        running.act("sessions", team="crabs")
        running.act("sessions/3/arm")
        lost = log_in(running, "crabs", lost_password)[1]
        assert 200 == status_of(running, lost)[0]
        running.stop_session()
        running.scored(3)
        exported = event.referee("export", "--all", "--out", str(stick / "bundles"))
        assert 0 == exported.returncode, exported.stderr
    shutil.rmtree(tmp_path / "first")

    second = tmp_path / "second"
    shutil.copytree(stick, second)
    event = carried(event, second, material)
    assert 0 == event.referee("audit").returncode
    told = event.referee("check", "--quick")
    assert "restored from an older copy" in told.stdout and "session3.zip" in told.stdout
    crabs = (second / "bundles" / "session3.zip").read_bytes()
    with event.serve() as running:
        added = event.referee("team", "add", "drones").stdout.strip().rpartition(" ")[2]
        running.act("sessions", team="drones")
        running.act("sessions/3/arm")
        assert 200 != log_in(running, "crabs", lost_password)[0]
        assert 200 != log_in(running, "drones", lost_password)[0]
        status, token = log_in(running, "drones", added)
        assert (200, True) == (status, token != lost and token.startswith("3."))
        assert (401, 200) == (status_of(running, lost)[0], status_of(running, token)[0])
        running.stop_session()
        running.scored(3)
        event.play(running, "crabs", 4)
        done = event.referee("export", "--all", "--out", str(second / "bundles"))
        assert 0 == done.returncode, done.stderr
    assert {"ants": [], "bees": [], "crabs": [], "drones": []} == event.marked()
    assert crabs == (second / "bundles" / "session3.zip").read_bytes()
    bundles = sorted((second / "bundles").glob("*.zip"))
    assert 5 == len(bundles)
    for path in bundles:
        key = ["--public-key", str(event.config.parent / "signing.pub")]
        held = referee("verify", str(path), "--ground-truth", str(event.truth), *key)
        assert 0 == held.returncode, held.stderr
    board = referee("board", "--bundles", str(second / "bundles"), "--json", cwd=tmp_path)
    entries = json.loads(board.stdout)["view"]["entries"]
    assert {"ants": 1, "bees": 2, "crabs": 4, "drones": 3} == {
        one["team"]: one["session"] for one in entries
    }
    assert 0 == event.referee("audit").returncode
    for number in range(1, 5):
        event.referee("review", str(number), "--reason", "an emulator", "--by", "Kim")
    final = event.referee("finalize", "--approved-by", "Kim")
    assert 0 == final.returncode, final.stderr
