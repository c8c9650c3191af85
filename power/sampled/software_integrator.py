# SPDX-License-Identifier: Apache-2.0
"""An integrator in software, with the states and the timer of a WT310's; its rules are pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from power.errors import MeterBusy, MeterRefused
from power.meter import NO_SAMPLE, IntegrationState, MeterFlag, MeterSettings, Sampling
from power.sampled.counter import KEPT, NO_COUNTER, CounterBeside
from power.sampled.counter import EnergyCounter as EnergyCounter
from power.sampled.possible import VoltAmperesBeside, impossible
from power.sampled.source import Sample
from power.sampled.trapezoid import Integral

RATE_SHARE = 0.5
"""At least this share of the samples that a device promises must come."""


@dataclass(frozen=True)
class IntegratorState:
    """What the integrator shows at a moment; `absent` says why a value is missing.

    A voltage or a current that the device never measures is None, and not in `absent`. After a run
    `unconfirmed` says that nothing beside the power confirms its energy: NO_WITNESS or
    WITNESS_COARSE.
    """

    state: IntegrationState
    voltage_v: float | None = None
    current_a: float | None = None
    power_w: float | None = None
    energy_wh: float | None = None
    integration_s: float | None = None
    absent: dict[str, str] = field(default_factory=dict)
    flags: frozenset[MeterFlag] = frozenset()
    unconfirmed: MeterFlag | None = None


class SoftwareIntegrator:
    """The integrator of one meter; every time is a moment of the caller's clock.

    The energy of a run is that from its begin to its end, to the microsecond, whenever the samples
    lie: the timer cuts the piece in which it ends. A sample that the device cannot have measured is
    a gap. Two witnesses stand beside the samples: the device's own counter, and voltage times
    current.
    """

    def __init__(self, sampling: Sampling, counter: EnergyCounter = NO_COUNTER) -> None:
        self.sampling = sampling
        self._promised = sampling
        self._counter = counter
        self._settings = MeterSettings(timer_s=0)
        self._newest: Sample | None = None
        self._run: Integral | None = None
        self._state = IntegrationState.RESET
        self._ending = IntegrationState.TIMEUP
        self._flags: frozenset[MeterFlag] = frozenset()
        self._before: deque[Sample] = deque(maxlen=KEPT)
        self._beside = CounterBeside(counter, ())
        self._volt_amperes = VoltAmperesBeside()
        self._lost = 0
        self.refused = ""

    @property
    def state(self) -> IntegrationState:
        """Return the state; a run whose end no sample has reached yet still has START."""
        return self._state

    @property
    def newest(self) -> Sample | None:
        """Return the newest sample."""
        return self._newest

    def measure(self, sampling: Sampling, counter: EnergyCounter) -> None:
        """Go on with how the device measures now; a run that began otherwise gets a flag."""
        self.sampling, self._counter = sampling, counter
        if self._state is IntegrationState.START and sampling != self._promised:
            self._flags |= {MeterFlag.SAMPLING_CHANGED}

    def promise(self) -> Sampling:
        """Return how the device measures, as the settings of the next run will have it."""
        self._promised = self.sampling
        return self.sampling

    def prepare(self, settings: MeterSettings) -> None:
        """Go back to zero with new settings; raise `MeterBusy` while an integration runs."""
        if self._state is IntegrationState.START:
            raise MeterBusy("an integration runs already; stop it first")
        self._settings = settings
        self._state, self._run, self._flags = IntegrationState.RESET, None, frozenset()
        self.refused = ""

    def start(self, begin_s: float) -> None:
        """Begin to integrate; raise `MeterBusy` or `MeterRefused` unless the state is RESET."""
        if self._state is IntegrationState.START:
            raise MeterBusy("an integration runs already; stop it first")
        if self._state is not IntegrationState.RESET:
            raise MeterRefused(f"the integrator is in state {self._state.value}; prepare it first")
        gap_s = self.sampling.longest_gap_s
        run = Integral(begin_s, self._settings.update_interval_s, gap_s)
        if self._settings.timer_s:
            run.end_s = begin_s + self._settings.timer_s
        if self._newest is not None:
            run.add(replace(self._newest, counter_wh=None))
        self._run, self._state, self._lost = run, IntegrationState.START, 0
        self._beside = CounterBeside(self._counter, self._before)
        self._volt_amperes = VoltAmperesBeside()
        self._ending = IntegrationState.TIMEUP

    def stop(self, now_s: float) -> None:
        """End the run now, or where its timer has ended it; the next sample settles it."""
        if self._run is None or self._state is not IntegrationState.START:
            return
        newest_s = self._run.begin_s if self._newest is None else self._newest.at_s
        if now_s < self._run.end_s:
            # A device's time may be a little ahead of ours, and what is counted stays counted.
            self._run.end_s = max(now_s, newest_s, self._run.begin_s)
            self._ending = IntegrationState.STOP
        self._settle()

    def take(self, sample: Sample) -> None:
        """Count the next sample; one that the device cannot have measured is lost."""
        if self._newest is not None and sample.at_s <= self._newest.at_s:
            return
        if sample.over_range and self._within(sample):
            self._flags |= {MeterFlag.OVER_RANGE}
        if sample.fault and self._within(sample):
            self._flags |= {MeterFlag.DEVICE_FAULT}
        self.refused = impossible(sample, self.sampling)
        if self.refused:
            if self._within(sample):
                self._flags |= {MeterFlag.IMPOSSIBLE_POWER}
            self._lost += 1 + sample.lost
            return
        if sample.lost and self._within(sample):
            self._flags |= {MeterFlag.SAMPLES_LOST}
        sample, self._lost = replace(sample, lost=sample.lost + self._lost), 0
        self._newest = sample
        self._before.append(sample)
        if self._run is not None and self._state is IntegrationState.START:
            self._count(self._run, sample)

    def lose(self) -> None:
        """Count a sample that came as no number, or not at all; the device is still open."""
        self._lost += 1
        if self._state is IntegrationState.START:
            self._flags |= {MeterFlag.SAMPLES_LOST}

    def opened_again(self, counter: EnergyCounter, *, restarted: bool) -> None:
        """Go on with a device that was opened again, and tell if that has started anew itself."""
        self._beside.opened_again(counter)
        if restarted and self._state is IntegrationState.START:
            self._flags |= {MeterFlag.DEVICE_RESTARTED}

    def _within(self, sample: Sample) -> bool:
        """Tell whether a sample shows a part of the run."""
        run = self._run
        if run is None or self._state is not IntegrationState.START:
            return False
        return run.begin_s < sample.at_s and sample.at_s - sample.span_s <= run.end_s

    def _count(self, run: Integral, sample: Sample) -> None:
        run.add(sample)
        if sample.at_s <= run.end_s:
            self._beside.add(sample, run.energy_ws / 3600, self.sampling.most_w)
            self._volt_amperes.add(sample, self.sampling)
        self._settle()

    def give_up(self, now_s: float, patience_s: float) -> None:
        """Settle a run that ended longer ago than `patience_s`, without its last samples."""
        run = self._run
        if run is None or self._state is not IntegrationState.START:
            return
        if now_s > run.end_s + patience_s:
            run.hold()
            self._settle()

    def values(self, now_s: float) -> IntegratorState:
        """Return what the meter shows; while it integrates, that is its last whole update."""
        if self._state is IntegrationState.START:
            return self._while_running(now_s)
        shown = self._shown_now(now_s)
        if self._run is None:
            return replace(shown, energy_wh=0.0, integration_s=0.0)
        run = self._run
        return replace(
            shown,
            energy_wh=run.energy_ws / 3600,
            integration_s=self._length_s(run),
            flags=self._flags,
            unconfirmed=self._unconfirmed(run.energy_ws / 3600),
        )

    def _length_s(self, run: Integral) -> float:
        if self._ending is IntegrationState.TIMEUP:
            return float(self._settings.timer_s)  # a difference of two clock values is less exact
        return run.end_s - run.begin_s

    def _while_running(self, now_s: float) -> IntegratorState:
        run = self._run
        update = None if run is None else run.update
        silent_s = self._silent_s(now_s)
        names = ("voltage_v", "current_a", "power_w", "energy_wh", "integration_s")
        why = ""
        if silent_s is not None and silent_s > self._longest_silence_s():
            why = f"{NO_SAMPLE} for {silent_s:.1f} s"
        elif update is None:
            why = "the first update is not complete"
        elif update.unseen_s > self._settings.update_interval_s / 2:
            why = f"{NO_SAMPLE} for {update.unseen_s:.1f} s of the update"
        if why or update is None:
            absent = dict.fromkeys(names, why)
            return IntegratorState(self._state, absent=absent, flags=self._flags)
        return IntegratorState(
            self._state,
            update.voltage_v,
            update.current_a,
            update.power_w,
            update.energy_ws / 3600,
            update.number * self._settings.update_interval_s,
            flags=self._flags,
        )

    def _shown_now(self, now_s: float) -> IntegratorState:
        sample, silent_s = self._newest, self._silent_s(now_s)
        if sample is None or silent_s is None or silent_s > self._longest_silence_s():
            absent = dict.fromkeys(("voltage_v", "current_a", "power_w"), NO_SAMPLE)
            return IntegratorState(self._state, absent=absent)
        return IntegratorState(self._state, sample.voltage_v, sample.current_a, sample.power_w)

    def _silent_s(self, now_s: float) -> float | None:
        return None if self._newest is None else now_s - self._newest.at_s

    def _longest_silence_s(self) -> float:
        # An update is over when the sample after it has come.
        return self.sampling.longest_gap_s + self._settings.update_interval_s

    def _settle(self) -> None:
        """End the run if the samples reach its end, and judge their number and the counter."""
        run = self._run
        if run is None or not run.complete:
            return
        self._state = self._ending
        length_s = run.end_s - run.begin_s
        flags = set(self._flags)
        if run.unseen_s > 0:
            flags.add(MeterFlag.SAMPLES_MISSED)
        interval_s = self.sampling.interval_s
        # One interval at each end may lie outside.
        if interval_s and run.samples + 2 < RATE_SHARE * length_s / interval_s:
            flags.add(MeterFlag.SLOW_SAMPLES)
        if self._beside.differs():
            flags.add(MeterFlag.COUNTER_DIFFERS)
        if self._beside.restarted:
            flags.add(MeterFlag.COUNTER_RESTARTED)
        if self._volt_amperes.differs(self.sampling):
            flags.add(MeterFlag.VOLT_AMPERES_DIFFER)
        self._flags = frozenset(flags)

    def _unconfirmed(self, energy_wh: float) -> MeterFlag | None:
        """Return why neither counter nor voltage and current confirm an energy, or None."""
        counter, volt_amperes = self._beside, self._volt_amperes
        if counter.confirms(energy_wh) or volt_amperes.confirms():
            return None
        known = counter.known or volt_amperes.known
        return MeterFlag.WITNESS_COARSE if known else MeterFlag.NO_WITNESS
