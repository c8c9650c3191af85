# SPDX-License-Identifier: Apache-2.0
"""Recordings of random loads with random marks on the emulated meter, beside their integrals."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from power.bench.recorder import Recorder, Recording
from power.emulator.instrument import Options
from power.emulator.profile import LoadProfile, bursts, constant
from power.energy.phases import Mark, RunPhase, phases_of
from power.energy.uncertainty import Measuring
from power.meter import MeterSettings
from tests.power.conftest import Bench

UPDATES_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""The update intervals of a WT310E."""

LOADS = ("steady", "two powers", "steps", "fast steps", "bursts")
# How the load is connected: a sine, a sine behind the voltage, a direct current.
CIRCUITS: tuple[dict[str, float], ...] = (
    {},
    {"power_factor": 0.7},
    {"volts": 12.0, "frequency_hz": 0.0},
)
# Ranges that take the largest load, and show the smallest: below 0.5 % of a range there is nothing.
_RANGE_A = {120.0: 0.2, 12.0: 1.0}
_UPDATES, _LEAST_S = 24, 10


@dataclass(frozen=True)
class Checked:
    """A phase with the integral of its load, and what the load was."""

    load: str
    phase: RunPhase
    truth_wh: float

    @property
    def error(self) -> float:
        """Return the error of its energy, in its own ±; a ± that is not known is none."""
        limit_wh = self.phase.uncertainty_wh or 0.0
        error_wh = abs(self.phase.energy_wh - self.truth_wh)
        return error_wh / limit_wh if limit_wh else math.inf


def trial(
    rng: random.Random, update_s: float, rule: Callable[..., tuple[RunPhase, ...]]
) -> list[Checked]:
    """Record one random load with random marks, and return its phases by a rule."""
    length_s = max(_LEAST_S, round(_UPDATES * update_s))
    load = rng.choice(LOADS)
    profile = random_profile(rng, load, length_s, update_s)
    recording = _recorded(rng, profile, length_s, update_s)
    start_s, session_s = recording.start.sent_s, recording.result.session_s or 0.0
    marks = [
        Mark(start_s + at_s, "next")
        for at_s in random_marks(rng, profile, session_s, update_s)
        if 0 < at_s < session_s
    ]
    measuring = Measuring(recording.identity, recording.settings)
    found = rule(recording, marks, measuring)
    return [
        Checked(load, one, profile.energy_j(one.begin_s, one.begin_s + one.seconds) / 3600)
        for one in found
    ]


def present_rule(
    recording: Recording, marks: list[Mark], measuring: Measuring
) -> tuple[RunPhase, ...]:
    """Return the phases as `record` does."""
    start = recording.start
    return phases_of(
        recording.readings,
        marks,
        measuring,
        recording.result.session_s,
        start.sent_s,
        start_off_s=start.written_s - start.sent_s,
        duration=recording.result.duration,
    )


def random_profile(rng: random.Random, load: str, length_s: float, update_s: float) -> LoadProfile:
    """Return a random load of a kind."""
    if load == "steady":
        return constant(rng.uniform(0.5, 12))
    if load == "bursts":
        period_s = rng.choice([rng.uniform(0.05, 3), rng.uniform(0.3, 3) * update_s, 2.0])
        high_w = rng.uniform(4, 12)
        return bursts(rng.uniform(0.3, 3), high_w, period_s, rng.uniform(0.1, 0.9))
    mean_s = {
        "two powers": length_s / 2,
        "steps": length_s / 5,
        "fast steps": update_s * rng.uniform(0.05, 2),
    }[load]
    times = [0.0]
    while times[-1] < length_s:
        times.append(times[-1] + max(0.01, rng.expovariate(1 / mean_s)))
    return LoadProfile(tuple(times), tuple(rng.uniform(0.3, 12) for _ in times))


def random_marks(
    rng: random.Random, profile: LoadProfile, session_s: float, update_s: float
) -> list[float]:
    """Return marks anywhere, at changes of the load, near the end, and close together."""
    marks = [rng.uniform(0, session_s) for _ in range(rng.randint(1, 5))]
    if profile.period_s is None:
        changes = [at_s for at_s in profile.times_s if 0 < at_s < session_s]
        marks += rng.sample(changes, min(2, len(changes)))
    marks.append(session_s - rng.uniform(0.01, 0.9) * update_s)
    marks.append(marks[0] + rng.uniform(0.01, 0.5) * update_s)
    return sorted(marks)


def _recorded(
    rng: random.Random, profile: LoadProfile, length_s: int, update_s: float
) -> Recording:
    """Record a load, with a busy computer, a lost link or an early end now and then."""
    lost_s = rng.uniform(0.1, 0.7) * length_s
    gap = f"start+{lost_s:.2f} unplug seconds={rng.uniform(0.5, 4) * update_s:.2f}"
    circuit = rng.choice(CIRCUITS)
    bench = Bench(profile, Options(model="WT310E"), gap if rng.random() < 0.2 else "", **circuit)
    stop_s = rng.uniform(0.5, 0.98) * length_s if rng.random() < 0.5 else length_s + 1.0
    late = rng.random() < 0.3
    begun: list[float] = []

    def sleep(seconds: float) -> None:
        bench.time.sleep(seconds)
        if late and begun and rng.random() < 0.1:
            bench.time.now += rng.uniform(0, 1.5) * update_s

    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=sleep)
    settings = MeterSettings(
        timer_s=length_s,
        update_interval_s=update_s,
        voltage_range_v=150.0,
        current_range_a=_RANGE_A[circuit.get("volts", 120.0)],
    )
    with tempfile.TemporaryDirectory() as folder:
        return recorder.record(
            settings,
            Path(folder) / "log.csv",
            should_stop=lambda: bool(begun) and bench.time.now > begun[0] + stop_s,
            on_start=lambda identity, settings, start: begun.append(start.sent_s),
        )
