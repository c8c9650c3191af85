# SPDX-License-Identifier: Apache-2.0
"""The meter under random fault schedules: no hang, no wrong energy called VALID, nothing lost."""

from __future__ import annotations

import logging
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from power.bench.recorder import Recorder
from power.emulator.fault_actions import act
from power.emulator.faults import parse_schedule
from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import LoadProfile, bursts, constant, parse_steps
from power.energy.judge import EnergyResult, Verdict
from power.errors import MeterError
from power.meter import Meter, MeterSettings
from power.wt310.driver import WT310
from tests.support.direct_wire import DirectTransport

COUNT = 1000
# This is longer than any session, any wait for a lost meter, and all time-outs together.
MOST_SECONDS = 1200.0
SIX_DIGITS = 5e-6

# These faults leave the integrator's energy right and readable in the end.
HARMLESS = (
    "silent count={few}",
    "slow seconds={second} count={few}",
    "stale",
    "garbage count={few}",
    "truncate count={few}",
    "no_data updates={few}",
    "no_data updates={few} fields=all",
    "numerals",
    "talk header={bit} verbose={other}",
    "binary",
    "panel key=START",
    "panel key=RESET",
    "errors count=30",
    "overrun count=1",
    "unplug seconds={second}",
    "hang seconds={second}",
    "load watts={watts}",
    "items number=3",
    "hold",
    "deaf_start seconds={second}",
)
# After these faults there is no energy, or only a doubtful one.
HARMFUL = (
    "over updates=2",
    "negative updates=3 watts=-12",
    "panel key=STOP",
    "timeup",
    "race",
    "clip share=0.5",
    "clip share=0.5 current=1.05",
    "clip share={watts_share} current=0.9",
    "scaling factor={factor}",
    "leftover name=averaging",
    "leftover name=max_hold",
    "mode200",
    "force_range",
    "hyphen place=before",
    "hyphen place=after",
    "power seconds={second}",
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run: the judged energy, the truth, and what the faults allow.

    `true_wh` is what the load drew in the session. `counted_wh` is what it drew until the meter
    stopped; None unless it did. `left` says why the recorder left the meter before it had read the
    result: somebody had asked for an end while the meter did not answer. The meter keeps that
    energy for a rescue.
    """

    seed: int
    schedule: str
    result: EnergyResult | None
    error: str
    begun: bool
    true_wh: float
    counted_wh: float | None
    tolerance_wh: float
    harmful: bool
    took_s: float
    left: str = ""

    @property
    def wrong_and_valid(self) -> bool:
        """Tell whether a VALID energy is wrong.

        It must be the session's by the clocks' resolution, and all that the meter has counted.
        """
        if self.result is None or self.result.verdict is not Verdict.VALID:
            return False
        energy_wh = self.result.energy_wh
        assert energy_wh is not None
        if self.counted_wh is None or abs(energy_wh - self.counted_wh) > SIX_DIGITS * energy_wh:
            return True
        return abs(energy_wh - self.true_wh) > self.tolerance_wh

    @property
    def lost(self) -> bool:
        """Tell whether a sound integration came to no energy."""
        if self.harmful or not self.begun or self.left:
            return False
        return self.result is None or self.result.energy_wh is None


class _Time:
    """A time that only sleeps move, and that ends a session which hangs."""

    def __init__(self) -> None:
        self._now_s = self._begun_s = 1000.0

    @property
    def elapsed_s(self) -> float:
        """Return the seconds that have passed."""
        return self._now_s - self._begun_s

    def clock(self) -> float:
        """Return the monotonic seconds."""
        return self._now_s

    def utc(self) -> datetime:
        """Return the wall time."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.clock())

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        self._now_s += seconds
        if self.elapsed_s > MOST_SECONDS:
            raise TimeoutError("the session hangs")


def play(seed: int) -> Outcome:
    """Run one session against one schedule, in time that only sleeps move."""
    rng, simulated = random.Random(seed), _Time()
    settings = MeterSettings(
        timer_s=rng.choice((12, 20, 30)),
        update_interval_s=rng.choice((0.1, 0.25, 0.5, 1.0)),
        voltage_range_v=150.0,
        current_range_a=0.1,
    )
    schedule, harmful = _schedule(rng, settings.timer_s)
    load = Load(_profile(rng))
    options = Options(
        late_final=rng.random() < 0.5, busy_window=rng.choice(("off", "commands", "all"))
    )
    early_s = settings.timer_s * rng.uniform(0.3, 0.9) if rng.random() < 0.3 else None
    if early_s is not None and rng.random() < 0.3:
        # A display that is held just before an early end shows nearly the right time.
        schedule += f"\nstart+{early_s - rng.uniform(-0.3, 1.5):.3f} hold"
    instrument = Instrument(
        load, simulated.clock, options, schedule=parse_schedule(schedule), act=act
    )
    begun: list[float] = []
    asked: list[float] = []

    def should_stop() -> bool:
        if early_s is None or simulated.clock() < begun[0] + early_s:
            return False
        asked.append(simulated.clock())
        return True

    result, error, left = _record(instrument, simulated, settings, begun, should_stop)
    session_s = asked[0] - begun[0] if asked else settings.timer_s
    return Outcome(
        seed,
        schedule,
        result,
        error,
        bool(begun),
        _true_wh(instrument, begun[0], session_s) if begun else 0.0,
        _counted_wh(instrument, begun[0]) if begun else None,
        _tolerance_wh(settings, bool(asked)),
        # START at the panel after our STOP adds to the energy; during the run it is refused.
        harmful or (bool(asked) and "key=START" in schedule),
        simulated.elapsed_s,
        left,
    )


def _record(
    instrument: Instrument,
    simulated: _Time,
    settings: MeterSettings,
    begun: list[float],
    should_stop: Callable[[], bool],
) -> tuple[EnergyResult | None, str, str]:
    """Record a session; return its result, its error, and why it left the meter early.

    `begun` gets the start.
    """
    interpreter = Interpreter(instrument)
    meter: Meter = WT310(
        lambda: DirectTransport(interpreter, simulated.sleep),
        clock=simulated.clock,
        sleep=simulated.sleep,
        utc=simulated.utc,
    )
    recorder = Recorder(meter, clock=simulated.clock, sleep=simulated.sleep)
    with tempfile.TemporaryDirectory() as folder:
        try:
            recording = recorder.record(
                settings,
                Path(folder) / "log.csv",
                should_stop=should_stop,
                on_start=lambda identity, found, start: begun.append(start.written_s),
            )
        except (MeterError, TimeoutError) as raised:
            return None, f"{type(raised).__name__}: {raised}", ""
    return recording.result, "", recording.left


def _schedule(rng: random.Random, timer_s: int) -> tuple[str, bool]:
    """Return one to four faults, mostly during the run, and whether any of them does harm."""
    lines, harmful = [], False
    for _ in range(rng.randint(1, 4)):
        harms = rng.random() < 0.25
        harmful = harmful or harms
        line = rng.choice(HARMFUL if harms else HARMLESS).format(
            few=rng.randint(1, 4),
            second=round(rng.uniform(0.3, 9.0), 2),
            bit=rng.randint(0, 1),
            other=rng.randint(0, 1),
            watts=round(rng.uniform(1.0, 12.0), 2),
            watts_share=round(rng.uniform(0.5, 0.95), 2),
            factor=round(rng.uniform(1.01, 3.0), 3),
        )
        early = rng.random() < 0.15
        when = f"{rng.uniform(0, 6):.3f}" if early else f"start+{rng.uniform(0, timer_s + 3):.3f}"
        lines.append(f"{when} {line}")
        # During the run RESET at the panel is refused; after the end it destroys the energy. A
        # START before ours makes the meter busy.
        harmful = harmful or "RESET" in line or (early and "START" in line)
    return "\n".join(lines), harmful


def _profile(rng: random.Random) -> LoadProfile:
    kind = rng.randrange(3)
    if kind == 0:
        return constant(rng.uniform(1, 12))
    if kind == 1:
        times = sorted(rng.uniform(0.5, 30) for _ in range(5))
        steps = [f"{at_s}:{rng.uniform(1, 12)}" for at_s in times]
        return parse_steps(",".join([f"0:{rng.uniform(1, 12)}", *steps]))
    # The `load` fault needs a profile that does not repeat, so all bursts are listed.
    burst = bursts(
        rng.uniform(1, 4), rng.uniform(5, 12), rng.uniform(0.5, 3), rng.uniform(0.2, 0.8)
    )
    period_s = burst.period_s or 1.0
    times_w = [
        (k * period_s + at_s, watts)
        for k in range(int(40 / period_s))
        for at_s, watts in zip(burst.times_s, burst.watts, strict=True)
    ]
    return LoadProfile(tuple(t for t, _ in times_w), tuple(w for _, w in times_w))


def _true_wh(instrument: Instrument, begun_s: float, session_s: float) -> float:
    """Return the load's own energy in the session's window."""
    measurement = instrument.measurement
    return measurement.inputs.energy_j(begun_s, begun_s + session_s) / 3600


def _counted_wh(instrument: Instrument, begun_s: float) -> float | None:
    """Return the load's own energy until the meter's integrator ended, None if it did not."""
    integrator = instrument.measurement.integrator
    if integrator.state not in ("STOP", "TIMEUP"):
        return None
    return instrument.measurement.inputs.energy_j(begun_s, integrator.ended_s) / 3600


def _tolerance_wh(settings: MeterSettings, early: bool) -> float:
    """Return the clocks' resolution in energy: six digits, and for an early end that of TIME."""
    most_w = 12.0
    if early:
        return most_w * (settings.update_interval_s + 1.0) / 3600 + 1e-6
    return SIX_DIGITS * most_w * settings.timer_s / 3600


def run() -> None:
    """Play all schedules and print the outcomes."""
    logging.disable(logging.CRITICAL)
    begin_s = time.perf_counter()
    outcomes = [play(seed) for seed in range(COUNT)]
    took_s = time.perf_counter() - begin_s
    logging.disable(logging.NOTSET)
    verdicts = Counter(
        (
            outcome.result.verdict.value
            if outcome.result
            else "error while running"
            if outcome.begun
            else "refused before the start"
        )
        for outcome in outcomes
    )
    print(f"{COUNT} schedules, {sum(o.took_s for o in outcomes) / 3600:.1f} h in {took_s:.1f} s")
    for name, count in sorted(verdicts.items()):
        print(f"  {name:26}{count:5}")
    print(f"  {'left for a rescue':26}{sum(bool(o.left) for o in outcomes):5}")
    for name, bad in (
        ("hangs", [o for o in outcomes if o.error.startswith("TimeoutError")]),
        ("wrong energy called VALID", [o for o in outcomes if o.wrong_and_valid]),
        ("integrations lost needlessly", [o for o in outcomes if o.lost]),
    ):
        print(f"  {name:26}{len(bad):5}")
        for outcome in bad[:10]:
            print(f"    seed {outcome.seed}: {outcome.schedule!r} {outcome.error}", end=" ")
            if outcome.result is not None:
                codes = [finding.code for finding in outcome.result.findings]
                print(outcome.result.integrator_wh, outcome.true_wh, codes, end="")
            print()


if __name__ == "__main__":
    run()
