# SPDX-License-Identifier: Apache-2.0
"""The registers of TI's INA228 and INA219: their addresses, widths, steps and formulas; pure.

INA228: data sheet SLYS021, section 7.6 (registers) and 8.1.2 (equations 2 to 6). INA219: data sheet
SBOS448, section 8.6 and equations 1 to 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Register:
    """One register: its address, its width in bytes, and the lowest bit of its value.

    A `signed` value is a two's complement.
    """

    address: int
    width: int = 2
    shift: int = 0
    signed: bool = False

    def decode(self, content: bytes) -> int:
        """Return the value in a register's bytes, most significant first."""
        return int.from_bytes(content, "big", signed=self.signed) >> self.shift


class Ina228:
    """The INA228: 20 bits, 85 V, with an energy register of 40 bits."""

    CONFIG = Register(0x00)
    ADC_CONFIG = Register(0x01)
    SHUNT_CAL = Register(0x02)
    VBUS = Register(0x05, 3, 4, signed=True)
    CURRENT = Register(0x07, 3, 4, signed=True)
    POWER = Register(0x08, 3)
    ENERGY = Register(0x09, 5)
    DIAG_ALRT = Register(0x0B)
    MANUFACTURER_ID = Register(0x3E)
    DEVICE_ID = Register(0x3F)

    MAKER = 0x5449  # "TI"
    DEVICE = 0x228  # the upper twelve bits of DEVICE_ID
    RESET_ACCUMULATORS = 1 << 14  # of CONFIG
    SMALL_RANGE = 1 << 4  # of CONFIG: ±40.96 mV in place of ±163.84 mV
    MATH_OVERFLOW = 1 << 9  # of DIAG_ALRT
    MEMORY_GOOD = 1  # of DIAG_ALRT; 0 where the chip's own trimming is damaged
    # Bus and shunt without a pause (mode 0xB), 1052 µs each (5), averages of 16 (2): 34 ms.
    ADC_SETTINGS = 0xB << 12 | 5 << 9 | 5 << 6 | 5 << 3 | 2
    CONVERSION_S = 2 * 1.052e-3 * 16
    BUS_STEP_V = 195.3125e-6
    FULL_SHUNT_V = {False: 0.16384, True: 0.04096}
    FULL_BUS_V = 85.0
    ENERGY_STEPS = 1 << 40
    CURRENT_END = (1 << 19) - 2  # What is beyond stops at 2^19 - 1.


def shunt_calibration(most_a: float, shunt_ohm: float, *, small_range: bool) -> int:
    """Return SHUNT_CAL (equations 2 and 3); ValueError if it does not fit into its 15 bits."""
    value = round(most_a / (1 << 19) * _calibration_an_ampere(shunt_ohm, small_range))
    if not 0 < value < 1 << 15:
        raise ValueError(
            f"a shunt of {shunt_ohm:g} Ω does not fit a largest current of {most_a:g} A"
        )
    return value


def current_step_a(calibration: int, shunt_ohm: float, *, small_range: bool) -> float:
    """Return what one step of the INA228's CURRENT is with a whole number in SHUNT_CAL.

    It is not quite that of the largest current: a small SHUNT_CAL is rounded by up to a percent.
    """
    return calibration / _calibration_an_ampere(shunt_ohm, small_range)


def power_step_w(step_a: float) -> float:
    """Return what one step of the INA228's POWER is by that of its CURRENT (equation 5)."""
    return 3.2 * step_a


def energy_step_wh(step_a: float) -> float:
    """Return what one step of the INA228's ENERGY is by that of its CURRENT (equation 6)."""
    return 16 * power_step_w(step_a) / 3600


def _calibration_an_ampere(shunt_ohm: float, small_range: bool) -> float:
    return 13107.2e6 * shunt_ohm * (4 if small_range else 1)


class Ina219:
    """The INA219: 12 bits, 26 V, without any counter."""

    CONFIG = Register(0x00)
    SHUNT = Register(0x01, signed=True)
    BUS = Register(0x02)

    # 32 V, ±320 mV, 128 samples averaged on both inputs, without a pause: 68.1 ms each.
    SETTINGS = 0x3FFF
    CONVERSION_S = 2 * 68.1e-3
    SHUNT_STEP_V = 10e-6
    BUS_STEP_V = 4e-3
    BUS_SHIFT = 3
    MATH_OVERFLOW = 1  # of BUS
    FULL_SHUNT_V = 0.32
    FULL_BUS_V = 32.0


def fits(shunt_ohm: float, most_a: float, full_v: float) -> bool:
    """Tell whether the largest current stays in the range of the shunt's voltage."""
    drop_v = shunt_ohm * most_a
    return drop_v <= full_v or math.isclose(drop_v, full_v)
