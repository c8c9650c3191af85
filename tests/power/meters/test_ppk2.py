# SPDX-License-Identifier: Apache-2.0
"""The driver of a PPK2 on a pseudo-terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from power.errors import MeterMismatch, MeterReplyError, MeterUnreachable
from power.meter import IntegrationState, MeterSettings
from power.meters.ppk2 import KIND, Ppk2
from power.resource import Resource
from power.sampled.source import Tools
from tests.support.ppk2_unit import Ppk2Unit, plugged_in


@pytest.fixture
def unit() -> Ppk2Unit:
    """Return an emulated unit."""
    return Ppk2Unit()


@pytest.fixture
def port(unit: Ppk2Unit) -> Iterator[str]:
    """Return the port of the emulated unit."""
    with plugged_in(unit) as path:
        yield path


def resource(port: str, mode: str = "source", mv: str = "3300") -> Resource:
    """Return the resource of a unit."""
    return Resource("ppk2", port, {"mode": mode, "mv": mv})


@pytest.mark.parametrize(("mode", "code"), [("source", 2), ("ampere", 1)])
def test_the_conversation(unit: Ppk2Unit, port: str, mode: str, code: int) -> None:
    """It ends an old stream, asks who is there, sets mode and voltage, powers, and starts."""
    source = Ppk2(resource(port, mode), Tools())
    source.close()
    commands = b"\x07\x19" + bytes([0x11, code, 0x0D]) + (3300).to_bytes(2, "big") + b"\x0c\x01\x06"
    deadline = Tools().clock() + 180
    while unit.told != commands + b"\x07":  # the last one may still be on its way
        assert Tools().clock() < deadline, unit.told
        Tools().sleep(0.01)
    assert source.identity.model == f"PPK2 {mode}"
    assert source.identity.firmware == "9173"


def test_a_run_has_the_energy_of_current_and_voltage(unit: Ppk2Unit, port: str) -> None:
    """A run of a second at 0.2 A and 5 V is a watt-second."""
    meter = KIND.open(resource(port, mv="5000"), Tools())
    try:
        meter.prepare(MeterSettings(timer_s=1, update_interval_s=0.25))
        meter.start()
        while meter.read().state is IntegrationState.START:
            Tools().sleep(0.05)
        last = meter.read()
    finally:
        meter.close()
    assert last.energy_wh is not None
    assert last.energy_wh * 3600 == pytest.approx(1.0, rel=0.01)
    assert (last.voltage_v, last.integration_s) == (5.0, 1.0)


def test_a_unit_that_falls_silent_is_lost(unit: Ppk2Unit, port: str) -> None:
    """A stream that ends is a lost meter, after a second."""
    now = [0.0]
    tools = Tools(clock=lambda: now[0], sleep=lambda seconds: None)
    unit.mute = True
    source = Ppk2(resource(port), Tools())
    source._clock, source._heard_s = tools.clock, 0.0
    assert source.read() == []
    now[0] = 1.1
    with pytest.raises(MeterUnreachable, match="sends no samples"):
        source.read()
    source.close()


def test_something_else_on_the_port_is_refused(unit: Ppk2Unit, port: str) -> None:
    """A port that does not answer as a PPK2, or without a calibration, is told."""
    unit.about = "HW: 9173\nEND\n"
    with pytest.raises(MeterReplyError, match="no calibration"):
        Ppk2(resource(port), Tools())
    unit.about = ""
    ticks = iter(range(10_000))
    with pytest.raises(MeterMismatch, match="does not answer as a PPK2"):
        Ppk2(resource(port), Tools(clock=lambda: next(ticks) / 10, sleep=lambda seconds: None))


def test_a_port_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A port that cannot be opened is named, with what to look at."""
    with pytest.raises(MeterUnreachable, match="group dialout"):
        Ppk2(resource(str(tmp_path / "ttyACM9")), Tools())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "source"},
        {"mode": "volt", "mv": "3300"},
        {"mode": "source", "mv": "700"},
        {"mode": "source", "mv": "5001"},
        {"mode": "source", "mv": "3300", "volts": "3"},
    ],
)
def test_a_wrong_resource_string_is_refused_at_once(options: dict[str, str]) -> None:
    """Mode and voltage must be given, because the unit powers the device with them."""
    with pytest.raises(ValueError, match="."):
        KIND.open(Resource("ppk2", "/dev/ttyACM0", options), Tools())
