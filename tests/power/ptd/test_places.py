# SPDX-License-Identifier: Apache-2.0
"""Meters are set up for a session: a WT310 with its ranges, others with an integration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from power.emulator.instrument import Options
from power.energy.conditions import UNKNOWN
from power.errors import MeterMismatch, MeterRefused
from power.meter import Identity, InputMode, MeterSettings, Reading, Sampling
from power.ptd.device import device_type
from power.ptd.events import Events
from power.ptd.places import Wishes, fitting, other_place, wt310_place
from tests.support.leave import LEAVE

WISHES = Wishes(1.0, "1", UNKNOWN, "Linux")


class Told:
    """Events without a log, and what they said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.events = Events(self.said.append, lambda: datetime.now(UTC), None)


class Plug:
    """A meter without an integrator: no mean before its third reading after a start."""

    def __init__(self, make_reading: Callable[..., Reading], means: bool = True) -> None:
        self.calls: list[str] = []
        self.since_start = 2
        self._make = make_reading
        self._means = means

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *arguments: self.calls.append(name)

    def identify(self) -> Identity:
        """Return a name with characters that would break the protocol's fields."""
        return Identity("Example", "plug, 2", "7", "1.0")

    def prepare(self, settings: MeterSettings) -> MeterSettings:
        """Note the call."""
        self.calls.append("prepare")
        return replace(settings, sampling=Sampling("example", of_reading=None))

    def start(self) -> None:
        """Begin an update that is not complete."""
        self.calls.append("start")
        self.since_start = 0

    def read(self) -> Reading:
        """Return power alone, or nothing yet."""
        self.since_start += 1
        power_w = 5.0 if self._means and self.since_start > 2 else None
        return self._make(1.0, power_w=power_w, current_a=None)


def test_a_wt310_keeps_the_ranges_that_it_has(make_bench: Callable[..., Any]) -> None:
    """Interval, mode and timer are set; ranges are the client's."""
    bench, told = make_bench(frequency_hz=0.0), Told()
    bench.meter.prepare(MeterSettings(timer_s=60, voltage_range_v=300.0, update_interval_s=0.5))
    settings, place = wt310_place(
        *(bench.meter, device_type(49, direct_current=True), WISHES, told.events), lambda: LEAVE
    )
    assert (300.0, None, 0, 1.0, InputMode.DC) == (
        settings.voltage_range_v,
        settings.current_range_a,
        settings.timer_s,
        settings.update_interval_s,
        settings.mode,
    )
    assert 600.0 == max(place.voltage_ranges_v)
    assert told.said[-1].endswith(": Uncertainty checking for YokogawaWT310_DC is activated")


def test_a_load_above_the_ranges_found_is_the_clients_to_mend(
    make_bench: Callable[..., Any],
) -> None:
    """The session begins with a warning, and its first range can be set."""
    bench, told = make_bench(), Told()
    fixed = MeterSettings(timer_s=0, voltage_range_v=15.0, current_range_a=0.1)
    bench.meter.restore(fixed)
    settings, place = wt310_place(
        *(bench.meter, device_type(49), WISHES, told.events), lambda: LEAVE
    )
    assert 15.0 == settings.voltage_range_v
    assert "WARNING: the meter is not ready to measure" in told.said[0]
    assert 150.0 == place.set_up(replace(settings, voltage_range_v=150.0)).voltage_range_v


@pytest.mark.parametrize(("model", "number", "right"), [("WT310", 52, 49), ("WT333E", 49, 52)])
def test_a_device_type_fits_its_meters_alone(
    make_bench: Callable[..., Any], model: str, number: int, right: int
) -> None:
    """One element and several are different types."""
    meter = make_bench(options=Options(model=model)).meter
    with pytest.raises(MeterMismatch, match=f"give device type {right}"):
        fitting(meter, device_type(number))
    assert fitting(meter, device_type(right)).model == model


def test_another_meter_integrates_during_a_measurement(
    make_reading: Callable[..., Reading], fake_time: Any
) -> None:
    """A measurement begins with an integration whose first mean is there, and ends with it."""
    plug, told = Plug(make_reading), Told()
    settings, place = other_place(
        plug,  # type: ignore[arg-type]
        WISHES,
        told.events,
        clock=fake_time.clock,
        sleep=fake_time.sleep,
    )
    assert ("Exampleplug2", 0) == (place.device.name, place.device.number)
    assert ("Watts", "Volts") == tuple(place.measured)
    assert "Nobody specifies the accuracy" in told.said[0]
    assert ["prepare"] == plug.calls
    place.begin()
    assert ["prepare", "prepare", "start"] == plug.calls
    assert 3 == plug.since_start, "it waited for a mean"
    place.finish()
    assert "stop" == plug.calls[-1]
    assert settings == place.set_up(settings)


def test_another_meter_without_samples_refuses_the_start(
    make_reading: Callable[..., Reading], fake_time: Any
) -> None:
    """The wait for the first mean has an end, and leaves no integration behind."""
    plug = Plug(make_reading, means=False)
    _, place = other_place(
        plug,  # type: ignore[arg-type]
        WISHES,
        Told().events,
        clock=fake_time.clock,
        sleep=fake_time.sleep,
    )
    begun_s = fake_time.now
    with pytest.raises(MeterRefused, match="gives no samples"):
        place.begin()
    assert 3.0 < fake_time.now - begun_s < 10.0
    assert "stop" == plug.calls[-1]
