# SPDX-License-Identifier: Apache-2.0
"""What each driver of a sampled device must do, as tests that its author runs on an emulated one.

A test file makes a `Bench` of its device, and a class that pytest collects:

    class TestMyPlug(SourceContract):
        @contextmanager
        def bench(self):
            yield MyPlugBench()

What a device cannot do, its bench leaves out, and that test is skipped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from unittest import SkipTest

from power.errors import MeterError, MeterUnreachable
from power.meter import IntegrationState, MeterFlag, MeterSettings
from power.sampled.software_integrator import EnergyCounter, SoftwareIntegrator
from power.sampled.source import Sample, Source, Tools

NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "9" * 5000, '"5"', "[5]", "5 W")
"""What must never become a power."""

_WATTS = 5.0
# What a driver may round, beside what its device states.
_SHARE = 0.01
_SILENT_S = 10


class Bench(ABC):
    """An emulated device, and the driver on it; a test makes it measure, and breaks it.

    Its time stands still but in `measure` and `wait`, so ten minutes take no time. `seconds` is how
    long a run is, and `step_s` how often a source without a `poll_s` is read.
    """

    seconds = 600
    step_s = 1.0

    def __init__(self) -> None:
        self._now_s = 1000.0

    def clock(self) -> float:
        """Return the bench's time, which the driver gets as that of its computer."""
        return self._now_s

    def wait(self, seconds: float) -> None:
        """Let time pass while the device does nothing."""
        self._now_s += seconds

    @property
    def tools(self) -> Tools:
        """Return what the driver gets from outside; what must succeed has a minute."""
        return Tools(clock=self.clock, sleep=self.wait, timeout_s=60.0)

    @abstractmethod
    def open(self, **options: str) -> Source:
        """Open the driver, with these options of its resource string beside the usual ones."""

    @abstractmethod
    def measure(self, seconds: float, watts: float) -> None:
        """Let the device draw this power for so long, and count it, and let the time pass."""

    def send(self, text: str) -> None:
        """Let the device answer this text from now on, where the number of its power stands."""
        raise SkipTest("this device sends no text")

    def fall_silent(self, source: Source) -> None:
        """Let the device answer nothing any more; a wait of the source may be made shorter."""
        raise SkipTest("this device is never silent")

    def coarsen(self) -> None:
        """Let the device measure in coarser steps from its next opening on."""
        raise SkipTest("this device always measures in the same steps")


class SourceContract(ABC):
    """The tests; each has a bench of its own."""

    @abstractmethod
    def bench(self) -> AbstractContextManager[Bench]:
        """Return a new bench, as a context."""

    def test_it_says_who_measures_and_how(self) -> None:
        """Identity and sampling are complete, and no two polls are a gap."""
        with self.bench() as bench, closing(bench.open()) as source:
            sampling = source.sampling
            _expect(source.identity.maker and source.identity.model, "the identity has no name")
            _expect(sampling.kind, "`sampling.kind` is empty")
            _expect(
                sampling.interval_s in (0.0, source.poll_s),
                "`sampling.interval_s` must be `poll_s`, or 0 if the device averages without holes",
            )
            _expect(
                sampling.longest_gap_s >= 2 * source.poll_s,
                "`sampling.longest_gap_s` is so short that one late sample is a gap",
            )
            _expect(
                sampling.most_w is None or sampling.most_w > _WATTS,
                "`sampling.most_w` must be the rated power, or None",
            )
            _expect(
                min(source.counter_lag_s, source.counter_step_wh) >= 0,
                "`counter_lag_s` and `counter_step_wh` must not be negative",
            )

    def test_a_steady_run_has_its_energy_and_no_fault(self) -> None:
        """A run at 5 W has the energy of 5 W, whatever steps the device's own counter has."""
        with self.bench() as bench, closing(bench.open()) as source:
            integrator = SoftwareIntegrator(source.sampling, EnergyCounter.of(source))
            integrator.prepare(MeterSettings(timer_s=bench.seconds))
            _feed(bench, source, integrator)
            integrator.start(bench.clock())
            end_s = bench.clock() + bench.seconds + 60
            while integrator.state is IntegrationState.START:
                _expect(bench.clock() < end_s, "the samples never reach the end of the run")
                _feed(bench, source, integrator)
            shown = integrator.values(bench.clock())
            offset_w = source.sampling.offset_w
        for flag, text in (
            (MeterFlag.COUNTER_DIFFERS, "state its `counter_step_wh` and its `counter_lag_s`"),
            (MeterFlag.SAMPLES_MISSED, "`sampling.longest_gap_s` is too short"),
            (MeterFlag.SLOW_SAMPLES, "`sampling.interval_s` promises more samples than come"),
            (MeterFlag.IMPOSSIBLE_POWER, "`sampling.most_w` is too small"),
            (MeterFlag.COUNTER_RESTARTED, "`counter_wraps_wh` or `counter_lasts` is wrong"),
            (MeterFlag.VOLT_AMPERES_DIFFER, "`sampling.volt_amperes` is wrong"),
        ):
            _expect(flag not in shown.flags, f"a steady run is flagged {flag.value}: {text}")
        power_w = (shown.energy_wh or 0.0) * 3600 / bench.seconds
        most_w = _SHARE * _WATTS + offset_w
        _expect(abs(power_w - _WATTS) <= most_w, f"{_WATTS:g} W were counted as {power_w:g} W")

    def test_what_is_no_number_becomes_no_power(self) -> None:
        """NaN, infinity, a number of 400 digits and a text are an error, or no sample."""
        for text in NO_NUMBERS:
            with self.bench() as bench, closing(bench.open()) as source:
                bench.measure(source.poll_s or bench.step_s, _WATTS)
                source.read()  # What was good before is taken.
                bench.send(text)
                _expect(not _samples(source, text), f"{text[:20]!r} became a power")

    def test_a_silent_device_is_lost(self) -> None:
        """A device that does not answer any more is `MeterUnreachable`, and can be closed."""
        with self.bench() as bench, closing(bench.open()) as source:
            bench.fall_silent(source)
            for _ in range(_SILENT_S):
                bench.wait(1.0)
                try:
                    source.read()
                except MeterUnreachable:
                    return
            _expect(False, f"after {_SILENT_S} s of silence the device still counts as there")

    def test_it_measures_as_the_device_does_since_it_was_opened(self) -> None:
        """A device that was opened again, in coarser steps, has a wider limit of error."""
        with self.bench() as bench:
            with closing(bench.open()) as source:
                before = source.sampling
            bench.coarsen()
            with closing(bench.open()) as source:
                after = source.sampling
            _expect(
                after.offset_w > before.offset_w or after.offset_a > before.offset_a,
                "`sampling` after a new opening still has the finer steps of before",
            )

    def test_asking_more_often_makes_it_no_more_certain(self) -> None:
        """How long the device shows a value is the device's, however often it is asked."""
        with self.bench() as bench:
            with closing(bench.open()) as source:
                usual = source.sampling
            try:
                source = bench.open(interval="0.1")
            except ValueError:
                raise SkipTest("this kind has no option interval") from None
            with closing(source):
                hasty = source.sampling
            _expect(
                hasty.renewal_s == usual.renewal_s,
                "`sampling.renewal_s` depends on the option interval",
            )
            _expect(
                hasty.renewal_s > 0 or hasty.interval_s == 0,
                "state `sampling.renewal_s`: for how long the device shows the same value",
            )


def _feed(bench: Bench, source: Source, integrator: SoftwareIntegrator) -> None:
    bench.measure(source.poll_s or bench.step_s, _WATTS)
    for sample in source.read():
        integrator.take(sample)


def _samples(source: Source, text: str) -> Sequence[Sample]:
    try:
        return source.read()
    except MeterError:
        return ()
    except Exception as error:
        raise AssertionError(f"{text[:20]!r} is no `MeterError`, but {error!r:.80}") from error


def _expect(good: object, text: str) -> None:
    """Raise AssertionError with this text unless all is good; `python -O` drops `assert`."""
    if not good:
        raise AssertionError(text)
