# SPDX-License-Identifier: Apache-2.0
"""The referee and the power commands at one meter: neither wipes what the other has not fetched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from power.connect import open_wt310
from power.errors import MeterBusy
from power.logs.journal import JOURNAL_VARIABLE
from power.meter import IntegrationState
from power.wipe_guard import look
from tests.e2e.conftest import Material, Rehearse
from tests.support.emulators import Emulator
from tests.support.running import Program, eventually, request

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def meter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of a meter, whose runs are in a journal of their own."""
    monkeypatch.setenv(JOURNAL_VARIABLE, str(tmp_path / "runs.jsonl"))
    emulator = Emulator("--watts", "5")
    yield emulator.resource
    emulator.end()


def power(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m power` in the folder of its journal: a rescue may write a log there."""
    return subprocess.run(
        [sys.executable, "-m", "power", *arguments],
        cwd=Path(os.environ[JOURNAL_VARIABLE]).parent,
        capture_output=True,
        text=True,
        timeout=600,
    )


def state_of(resource: str) -> IntegrationState | None:
    """Return the state of what the meter holds or counts, None for nothing."""
    with closing(open_wt310(resource)) as driver:
        held = look(driver)
    return None if held is None else held.state


def has_timed_out(resource: str) -> bool:
    """Tell whether the timer has ended the integration; a killed program may hold a link."""
    try:
        return state_of(resource) is IntegrationState.TIMEUP
    except MeterBusy:
        return False


def log_in(running: Program) -> None:
    """Log a team in, which begins a session."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, told = request(f"{running.contest}/login", b"username=ants&password=practice", form)
    assert 200 == status, told


def test_a_killed_referees_session_is_wiped_by_no_command(
    meter: str, rehearse: Rehearse, tmp_path: Path
) -> None:
    """A session whose referee was killed stays in the meter until a new referee has fetched it."""
    options = ("--seconds", "4", "--meter", meter, "--update-interval", "0.25")
    running = rehearse(*options)
    log_in(running)
    running.child.send_signal(signal.SIGKILL)
    elsewhere = meter.replace("127.0.0.1", "localhost")
    record = ("record", elsewhere, "--seconds", "1", "--out", str(tmp_path / "a.csv"), "--quiet")
    refused = power(*record)
    assert 1 == refused.returncode and "the run of session 1 of" in refused.stderr, refused.stderr
    eventually(lambda: state_of(meter) is IntegrationState.TIMEUP, "the timer's end")
    refused = power("selftest", elsewhere)
    assert 1 == refused.returncode and "the run of session 1 of" in refused.stderr, refused.stderr
    assert f"rescue {elsewhere} --discard" in refused.stderr
    again = rehearse(*options)
    assert 4.0 * 5.0 / 3600 == pytest.approx(again.scored(1)["energy_wh"], rel=1e-3)
    again.child.send_signal(signal.SIGTERM)
    again.child.wait()
    done = power(*record)
    assert (tmp_path / "a.csv").exists(), done.stderr


def test_a_killed_recording_is_said_before_ready(
    meter: str, rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """What `record` left is no login's to wipe: a rehearsal says so first, and what to do."""
    out, said = tmp_path / "a.csv", tmp_path / "said.txt"
    recorder = subprocess.Popen(
        [
            *(sys.executable, "-m", "power", "record", meter.replace("127.0.0.1", "localhost")),
            *("--seconds", "2", "--update", "0.25", "--out", str(out), "--quiet"),
        ],
        cwd=ROOT,
    )
    eventually(lambda: out.exists() and len(out.read_text().splitlines()) > 1, "a reading")
    recorder.kill()
    recorder.wait()
    eventually(lambda: state_of(meter) is IntegrationState.TIMEUP, "the timer's end")
    options = ("--seconds", "600", "--meter", meter, "--update-interval", "0.25")
    with said.open("w") as errors:
        refused = subprocess.Popen(
            [
                *(sys.executable, "-m", "referee", "practice", "--data", str(tmp_path / "data")),
                *("--contest", "127.0.0.1:0", "--console", "127.0.0.1:0", *options),
                *("--images", str(material.images), "--ground-truth", str(material.ground_truth)),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    eventually(lambda: f"power rescue {meter} --discard" in said.read_text(), "the refusal")
    assert "Not ready yet. The power meter is not reset: the meter holds " in said.read_text()
    assert f"the run of {out}" in said.read_text()
    refused.send_signal(signal.SIGTERM)
    assert "ready" not in refused.communicate()[0]
    rescued = power("rescue", meter)
    assert 0 == rescued.returncode and str(out) in rescued.stdout, rescued.stderr
    log_in(rehearse(*options))


def test_a_killed_session_hides_no_energy_from_ready(
    meter: str, rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """The next referee settles it before `ready`, and then says whose energy forbids a login."""
    options = ("--seconds", "4", "--meter", meter, "--update-interval", "0.25")
    running = rehearse(*options)
    log_in(running)
    running.child.send_signal(signal.SIGKILL)
    eventually(lambda: has_timed_out(meter), "the timer's end")
    assert 0 == power("rescue", meter, "--discard").returncode
    out, said = tmp_path / "a.csv", tmp_path / "said.txt"
    record = ("record", meter, "--seconds", "2", "--update", "0.25", "--out", str(out), "--quiet")
    recorder = subprocess.Popen([sys.executable, "-m", "power", *record], cwd=ROOT)
    eventually(lambda: out.exists() and len(out.read_text().splitlines()) > 1, "a reading")
    recorder.kill()
    recorder.wait()
    eventually(lambda: has_timed_out(meter), "the timer's end")
    with said.open("w") as errors:
        refused = subprocess.Popen(
            [
                *(sys.executable, "-m", "referee", "practice", "--data", running.data),
                *("--contest", "127.0.0.1:0", "--console", "127.0.0.1:0", *options),
                *("--images", str(material.images), "--ground-truth", str(material.ground_truth)),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    eventually(lambda: f"power rescue {meter} --discard" in said.read_text(), "the refusal")
    assert f"the run of {out}" in said.read_text()
    refused.send_signal(signal.SIGTERM)
    assert "ready" not in refused.communicate()[0]
