# SPDX-License-Identifier: Apache-2.0
"""Memory and time to judge, to draw and to read a day of readings each 100 ms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from power.energy.judge import RunFacts
from power.logs.facts_file import save_facts
from power.logs.power_log import PowerLog
from power.meter import Identity, IntegrationState, MeterSettings, Reading
from power.transports.transport import utc_now

ROWS = 864_000
UPDATE_S = 0.1
VOLTS, MEAN_W, NOISE_W = 120.0, 5.0, 0.02
MOST_MB, MOST_S = 300, 20

READ = "import sys, power; rows = power.read_log(sys.argv[1]); assert len(rows) == int(sys.argv[2])"


def run() -> None:
    """Print a line for each program; the bounds are those of a quiet machine."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "day.csv"
        write_day(log, ROWS)
        print(f"{ROWS} rows, {log.stat().st_size / 1e6:.0f} MB; bounds {MOST_MB} MB, {MOST_S} s\n")
        print(f"{'program':12}{'MB':>6}{'processor s':>13}")
        for name, command in (
            ("audit", ("-m", "power", "audit", str(log), "--json")),
            ("plot .html", ("-m", "power", "plot", str(log), "-o", f"{folder}/day.html")),
            ("plot .png", ("-m", "power", "plot", str(log), "-o", f"{folder}/day.png")),
            ("read_log", ("-c", READ, str(log), str(ROWS))),
        ):
            out, most_mb, spent_s = measured(command)
            verdict = json.loads(out)["verdict"] if name == "audit" else ""
            print(f"{name:12}{most_mb:6.0f}{spent_s:13.1f}  {verdict}", flush=True)


def measured(command: tuple[str, ...]) -> tuple[str, float, float]:
    """Return the output of a Python program, its most memory, and its processor time."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    # Linux counts in KiB, macOS in bytes.
    unit = 1024 if sys.platform == "linux" else 1
    return out, usage.ru_maxrss * unit / 1e6, usage.ru_utime + usage.ru_stime


def write_day(path: Path, rows: int) -> None:
    """Write the log of a noisy load that a recorder would have written, with its facts."""
    watts = MEAN_W + NOISE_W * np.random.default_rng(1).standard_normal(rows)
    energies_wh = np.cumsum(watts) * UPDATE_S / 3600
    timer_s = round(rows * UPDATE_S)
    settings = MeterSettings(timer_s, UPDATE_S, voltage_range_v=150.0, current_range_a=0.1)
    begun = utc_now()
    with PowerLog(path, 0.0) as log:
        for at in range(rows):
            # The last two readings show the result.
            row, elapsed_s, last = min(at, rows - 2), UPDATE_S * (at + 1) + 0.01, at >= rows - 2
            reading = Reading(
                monotonic_s=elapsed_s,
                utc=begun + timedelta(seconds=elapsed_s),
                voltage_v=VOLTS,
                current_a=float(watts[row]) / VOLTS,
                power_w=float(watts[row]),
                energy_wh=float(f"{energies_wh[row]:.6g}"),
                integration_s=float(timer_s if last else int(elapsed_s)),
                state=IntegrationState.TIMEUP if last else IntegrationState.START,
                absent={},
                power_factor=1.0,
                frequency_hz=60.0,
                voltage_peak_v=169.71,
                current_peak_a=float(watts[row]) / VOLTS * 1.414,
            )
            log.add(reading)
    facts = RunFacts(Identity("YOKOGAWA", "WT310E", "A", "F1.03"), settings)
    save_facts(path, replace(facts, active=True).ended(float(timer_s), reading))
