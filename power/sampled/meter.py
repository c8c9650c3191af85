# SPDX-License-Identifier: Apache-2.0
"""A `Meter` out of a device that only measures power: sampled by a thread, integrated here."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

from power.errors import MeterRefused, MeterUnreachable
from power.meter import (
    NOTHING_HELD,
    Identity,
    IntegrationStart,
    IntegrationState,
    Leave,
    MeterSettings,
    Reading,
    Sampling,
)
from power.sampled.device_thread import DeviceThread
from power.sampled.software_integrator import EnergyCounter, SoftwareIntegrator
from power.sampled.source import Sample, Source, Tools
from power.values import identity_to_json, reading_to_json, settings_to_json

_log = logging.getLogger(__name__)

# Beside its patience, a wait for a sample lasts this many polls.
_POLLS = 3
# A device that sends rubbish a hundred times a second must not fill the log.
_MOST_WARNINGS = 20


class SampledMeter:
    """The software integrator over one device; it implements `power.meter.Meter`.

    The first call opens the device and starts the thread `device`, which lives until `close`. A
    device that is lost during an integration is opened again, and the gap shows in the readings.
    The integral lives in this process alone: unlike a WT310's, it is gone when the process ends or
    the meter is closed. Several threads may use a meter. `accuracy` is the limit of error that the
    user states, as a share of the power. `patience_s` is how long a preparation waits for its first
    samples, and an end for its last one, beside the time of some polls.
    """

    def __init__(
        self,
        open_source: Callable[[], Source],
        tools: Tools,
        accuracy: float | None = None,
        patience_s: float = 3.0,
    ) -> None:
        self._open_source = open_source
        self._tools = tools
        self._accuracy = accuracy
        self._patience_base_s = patience_s
        self._news = threading.Condition(threading.RLock())
        self._device: DeviceThread | None = None
        self._integrator: SoftwareIntegrator | None = None
        self._trouble = ""
        self._warnings = 0

    def identify(self) -> Identity:
        """Return who measures, opening the device."""
        with self._news:
            return self._opened()[0].identity

    def prepare(self, settings: MeterSettings, leave: Leave = NOTHING_HELD) -> MeterSettings:
        """Set the integrator to zero, and return the settings with how the meter samples.

        The integrator is this program's own, so it asks for no leave.

        It returns when two samples have come. Raises `MeterBusy` while an integration runs, and
        `MeterRefused` for a setting that only a WT310 has.
        """
        with self._news:
            device, integrator = self._opened()
            _require_settable(settings, integrator.sampling)
            integrator.prepare(settings)
            self._warnings = 0
            for _ in range(2):
                self._await_sample(device, integrator)
            settings = replace(settings, sampling=integrator.promise())
            self._note("identity", identity_to_json(device.identity))
            self._note("settings", settings_to_json(settings))
            return settings

    def start(self) -> IntegrationStart:
        """Begin to integrate at this moment; raise `MeterBusy` or `MeterRefused` if not RESET."""
        with self._news:
            device, integrator = self._opened()
            begin_s = self._tools.clock()
            integrator.start(begin_s)
            device.hurry()
            self._tools.note("start", "")
            return IntegrationStart(begin_s, begin_s, self._tools.clock())

    def stop(self) -> IntegrationState:
        """End the integration at this moment, wait for the sample that closes it, and return how.

        If no sample comes in time, the last power counts up to the end, and a flag says so.
        """
        with self._news:
            device, integrator = self._device, self._integrator
            if device is None or integrator is None:
                return IntegrationState.RESET
            integrator.stop(self._tools.clock())
            device.hurry()
            running = IntegrationState.START
            self._news.wait_for(lambda: integrator.state is not running, self._patience_s(device))
            integrator.give_up(self._tools.clock(), 0.0)
            return integrator.state

    def attach(self) -> IntegrationState:
        """Open the device if it is not open, and return the state of the integration."""
        with self._news:
            device, integrator = self._opened()
            if integrator.newest is None:
                self._await_sample(device, integrator)
            return integrator.state

    def arrange(self) -> None:
        """Do nothing: nobody can change what this meter sends."""

    def read(self) -> Reading:
        """Return the values of the last whole update; raise `MeterUnreachable` for a lost device.

        While an integration runs, and after it, a lost device is a reading without values.
        """
        with self._news:
            device, integrator = self._opened()
            now_s = self._tools.clock()
            integrator.give_up(now_s, self._patience_s(device))
            shown = integrator.values(now_s)
            unconfirmed = () if shown.unconfirmed is None else (shown.unconfirmed,)
            reading = Reading(
                monotonic_s=now_s,
                utc=self._tools.utc(),
                voltage_v=shown.voltage_v,
                current_a=shown.current_a,
                power_w=shown.power_w,
                energy_wh=shown.energy_wh,
                integration_s=shown.integration_s,
                state=shown.state,
                absent=shown.absent,
                flags=shown.flags.union(unconfirmed),
            )
            self._note("reading", reading_to_json(reading))
            return reading

    def close(self) -> None:
        """Release the device; never raises. A running integration is lost."""
        with self._news:
            device, self._device, self._integrator = self._device, None, None
        if device is not None:
            device.close()  # without the lock, because its thread may wait for that
        if self._tools.wire_log is not None:
            self._tools.wire_log.close()

    def _opened(self) -> tuple[DeviceThread, SoftwareIntegrator]:
        """Return the parts of an open device; raise `MeterUnreachable` for a lost one at rest."""
        if self._device is None or self._integrator is None:
            self._trouble = ""
            device = DeviceThread(
                self._open_source,
                self._take,
                self._tell,
                self._tools.clock,
                self._lose_sample,
                self._go_on,
            )
            self._integrator = SoftwareIntegrator(*self._measuring(device.source))
            self._device = device
            device.start()
        if self._trouble and self._integrator.state is IntegrationState.RESET:
            raise MeterUnreachable(self._trouble)
        return self._device, self._integrator

    def _await_sample(self, device: DeviceThread, integrator: SoftwareIntegrator) -> None:
        before = integrator.newest
        device.hurry()
        come = self._news.wait_for(
            lambda: integrator.newest is not before or self._trouble, self._patience_s(device)
        )
        if self._trouble:
            raise MeterUnreachable(self._trouble)
        if not come and integrator.refused:
            raise MeterRefused(f"the meter shows what cannot be: {integrator.refused}")
        if not come:
            raise MeterRefused("the meter shows no power; look at its wiring, and switch it on")

    def _patience_s(self, device: DeviceThread) -> float:
        return self._patience_base_s + _POLLS * device.source.poll_s

    def _measuring(self, source: Source) -> tuple[Sampling, EnergyCounter]:
        """Return how an open device measures and counts, with the accuracy that the user states."""
        sampling = source.sampling
        if self._accuracy is not None:
            stated = "the option accuracy of the resource string"
            sampling = replace(sampling, of_reading=self._accuracy, source=stated)
        return sampling, EnergyCounter.of(source)

    def _take(self, source: Source, samples: Sequence[Sample]) -> None:
        if samples:
            self._tools.note("samples", json.dumps([asdict(sample) for sample in samples]))
        with self._news:
            if self._integrator is None or not samples:
                return
            # A device that was opened again may measure otherwise.
            self._integrator.measure(*self._measuring(source))
            for sample in samples:
                self._integrator.take(sample)
                if self._integrator.refused:
                    self._warn("a sample is dropped: %s", self._integrator.refused)
                if sample.lost:
                    self._warn("%s samples are lost by the meter's own count", sample.lost)
                if sample.fault:
                    self._warn("the meter reports a fault: %s", sample.fault)
            self._news.notify_all()

    def _lose_sample(self, why: str) -> None:
        self._tools.note("lost sample", why)
        with self._news:
            if self._integrator is not None:
                self._integrator.lose()
                self._warn("a sample is lost: %s", why)

    def _go_on(self, source: Source, restarted: bool) -> None:
        with self._news:
            if self._integrator is not None:
                self._integrator.opened_again(EnergyCounter.of(source), restarted=restarted)

    def _warn(self, text: str, *about: object) -> None:
        """Log what is wrong with samples; after so many the run's flags say enough."""
        self._warnings += 1
        if self._warnings <= _MOST_WARNINGS:
            _log.warning(text, *about)

    def _tell(self, trouble: str) -> None:
        with self._news:
            if trouble and not self._trouble:
                _log.warning("the meter is lost: %s; it is tried again", trouble)
            self._trouble = trouble
            self._news.notify_all()
        self._tools.note("lost" if trouble else "back", trouble)

    def _note(self, event: str, value: Mapping[str, object]) -> None:
        self._tools.note(event, json.dumps(value))


def _require_settable(settings: MeterSettings, sampling: Sampling) -> None:
    """Raise `MeterRefused` for what only a WT310 can be set to."""
    plain = MeterSettings(timer_s=settings.timer_s)
    for name, words in (
        ("voltage_range_v", "voltage range"),
        ("current_range_a", "current range"),
        ("crest_factor", "crest factor"),
        ("line_filter", "line filter"),
        ("frequency_filter", "frequency filter"),
        ("element", "choice of elements"),
    ):
        if getattr(settings, name) != getattr(plain, name):
            raise MeterRefused(f"the kind {sampling.kind} has no {words}; leave that setting out")
    if settings.update_interval_s < sampling.interval_s:
        raise MeterRefused(
            f"the kind {sampling.kind} is read each {sampling.interval_s:g} s, so an update "
            f"interval of {settings.update_interval_s:g} s is too short"
        )
