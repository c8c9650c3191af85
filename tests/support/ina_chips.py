# SPDX-License-Identifier: Apache-2.0
"""Register files of an INA228 and an INA219 behind an I2C bus, bit by bit as the data sheets say.

The tables and equations are written down here a second time, with exact fractions, so that a slip
in the driver cannot hide in its own constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F

WIDTHS_228 = {0x00: 2, 0x01: 2, 0x02: 2, 0x03: 2, 0x04: 3, 0x05: 3, 0x06: 2, 0x07: 3, 0x08: 3}
WIDTHS_228 |= {0x09: 5, 0x0A: 5, 0x0B: 2, 0x3E: 2, 0x3F: 2}


class Ina228Chip:
    """An INA228 (SLYS021, tables 7-3 to 7-22) on a shunt, with a load that a test sets.

    `pass_s` lets time pass: the energy register counts the power register, and wraps.
    """

    def __init__(self, shunt_ohm: F) -> None:
        self.shunt_ohm = shunt_ohm
        self.volts, self.amperes = F(0), F(0)
        self.registers = {0x00: 0, 0x01: 0xFB68, 0x02: 0x1000, 0x03: 0}
        self.energy_steps = F(0)
        self.overflow, self.memory_good = False, True

    def read(self, register: int) -> bytes:
        """Return a register's bytes, most significant first."""
        width = WIDTHS_228[register]
        value = {
            0x04: lambda: self._shunt() << 4,
            0x05: lambda: int(self.volts / F(1953125, 10**10)) << 4,
            0x07: lambda: self._current() << 4,
            0x08: self._power,
            0x09: lambda: int(self.energy_steps) % (1 << 40),
            0x0B: lambda: self.memory_good | self.overflow << 9,
            0x3E: lambda: 0x5449,
            0x3F: lambda: 0x2281,
        }.get(register, lambda: self.registers[register])()
        return (value % (1 << 8 * width)).to_bytes(width, "big")

    def write(self, register: int, content: bytes) -> None:
        """Write a register; RSTACC clears the accumulators and itself."""
        value = int.from_bytes(content, "big")
        if register == 0x00 and value & 1 << 14:
            self.energy_steps, value = F(0), value & ~(1 << 14)
        if register == 0x02:
            value &= 0x7FFF
        self.registers[register] = value

    def pass_s(self, seconds: F) -> None:
        """Let the chip count its power for some time: ENERGY has steps of 16 powers and seconds."""
        self.energy_steps += F(self._power()) * seconds / 16

    def _shunt(self) -> int:
        """Return VSHUNT: 312.5 nV, or 78.125 nV with ADCRANGE, and 20 bits with a sign."""
        step = F(78125, 10**12) if self.registers[0] & 1 << 4 else F(3125, 10**10)
        return max(-(1 << 19), min((1 << 19) - 1, int(self.amperes * self.shunt_ohm / step)))

    def _current(self) -> int:
        """Return CURRENT: the shunt's voltage over what SHUNT_CAL says a step is (equation 2)."""
        scale = 4 if self.registers[0] & 1 << 4 else 1
        step_a = F(self.registers[0x02]) / (F(131072, 10) * 10**6 * scale * self.shunt_ohm)
        return max(-(1 << 19), min((1 << 19) - 1, int(self.amperes / step_a)))

    def _power(self) -> int:
        """Return POWER: voltage times the size of the current in 3.2 CURRENT_LSB."""
        scale = 4 if self.registers[0] & 1 << 4 else 1
        step_a = F(self.registers[0x02]) / (F(131072, 10) * 10**6 * scale * self.shunt_ohm)
        return int(self.volts * abs(self.amperes) / (F(32, 10) * step_a))


class Ina219Chip:
    """An INA219 (SBOS448, section 8.6): SHUNT in 10 µV, BUS in 4 mV from bit 3 on."""

    def __init__(self, shunt_ohm: F) -> None:
        self.shunt_ohm = shunt_ohm
        self.volts, self.amperes = F(0), F(0)
        self.registers = {0x00: 0x399F, 0x05: 0}
        self.overflow = False

    def read(self, register: int) -> bytes:
        """Return a register's two bytes."""
        if register == 0x01:
            value = max(-32000, min(32000, int(self.amperes * self.shunt_ohm / F(1, 10**5))))
        elif register == 0x02:
            value = int(self.volts / F(4, 1000)) << 3 | 2 | self.overflow
        else:
            value = self.registers[register]
        return (value % (1 << 16)).to_bytes(2, "big")

    def write(self, register: int, content: bytes) -> None:
        """Write a register."""
        self.registers[register] = int.from_bytes(content, "big")


class ChipBus:
    """An I2C bus with chips by their addresses; `unplugged` makes every transfer fail."""

    def __init__(self, chips: dict[int, Ina228Chip | Ina219Chip]) -> None:
        self.chips = chips
        self.unplugged = False
        self.closed = 0

    def read_i2c_block_data(self, address: int, register: int, length: int) -> Sequence[int]:
        """Return bytes of a register; a chip sends as many as its register has."""
        return list(self._chip(address).read(register)[:length])

    def write_i2c_block_data(self, address: int, register: int, content: list[int]) -> None:
        """Write a register."""
        self._chip(address).write(register, bytes(content))

    def close(self) -> None:
        """Count the releases."""
        self.closed += 1

    def _chip(self, address: int) -> Ina228Chip | Ina219Chip:
        if self.unplugged or address not in self.chips:
            raise OSError(121, "Remote I/O error")
        return self.chips[address]
