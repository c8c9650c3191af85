# SPDX-License-Identifier: Apache-2.0
"""A meter without an integrator behind the protocol: means over whole updates, not moments.

Such a meter (`power.meters`) shows the mean of each update only while it integrates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from power.errors import MeterRefused
from power.meter import Meter, MeterSettings, Reading
from power.ptd.samples import QUANTITIES

# The first mean is there when the sample after its update has come.
_FIRST_S = 3.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Integrating:
    """The integration that goes with each measurement."""

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


def measured(reading: Reading) -> tuple[str, ...]:
    """Return the quantities that a reading shows, and power always."""
    return tuple(
        name
        for name, value in QUANTITIES.items()
        if name == "Watts" or getattr(reading, value) is not None
    )
