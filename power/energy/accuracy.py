# SPDX-License-Identifier: Apache-2.0
"""The meter's accuracy tables, and the error limits of power and energy that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

from power.meter import Identity, InputMode

# Integration adds 0.1 % of reading and the timer 0.02 %. Users of the series quote these two
# figures; the manuals that we have do not give them.
INTEGRATION_SHARE = 0.001
TIMER_SHARE = 0.0002


@dataclass(frozen=True)
class Accuracy:
    """The limits of the error of active power, as shares of the reading and of the range."""

    of_reading: float
    of_range: float


# Power factor 1, 23 ± 5 °C, within 12 months of calibration: IM WT310E-02EN and IM WT310-02EN,
# page 7-7 each. "Direct" is direct current, "mains" 45 to 66 Hz.
_MAINS_E = Accuracy(0.001, 0.0005)
_MAINS_OLD = Accuracy(0.001, 0.001)
_DIRECT = Accuracy(0.001, 0.002)


def accuracy_of(identity: Identity | None, mode: InputMode) -> Accuracy:
    """Return the power accuracy of a model in an input mode.

    RMS and VMEAN count as mains frequency. An unknown model counts as the older series, whose
    limits are wider. An E meter in WT300 command mode names itself as the older one (IM
    WT310E-17EN, page 8-1). So the limit may be too wide, but never too narrow.
    """
    if mode is InputMode.DC:
        return _DIRECT
    name = identity.model.upper() if identity is not None else ""
    return _MAINS_E if name.endswith(("E", "EH")) else _MAINS_OLD


def power_uncertainty_w(accuracy: Accuracy, power_w: float, power_range_w: float) -> float:
    """Return the limit of a power's error; the power range is voltage range times current range."""
    return accuracy.of_reading * abs(power_w) + accuracy.of_range * power_range_w


def energy_uncertainty_wh(
    accuracy: Accuracy, energy_wh: float, power_range_w: float, duration_s: float
) -> float:
    """Return the limit of an energy's error on a fixed range in Wh: the sum of all terms."""
    shares = accuracy.of_reading + INTEGRATION_SHARE + TIMER_SHARE
    return shares * abs(energy_wh) + accuracy.of_range * power_range_w * duration_s / 3600
