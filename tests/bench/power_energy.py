# SPDX-License-Identifier: Apache-2.0
"""Energy against the load's own integral, and the cross-check's error, by load and rate."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from power.bench.recorder import Recorder
from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import LoadProfile, bursts, constant, energy_wh, noisy, parse_steps
from power.energy.judge import EnergyResult
from power.meter import MeterSettings
from power.wt310.driver import WT310
from tests.support.direct_wire import DirectTransport

SECONDS = 600
INTERVALS_S = (0.1, 1.0, 5.0)
LOADS = {
    "constant 5 W": constant(5.0),
    "steps 1.2 to 11 W": parse_steps("0:1.2,37.3:11,151.9:4.4,300.1:7.7,444.4:2.5,590.01:9"),
    "bursts 2/9 W, 1.37 s": bursts(2.0, 9.0, 1.37, 0.31),
    "noise 5 ± 0.5 W": noisy(5.0, 0.5, seed=1),
}


def measure(profile: LoadProfile, interval_s: float) -> EnergyResult:
    """Return the judged energy of one session, in time that only sleeps move."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    interpreter = Interpreter(Instrument(Load(profile), lambda: now[0], Options()))
    meter = WT310(
        lambda: DirectTransport(interpreter, sleep),
        clock=lambda: now[0],
        sleep=sleep,
        utc=lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=now[0]),
    )
    settings = MeterSettings(
        timer_s=SECONDS,
        update_interval_s=interval_s,
        voltage_range_v=150.0,
        current_range_a=0.1,
    )
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(meter, clock=lambda: now[0], sleep=sleep)
        return recorder.record(settings, Path(folder) / "log.csv").result


def run() -> None:
    """Print the errors in parts per million."""
    print(f"{SECONDS} s sessions; the meter shows six digits of energy, five of power")
    print(f"{'load':24}{'update':>8}{'energy':>12}{'cross-check':>14}  verdict")
    for name, profile in LOADS.items():
        true_wh = energy_wh(profile, 0, SECONDS)
        for interval_s in INTERVALS_S:
            result = measure(profile, interval_s)
            if result.energy_wh is None or result.cross_check_wh is None:
                raise RuntimeError(f"{name} at {interval_s} s: {result.findings}")
            energy, check = (
                f"{1e6 * (value / true_wh - 1):+.1f} ppm"
                for value in (result.energy_wh, result.cross_check_wh)
            )
            print(f"{name:24}{interval_s:>6g} s{energy:>12}{check:>14}  {result.verdict.value}")


if __name__ == "__main__":
    run()
