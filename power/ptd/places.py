# SPDX-License-Identifier: Apache-2.0
"""Set a meter up for a session: a WT310 with its ranges, or a meter of another kind without."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from power.energy.conditions import AmbientConditions
from power.errors import MeterMismatch, MeterRefused
from power.meter import Identity, Leave, Meter, MeterSettings, Reading
from power.ptd.device import DEVICE_TYPES, OTHER, DeviceType
from power.ptd.events import Events
from power.ptd.samples import QUANTITIES
from power.ptd.session import Workplace
from power.wt310.driver import WT310

# The first mean is there when the sample after its update has come.
_FIRST_S = 3.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Wishes:
    """What the user asks for, whatever the meter; `system` as in `Workplace`."""

    update_interval_s: float
    element: str
    conditions: AmbientConditions
    system: str


def fitting(meter: WT310, device: DeviceType) -> Identity:
    """Return the meter's identity; raise `MeterMismatch` if a device type does not fit it."""
    identity = meter.identify()
    if (meter.model.elements > 1) is not device.several:
        fit = next(one for one in DEVICE_TYPES.values() if one.several is not device.several)
        raise MeterMismatch(
            f"device type {device.number} is {device.name}, and the meter is a {identity.model}; "
            f"give device type {fit.number}" + (" with its element, -c" if fit.several else "")
        )
    return identity


def wt310_place(
    meter: WT310,
    device: DeviceType,
    wishes: Wishes,
    events: Events,
    leave: Callable[[], Leave],
) -> tuple[MeterSettings, Workplace]:
    """Set a WT310 up with the ranges that it has; it resets the integrator.

    `leave` is asked before each reset, also when a client sets other ranges. A load that does not
    fit these ranges is a warning: the client will set others.
    """

    def set_up(wanted: MeterSettings) -> MeterSettings:
        meter.restore(wanted, leave())
        return meter.settings()

    wanted = replace(
        meter.settings(),
        timer_s=0,
        update_interval_s=wishes.update_interval_s,
        mode=device.mode,
        element=wishes.element,
        wiring=None,
    )
    try:
        settings = meter.prepare(wanted, leave())
    except MeterRefused as refused:
        settings = set_up(wanted)
        events.warn(str(refused))
    # The checker of power-dev looks for this sentence.
    events.notice(f"Uncertainty checking for {device.name} is activated")
    return settings, Workplace(
        device=device,
        voltage_ranges_v=meter.model.voltage_ranges(settings.crest_factor),
        current_ranges_a=meter.model.current_ranges(settings.crest_factor),
        set_up=set_up,
        system=wishes.system,
        conditions=wishes.conditions,
    )


@dataclass(frozen=True)
class _Integrating:
    """The integration of a sampled meter that goes with each measurement.

    Such a meter shows the mean of each update only while it integrates.
    """

    meter: Meter
    settings: MeterSettings
    clock: Callable[[], float]
    sleep: Callable[[float], object]

    def begin(self) -> None:
        """Integrate anew, and wait for the first mean; raise `MeterError` if none comes."""
        self.meter.prepare(self.settings)
        self.meter.start()
        end_s = self.clock() + self.settings.update_interval_s + self._gap_s + _FIRST_S
        while self.meter.read().power_w is None:
            if self.clock() > end_s:
                self.meter.stop()
                raise MeterRefused("the meter gives no samples; is its device switched on?")
            self.sleep(_LOOK_S)

    def finish(self) -> None:
        """End the integration."""
        self.meter.stop()

    @property
    def _gap_s(self) -> float:
        sampling = self.settings.sampling
        return 0.0 if sampling is None else sampling.longest_gap_s


def other_place(
    meter: Meter,
    wishes: Wishes,
    events: Events,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> tuple[MeterSettings, Workplace]:
    """Set a meter of another kind up: without ranges, and with an integration a measurement."""
    identity = meter.identify()
    settings = meter.prepare(MeterSettings(timer_s=0, update_interval_s=wishes.update_interval_s))
    run = _Integrating(meter, settings, clock, sleep)
    if settings.sampling is None or settings.sampling.of_reading is None:
        events.warn(
            "Nobody specifies the accuracy of this meter, so its samples have no uncertainty; "
            "?accuracy=PERCENT behind its resource states it"
        )
    return settings, Workplace(
        device=DeviceType(OTHER, _name(identity), several=False),
        voltage_ranges_v=(),
        current_ranges_a=(),
        set_up=lambda wanted: wanted,
        system=wishes.system,
        conditions=wishes.conditions,
        measured=_measured(meter.read()),
        begin=run.begin,
        finish=run.finish,
    )


def _name(identity: Identity) -> str:
    """Return a driver's name in the form of PTDaemon's: maker and model in one word."""
    return re.sub(r"[^\w.-]", "", identity.maker + identity.model, flags=re.ASCII)


def _measured(reading: Reading) -> tuple[str, ...]:
    """Return the quantities that a reading shows, and power always."""
    return tuple(
        name
        for name, value in QUANTITIES.items()
        if name == "Watts" or getattr(reading, value) is not None
    )
