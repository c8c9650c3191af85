# SPDX-License-Identifier: Apache-2.0
"""What people reported of meters, played against the drivers: inputs of the shared data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.errors import MeterRefused, MeterReplyError
from power.meters.ppk2_stream import Calibration, Decoder
from power.meters.shelly import ShellyPlug
from power.resource import Resource
from power.sampled.source import Tools
from power.testing.http_device import serving

ROOT = Path(__file__).parents[3]
ABOUT = "Calibrated: 0\nR0: 1004.23\nR1: 102.25\nR2: 10.40\nR3: 0.977\nR4: 0.043\n"
AMPERES = 0.110185


@pytest.fixture
def inputs(shared_data: Path) -> Path:
    """Return the folder of the inputs."""
    folder = shared_data / "field" / "meters"
    if not folder.exists():
        pytest.skip("needs shared/data/field/meters")
    return folder


def printed(program: Path, folder: Path) -> list[str]:
    """Return the lines that a program of the inputs prints."""
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_counter_that_starts_again_is_no_power(inputs: Path, tmp_path: Path) -> None:
    """A RAPL counter that falls to zero gives no sample, and the others 20 W."""
    moments = [line.split(" ", 1) for line in printed(inputs / "rapl_reset.py", tmp_path)]
    powers = {moment: json.loads(shown) for moment, shown in moments}
    assert powers["0.2"] == []
    assert powers["0.1"] + powers["0.3"] == pytest.approx([20.0, 20.0])


@pytest.mark.slow
def test_one_false_power_does_not_widen_the_tolerance(inputs: Path, tmp_path: Path) -> None:
    """A spike of 2300 W or 230 kW in ten minutes at 5 W differs from the counter."""
    lines = printed(inputs / "plug_spike" / "spike_counter.py", tmp_path)
    differs = {line.split(" ")[0]: "counter_differs" in line for line in lines[:4]}
    assert differs == {"5.0": False, "100.0": False, "2300.0": True, "230000.0": True}


@pytest.mark.slow
def test_lost_bytes_do_not_shift_the_stream(inputs: Path, tmp_path: Path) -> None:
    """Each cut has the current of the whole stream, and its loss is counted."""
    lines = printed(inputs / "ppk2_sync" / "ppk2_decode.py", tmp_path)
    assert len(lines) == 5
    for drop, line in enumerate(lines):
        assert f"mean {AMPERES:.6f} A" in line and "over_range False" in line
        assert ("lost 0," in line) is (drop == 0)


@pytest.mark.parametrize("size", [7, 64, 4000, 100_000])
def test_a_stream_of_which_two_bytes_are_lost(inputs: Path, size: int) -> None:
    """However the bytes come, the stored stream has its current and its loss."""
    content = (inputs / "ppk2_sync" / "ppk2_two_bytes_lost.bin").read_bytes()
    decoder = Decoder(Calibration.parse(ABOUT), 3.3)
    blocks = [decoder.take(content[at : at + size]) for at in range(0, len(content), size)]
    known = [block for block in blocks if block is not None]
    samples = sum(block.samples for block in known)
    mean_a = sum(block.mean_a * block.samples for block in known) / samples
    assert mean_a == pytest.approx(AMPERES, abs=1e-6)
    assert 1 <= sum(block.lost for block in known) <= 2
    assert not any(block.over_range for block in known)


def later(component: str, status: dict[str, Any]) -> Callable[[str], tuple[int, str]]:
    """Return what a later device answers whose one component has this status."""
    about = {"mac": "A0", "gen": 2, "model": "SPEM-003CEBEU", "ver": "1.4.4"}
    answers: dict[str, Any] = {
        "/shelly": about,
        "/rpc/Shelly.GetStatus": {f"{component.lower()}:0": status},
        f"/rpc/{component}.GetStatus?id=0": status,
    }
    return lambda path: (200, json.dumps(answers[path])) if path in answers else (404, "{}")


def test_a_phase_that_failed_is_no_0_w(inputs: Path) -> None:
    """A meter of three phases with a broken one is an error, though it shows a sum."""
    status = json.loads((inputs / "shelly_em_errors" / "em_status.json").read_text())
    with serving(later("EM", status)) as at:
        source = ShellyPlug(Resource("shelly", at), Tools())
        with pytest.raises(MeterReplyError, match="its own power meter does not work"):
            source.read()


def test_a_value_out_of_range_is_over_range(inputs: Path) -> None:
    """What the meter calls out of range is over range, and so has no energy."""
    status = json.loads((inputs / "shelly_em_errors" / "em1_out_of_range.json").read_text())
    with serving(later("EM1", status)) as at:
        (sample,) = ShellyPlug(Resource("shelly", at), Tools()).read()
    assert sample.over_range


def test_a_meter_without_its_transformer_is_refused(inputs: Path) -> None:
    """A meter that does not know its transformer cannot be opened."""
    status = json.loads((inputs / "shelly_em_errors" / "em1_ct_not_set.json").read_text())
    with (
        serving(later("EM1", status)) as at,
        pytest.raises(MeterRefused, match="which current transformer it has"),
    ):
        ShellyPlug(Resource("shelly", at), Tools())


def test_a_first_generation_meter_of_three_phases_is_their_sum(inputs: Path) -> None:
    """Without a channel it is the sum; with one it is that phase."""
    folder = inputs / "shelly_gen1_3em"
    status = json.loads((folder / "status.json").read_text())
    answers = {
        "/shelly": (folder / "shelly.json").read_text(),
        "/status": json.dumps(status),
        "/emeter/1": json.dumps(status["emeters"][1]),
    }
    with serving(lambda path: (200, answers[path])) as at:
        (whole,) = ShellyPlug(Resource("shelly", at), Tools()).read()
        (phase,) = ShellyPlug(Resource("shelly", at, {"channel": "1"}), Tools()).read()
    assert (whole.power_w, whole.voltage_v, whole.current_a) == (600.0, None, 3.0)
    assert (whole.counter_wh, phase.power_w) == (3000.0, 200.0)
