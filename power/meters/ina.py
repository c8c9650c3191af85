# SPDX-License-Identifier: Apache-2.0
"""INA228 and INA219 breakout boards on an I2C bus of this computer, over `smbus2`."""

from __future__ import annotations

import errno
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from power.errors import (
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterRestarted,
    MeterUnreachable,
)
from power.meter import Identity, Sampling, VoltAmperes
from power.meters.ina_registers import (
    Ina219,
    Ina228,
    Register,
    current_step_a,
    energy_step_wh,
    fits,
    power_step_w,
    shunt_calibration,
)
from power.meters.kinds import MeterKind, sampled
from power.resource import Resource
from power.sampled.counter import growth
from power.sampled.source import Sample, Tools

# No shorter than what one average of each chip takes.
_INTERVAL_S = {"ina228": 0.1, "ina219": 0.2}
# Limits of error. INA228 (SLYS021, Features): gain of the shunt 0.05 %, drift of 20 ppm/°C;
# of the bus twice that gain, as the -Q1 has it; 25 °C of drift on both. INA219A (SBOS448,
# electrical characteristics): 1 % each. The shunt's own tolerance comes on top: `accuracy`.
_INA228_SHARE, _INA228_OFFSET_V = 0.0005 + 0.001 + 2 * 25 * 20e-6, 1e-6
_INA219_SHARE, _INA219_OFFSET_V = 0.01 + 0.01, 100e-6


class Bus(Protocol):
    """An I2C bus, as `smbus2.SMBus` is one."""

    def read_i2c_block_data(self, address: int, register: int, length: int) -> Sequence[int]:
        """Return the bytes of a register."""
        ...

    def write_i2c_block_data(self, address: int, register: int, content: list[int]) -> object:
        """Write the bytes of a register."""
        ...

    def close(self) -> object:
        """Release the bus."""
        ...


@dataclass(frozen=True)
class InaBoard:
    """Where a chip is, and what stands on its board: the shunt, and the largest current."""

    bus: int
    address: int
    shunt_ohm: float
    most_a: float

    @staticmethod
    def of(resource: Resource) -> InaBoard:
        """Return the board of a resource string; ValueError says how to write one."""
        resource.known_options(("interval", "max", "shunt"))
        bus, _, address = resource.address.partition("/")
        try:
            place = int(bus), int(address or "0x40", 0)
        except ValueError:
            place = -1, -1
        if place[0] < 0 or not 0x03 <= place[1] <= 0x77:
            raise ValueError(
                f"{resource.kind}:{resource.address} names no chip; write {resource.kind}:BUS/0x40,"
                " with the number of /dev/i2c-BUS"
            )
        shunt_ohm = resource.number("shunt", None, least=1e-6, most=100.0)
        most_a = resource.number("max", None, least=1e-6, most=1000.0)
        _interval_s(resource)
        board = InaBoard(*place, shunt_ohm, most_a)
        board.check(resource.kind)
        return board

    def full_a(self, kind: str) -> float:
        """Return the current at the end of the chip's range, however small the largest one is."""
        if kind == "ina228":
            return Ina228.FULL_SHUNT_V[self.small_range] / self.shunt_ohm
        return Ina219.FULL_SHUNT_V / self.shunt_ohm

    def check(self, kind: str) -> None:
        """Raise ValueError for a shunt that drops more than the chip can measure."""
        full_v = Ina228.FULL_SHUNT_V[False] if kind == "ina228" else Ina219.FULL_SHUNT_V
        if not fits(self.shunt_ohm, self.most_a, full_v):
            raise ValueError(
                f"{self.most_a:g} A on {self.shunt_ohm:g} Ω are "
                f"{1000 * self.most_a * self.shunt_ohm:.0f} mV, and an {kind.upper()} measures "
                f"{1000 * full_v:.0f} mV at most"
            )
        if kind == "ina228":
            shunt_calibration(self.most_a, self.shunt_ohm, small_range=self.small_range)

    @property
    def small_range(self) -> bool:
        """Tell whether the INA228's finer range holds the largest current."""
        return fits(self.shunt_ohm, self.most_a, Ina228.FULL_SHUNT_V[True])


def _interval_s(resource: Resource) -> float:
    return resource.number("interval", _INTERVAL_S[resource.kind], least=0.01, most=5.0)


OpenBus = Callable[[int], Bus]
"""How a bus is opened by its number."""


def open_smbus(number: int) -> Bus:
    """Return a bus of this computer."""
    try:
        from smbus2 import SMBus
    except ImportError:
        raise MeterUnreachable(
            "I2C needs the library smbus2: pip install smbus2 (the extra 'meters')"
        ) from None
    try:
        bus: Bus = SMBus(number)
    except OSError as error:
        raise MeterUnreachable(
            f"/dev/i2c-{number} cannot be opened ({error}). Switch I2C on, and join the group i2c"
        ) from error
    return bus


class _Chip:
    """A chip's registers over a bus; each failure names the chip's place."""

    def __init__(self, bus: Bus, board: InaBoard, tools: Tools) -> None:
        self._bus = bus
        self._board = board
        self._note = tools.note
        self._set: dict[Register, int] = {}

    def get(self, register: Register) -> int:
        """Return a register's value."""
        place = self._board
        self._note("sent", f"read {register.address:#04x}")
        try:
            content = bytes(
                self._bus.read_i2c_block_data(place.address, register.address, register.width)
            )
        except OSError as error:
            raise self._lost(error) from error
        self._note("received", content.hex())
        if len(content) != register.width:
            raise MeterReplyError(f"{len(content)} bytes came in place of {register.width}")
        return register.decode(content)

    def put(self, register: Register, value: int) -> None:
        """Write a register."""
        content = value.to_bytes(register.width, "big")
        self._note("sent", f"write {register.address:#04x} {content.hex()}")
        try:
            self._bus.write_i2c_block_data(self._board.address, register.address, list(content))
        except OSError as error:
            raise self._lost(error) from error

    def set_up(self, register: Register, value: int) -> None:
        """Write a register, and read it back."""
        self.put(register, value)
        got = self.get(register)
        if got != value:
            raise MeterReplyError(
                f"register {register.address:#04x} reads {got:#06x} after {value:#06x}; is "
                "something else on this address?"
            )
        self._set[register] = value

    def check(self) -> None:
        """Read back all that was set up; raise `MeterRestarted` if the chip has lost it."""
        for register, value in self._set.items():
            got = self.get(register)
            if got != value:
                place = self._board
                raise MeterRestarted(
                    f"the chip at {place.address:#04x} on I2C bus {place.bus} has started again: "
                    f"register {register.address:#04x} reads {got:#06x} after {value:#06x}. Look "
                    "at its supply"
                )

    def close(self) -> None:
        """Release the bus."""
        self._bus.close()

    def _lost(self, error: OSError) -> MeterError:
        self._note("failed", str(error))
        place = self._board
        if error.errno == errno.EBUSY:
            device = f"{place.bus}-{place.address:04x}"
            return MeterRefused(
                f"a kernel driver has the chip at {place.address:#04x} on I2C bus {place.bus} "
                f"({error}). Release it: echo {device} | sudo tee "
                f"/sys/bus/i2c/devices/{device}/driver/unbind"
            )
        return MeterUnreachable(
            f"nothing answers at {place.address:#04x} on I2C bus {place.bus} ({error}); look at "
            "the wiring, and list the bus with: i2cdetect -y BUS"
        )


class _InaSource(ABC):
    """What both chips share: the bus, the board, and the instants of samples."""

    def __init__(self, resource: Resource, tools: Tools, open_bus: OpenBus) -> None:
        self.board = InaBoard.of(resource)
        self.poll_s = _interval_s(resource)
        self._clock = tools.clock
        self._chip = _Chip(open_bus(self.board.bus), self.board, tools)
        try:
            self.identity = self._introduce()
        except BaseException:
            self._chip.close()
            raise

    @abstractmethod
    def _introduce(self) -> Identity:
        """Set the chip up and return who it is."""

    @abstractmethod
    def _measure(self) -> Sample:
        """Return what the chip shows now."""

    def read(self) -> Sequence[Sample]:
        """Return what the chip shows now; what it was set to is read back behind each sample.

        So a chip that has started again is told before a sample of it counts.
        """
        sample = self._measure()
        self._chip.check()
        return [sample]

    def _serial(self) -> str:
        """Return the chip's place, for no chip has a serial number."""
        return f"i2c-{self.board.bus}/{self.board.address:#04x}"

    def _sampling(
        self,
        resource: Resource,
        limits: tuple[float, float],
        conversion_s: float,
        full_v: float,
        volt_amperes: VoltAmperes,
    ) -> Sampling:
        share, offset_v = limits
        return Sampling(
            kind=resource.kind,
            of_reading=share,
            offset_a=offset_v / self.board.shunt_ohm,
            interval_s=self.poll_s,
            renewal_s=conversion_s,
            longest_gap_s=5 * self.poll_s,
            source=f"{resource.kind.upper()} data sheet, without the shunt's own tolerance",
            most_w=full_v * self.board.full_a(resource.kind),
            volt_amperes=volt_amperes,
            current_step_a=0.001 * self.board.most_a,
        )

    def close(self) -> None:
        """Release the bus; the chip measures on."""
        self._chip.close()


class Ina228Source(_InaSource):
    """An INA228: each sample is the average of 34 ms, and the chip counts all of the energy."""

    counter_lag_s = 0.2
    counter_lasts = False  # opening clears it

    def __init__(self, resource: Resource, tools: Tools, open_bus: OpenBus = open_smbus) -> None:
        super().__init__(resource, tools, open_bus)
        limits = _INA228_SHARE, _INA228_OFFSET_V
        self.sampling = self._sampling(
            resource, limits, Ina228.CONVERSION_S, Ina228.FULL_BUS_V, "equal"
        )
        self.counter_step_wh = energy_step_wh(self._step_a)
        self._before: tuple[float, int] | None = None
        self._total = 0.0

    def _introduce(self) -> Identity:
        chip, board = self._chip, self.board
        maker, device = chip.get(Ina228.MANUFACTURER_ID), chip.get(Ina228.DEVICE_ID)
        if (maker, device >> 4) != (Ina228.MAKER, Ina228.DEVICE):
            raise MeterMismatch(
                f"{self._serial()} is no INA228: it says {maker:#06x} and {device:#06x}"
            )
        config = Ina228.SMALL_RANGE if board.small_range else 0
        # The accumulators' reset clears itself.
        chip.put(Ina228.CONFIG, config | Ina228.RESET_ACCUMULATORS)
        chip.set_up(Ina228.CONFIG, config)
        chip.set_up(Ina228.ADC_CONFIG, Ina228.ADC_SETTINGS)
        calibration = shunt_calibration(
            board.most_a, board.shunt_ohm, small_range=board.small_range
        )
        chip.set_up(Ina228.SHUNT_CAL, calibration)
        self._step_a = current_step_a(calibration, board.shunt_ohm, small_range=board.small_range)
        return Identity("Texas Instruments", "INA228", self._serial(), f"revision {device & 15}")

    def _measure(self) -> Sample:
        chip = self._chip
        at_s = self._clock()
        power_w = chip.get(Ina228.POWER) * power_step_w(self._step_a)
        current = chip.get(Ina228.CURRENT)
        current_a = current * self._step_a
        voltage_v = chip.get(Ina228.VBUS) * Ina228.BUS_STEP_V
        counter_wh = self._counted_wh(at_s, chip.get(Ina228.ENERGY))
        alerts = chip.get(Ina228.DIAG_ALRT)
        return Sample(
            at_s,
            # POWER has no sign, and a reversed current is told by CURRENT alone.
            power_w if current_a >= 0 else -power_w,
            voltage_v,
            current_a,
            counter_wh=counter_wh,
            over_range=bool(alerts & Ina228.MATH_OVERFLOW) or abs(current) >= Ina228.CURRENT_END,
            fault="" if alerts & Ina228.MEMORY_GOOD else "its trim memory is damaged (MEMSTAT)",
        )

    def _counted_wh(self, at_s: float, energy: int) -> float:
        """Return the energy since the first sample, which the chip has counted by itself."""
        step_wh = self.counter_step_wh
        before_s, before = self._before or (at_s, energy)
        span_s = at_s - before_s
        most = math.inf
        if span_s > 0 and self.sampling.most_w is not None:
            most = self.sampling.most_w * (span_s + self.counter_lag_s) / 3600 / step_wh
        grown = growth(before, energy, wraps=Ina228.ENERGY_STEPS, most=most)
        if grown is None:
            raise MeterRestarted(f"the energy counter of {self._serial()} has begun anew")
        self._before = at_s, energy
        self._total += grown
        return self._total * step_wh


class Ina219Source(_InaSource):
    """An INA219: each sample is the average of 68 ms; power is computed here, without rounding."""

    counter_lag_s = 0.0
    counter_step_wh = 0.0

    def __init__(self, resource: Resource, tools: Tools, open_bus: OpenBus = open_smbus) -> None:
        super().__init__(resource, tools, open_bus)
        limits = _INA219_SHARE, _INA219_OFFSET_V
        self.sampling = self._sampling(
            resource, limits, Ina219.CONVERSION_S, Ina219.FULL_BUS_V, "same"
        )

    def _introduce(self) -> Identity:
        # The INA219 has no register that names it. A setting that reads back is all there is.
        self._chip.set_up(Ina219.CONFIG, Ina219.SETTINGS)
        return Identity("Texas Instruments", "INA219", self._serial(), "")

    def _measure(self) -> Sample:
        at_s = self._clock()
        shunt_v = self._chip.get(Ina219.SHUNT) * Ina219.SHUNT_STEP_V
        bus = self._chip.get(Ina219.BUS)
        voltage_v = (bus >> Ina219.BUS_SHIFT) * Ina219.BUS_STEP_V
        current_a = shunt_v / self.board.shunt_ohm
        over = bool(bus & Ina219.MATH_OVERFLOW) or abs(shunt_v) >= Ina219.FULL_SHUNT_V - 1e-9
        return Sample(at_s, voltage_v * current_a, voltage_v, current_a, over_range=over)


def _kind(name: str, what: str, source: Callable[[Resource, Tools], Any]) -> MeterKind:
    return MeterKind(
        summary=f"{name.upper()}, {what} on an I2C bus of this computer",
        syntax=f"{name}:BUS[/ADDRESS]?shunt=OHM&max=AMPERES[&interval=S&accuracy=PERCENT]",
        open=sampled(source, InaBoard.of),
    )


INA228 = _kind("ina228", "a precise meter of direct current", Ina228Source)
INA219 = _kind("ina219", "a simple meter of direct current", Ina219Source)
