# SPDX-License-Identifier: Apache-2.0
"""Every driver of the house passes the contract of sources, each on its emulated device."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction as F
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from power.clock import real_elapsed_s
from power.meters.ina import Ina219Source, Ina228Source
from power.meters.joulescope import Joulescope
from power.meters.kinds import GROUP
from power.meters.ppk2 import Ppk2
from power.meters.rapl import RaplZone
from power.meters.shelly import ShellyPlug
from power.resource import Resource
from power.sampled.source import Source, Tools
from power.testing.source_contract import Bench, SourceContract
from tests.support import shelly_plug
from tests.support.ina_chips import ChipBus, Ina219Chip, Ina228Chip
from tests.support.installed import own_names
from tests.support.joulescope_driver import ScriptedDriver
from tests.support.ppk2_unit import Ppk2Unit, plugged_in

# Each runs ten minutes of the bench's time, and some wait for a silent device.
pytestmark = pytest.mark.slow


class ShellyBench(Bench):
    """A plug whose counter goes on once a minute, in steps of 0.1 Wh."""

    def __init__(self, generation: int) -> None:
        super().__init__()
        self.plug = shelly_plug.ShellyPlug(generation)
        self.at = ""
        self._wh = 1000.0

    def open(self, **options: str) -> ShellyPlug:
        """Open the driver of the plug."""
        return ShellyPlug(Resource("shelly", self.at, options), self.tools)

    def measure(self, seconds: float, watts: float) -> None:
        """Show the power, and count it when a minute is full."""
        self.plug.power_w = watts
        self._wh += watts * seconds / 3600
        minute = self.clock() // 60
        self.wait(seconds)
        if self.clock() // 60 > minute:
            self.plug.total_wh = math.floor(self._wh * 10) / 10

    def send(self, text: str) -> None:
        """Answer each question with this power."""
        name = "power" if self.plug.generation == 1 else "apower"
        self.plug.fault = f'{{"{name}": {text}}}'

    def fall_silent(self, source: Source) -> None:
        """Hold each answer back; only this question is hurried."""
        assert isinstance(source, ShellyPlug)
        source._device.timeout_s = 0.05
        self.plug.held.clear()


class InaBench(Bench):
    """A chip with 5 V on its bus."""

    def __init__(self, chip: Ina228Chip | Ina219Chip) -> None:
        super().__init__()
        self.chip = chip
        self.bus = ChipBus({0x40: chip})

    def open(self, **options: str) -> Source:
        """Open the driver of the chip."""
        options = {"shunt": "0.1", "max": "1.6", "interval": "1", **options}
        if isinstance(self.chip, Ina228Chip):
            resource = Resource("ina228", "1/0x40", options)
            return Ina228Source(resource, self.tools, lambda number: self.bus)
        resource = Resource("ina219", "1/0x40", options)
        return Ina219Source(resource, self.tools, lambda number: self.bus)

    def measure(self, seconds: float, watts: float) -> None:
        """Draw the power at 5 V."""
        self.chip.volts, self.chip.amperes = F(5), F(watts) / 5
        if isinstance(self.chip, Ina228Chip):
            self.chip.pass_s(F(seconds).limit_denominator(1000))
        self.wait(seconds)

    def fall_silent(self, source: Source) -> None:
        """Pull the chip off the bus."""
        self.bus.unplugged = True


class JoulescopeBench(Bench):
    """A JS220 that sends ten means a second."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = ScriptedDriver("u/js220/1")
        self._joules = 0.0

    def open(self, **options: str) -> Joulescope:
        """Open the driver over the scripted library."""
        resource = Resource("joulescope", "", options)
        resource.known_options(())
        return Joulescope(resource, self.tools, lambda: self.driver)

    def measure(self, seconds: float, watts: float) -> None:
        """Send the means of this time."""
        for _ in range(round(seconds * 10)):
            begin_s = self.clock()
            self.wait(0.1)
            self._joules += watts * 0.1
            self.driver.send(begin_s, watts, self._joules)

    def send(self, text: str) -> None:
        """Send one mean of this power, as a number where JSON has one."""
        try:
            power: Any = json.loads(text)
        except ValueError:
            power = text
        self.driver.send(self.clock(), power, self._joules)

    def fall_silent(self, source: Source) -> None:
        """Send nothing: that is what it does without `measure`."""


class Ppk2Bench(Bench):
    """A unit on a pseudo-terminal, whose stream comes in real time."""

    seconds = 1

    def __init__(self, unit: Ppk2Unit, port: str) -> None:
        super().__init__()
        self._unit = unit
        self._port = port

    def clock(self) -> float:
        """Return the computer's time, because the emulated unit has that too."""
        return real_elapsed_s()

    def wait(self, seconds: float) -> None:
        """Wait for the emulated unit."""
        Tools().sleep(seconds)

    def open(self, **options: str) -> Ppk2:
        """Open the driver of the unit at 5 V."""
        return Ppk2(
            Resource("ppk2", self._port, {"mode": "source", "mv": "5000"} | options), self.tools
        )

    def measure(self, seconds: float, watts: float) -> None:
        """Draw the current that gives this power."""
        self._unit.amperes = watts / 5
        self.wait(seconds)

    def fall_silent(self, source: Source) -> None:
        """End the stream."""
        self._unit.mute = True


class RaplBench(Bench):
    """A zone of a folder that looks like powercap."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._zone = folder / "intel-rapl:0"
        self._zone.mkdir()
        (self._zone / "name").write_text("package-0\n")
        (self._zone / "max_energy_range_uj").write_text("262143328850\n")
        self._microjoules = 0
        self.measure(0, 0)

    def open(self, **options: str) -> RaplZone:
        """Open the driver of the zone."""
        options = {"folder": str(self._zone.parent), "interval": "1", **options}
        return RaplZone(Resource("rapl", "", options), self.tools)

    def measure(self, seconds: float, watts: float) -> None:
        """Count the energy."""
        self.wait(seconds)
        self._microjoules += round(watts * seconds * 1e6)
        self.send(str(self._microjoules))

    def send(self, text: str) -> None:
        """Write this into the counter's file."""
        self.wait(0.001)
        (self._zone / "energy_uj").write_text(f"{text}\n")

    def fall_silent(self, source: Source) -> None:
        """Take the counter's file away."""
        (self._zone / "energy_uj").unlink()


def test_each_kind_of_the_house_passes_the_contract() -> None:
    """Each kind that the house brings by an entry point has its class of tests below."""
    tested = set()
    for contract in SourceContract.__subclasses__():
        if contract.__module__ == __name__:
            with contract().bench() as bench, closing(bench.open()) as source:
                tested.add(source.sampling.kind)
    assert {*own_names(GROUP)} == tested


class TestFirstShelly(SourceContract):
    """A plug of the first generation."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a plug that is served."""
        bench = ShellyBench(1)
        with shelly_plug.serving(bench.plug) as bench.at:
            yield bench


class TestLaterShelly(SourceContract):
    """A plug of a later generation."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a plug that is served."""
        bench = ShellyBench(2)
        with shelly_plug.serving(bench.plug) as bench.at:
            yield bench


class TestIna228(SourceContract):
    """An INA228, which counts energy itself."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a chip on a bus."""
        yield InaBench(Ina228Chip(F(1, 10)))


class TestIna219(SourceContract):
    """An INA219, which has no counter."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a chip on a bus."""
        yield InaBench(Ina219Chip(F(1, 10)))


class TestJoulescope(SourceContract):
    """A Joulescope JS220."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a device of the scripted library."""
        yield JoulescopeBench()


class TestPpk2(SourceContract):
    """A PPK2."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a unit on a port."""
        unit = Ppk2Unit()
        with plugged_in(unit) as port:
            yield Ppk2Bench(unit, port)


class TestRapl(SourceContract):
    """A processor's package."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """Yield a zone of a folder."""
        with TemporaryDirectory() as folder:
            yield RaplBench(Path(folder))
