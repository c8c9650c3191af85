# SPDX-License-Identifier: Apache-2.0
"""Each sample against what the device can measure, a run against voltage times current; pure."""

from __future__ import annotations

from power.meter import Sampling
from power.sampled.counter import CONFIRMING_SHARE
from power.sampled.source import Sample

VOLT_AMPERES_SHARE = 0.1
"""The energy may be more than that of voltage times current by this share."""


def impossible(sample: Sample, sampling: Sampling) -> str:
    """Return why a device cannot have measured a sample, "" if it can.

    Voltage times current bound no single sample: at the edge of a step they may be of another
    moment than the power.
    """
    if sampling.most_w is not None and abs(sample.power_w) > sampling.most_w:
        return f"{sample.power_w:g} W are more than the {sampling.most_w:g} W that it can measure"
    return ""


class VoltAmperesBeside:
    """The energy of voltage times current beside that of the power, sample by sample."""

    def __init__(self) -> None:
        self._before: tuple[float, float, float, float] | None = None
        self._power_ws = self._product_ws = self._slack_ws = 0.0

    def add(self, sample: Sample, sampling: Sampling) -> None:
        """Note the next sample."""
        volt_amperes = _volt_amperes(sample, sampling)
        if volt_amperes is None:
            self._before = None
            return
        now = (sample.at_s, abs(sample.power_w), volt_amperes, _slack_w(sample, sampling))
        if self._before is not None:
            seconds = now[0] - self._before[0]
            power_w, product_w, slack_w = (
                (one + other) / 2 for one, other in zip(now[1:], self._before[1:], strict=True)
            )
            self._power_ws += power_w * seconds
            self._product_ws += product_w * seconds
            self._slack_ws += slack_w * seconds
        self._before = now

    @property
    def known(self) -> bool:
        """Tell whether the device shows voltage and current of its own."""
        return self._slack_ws > 0

    def differs(self, sampling: Sampling) -> bool:
        """Tell whether the power is more than voltage times current; "equal" means less, too."""
        allowed_ws = VOLT_AMPERES_SHARE * self._product_ws + self._slack_ws
        more_ws = self._power_ws - self._product_ws
        return more_ws > allowed_ws or (sampling.volt_amperes == "equal" and -more_ws > allowed_ws)

    def confirms(self) -> bool:
        """Tell whether voltage times current would show an energy that is far too large."""
        allowed_ws = VOLT_AMPERES_SHARE * self._product_ws + self._slack_ws
        return self.known and allowed_ws <= CONFIRMING_SHARE * self._power_ws


def _volt_amperes(sample: Sample, sampling: Sampling) -> float | None:
    """Return voltage times current, None where there is none that the device itself has made."""
    if sampling.volt_amperes == "same" or sample.voltage_v is None or sample.current_a is None:
        return None
    return abs(sample.voltage_v * sample.current_a)


def _slack_w(sample: Sample, sampling: Sampling) -> float:
    """Return the power that the steps of a device's power and current may hide."""
    hidden_a = sampling.current_step_a + sampling.offset_a
    return sampling.offset_w + abs(sample.voltage_v or 0.0) * hidden_a + 1e-9
