# SPDX-License-Identifier: Apache-2.0
"""The settings of the emulated meter, and the ranges and rates of each model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

_VOLTS = (15.0, 30.0, 60.0, 150.0, 300.0, 600.0)
_AMPS_SMALL = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_AMPS_LARGE = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0)
_AMPS_THREE_PHASE = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
# The ranges of the /EX2 sensor input (page 6-13).
_SENSOR_V = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

RATES_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
RATES_E_S = (*RATES_S, 10.0, 20.0)


@dataclass(frozen=True)
class EmulatedModel:
    """A model: its current ranges at crest factor 3 (pages 6-12 and 6-13), and its series."""

    name: str
    current_ranges_a: tuple[float, ...]
    e_series: bool

    def ranges(self, quantity: str, crest_factor: str) -> tuple[float, ...]:
        """Return the ranges of `VOLTage`, `CURRent` or `SENSor`, ascending; at CF 6, A6 halved."""
        full = {"VOLTage": _VOLTS, "SENSor": _SENSOR_V}.get(quantity, self.current_ranges_a)
        return full if crest_factor == "3" else tuple(value / 2 for value in full)

    @property
    def elements(self) -> tuple[int, ...]:
        """Return the numbers of the elements; a WT332 lacks the middle one of a WT333."""
        if self.name.startswith("WT332"):
            return (1, 3)
        return (1, 2, 3) if self.name.startswith("WT333") else (1,)

    @property
    def rates_s(self) -> tuple[float, ...]:
        """Return the update intervals; we take 10 and 20 s for additions of the E series."""
        return RATES_E_S if self.e_series else RATES_S


MODELS = {
    model.name: model
    for model in (
        EmulatedModel("WT310", _AMPS_SMALL, False),
        EmulatedModel("WT310HC", _AMPS_LARGE, False),
        EmulatedModel("WT332", _AMPS_THREE_PHASE, False),
        EmulatedModel("WT333", _AMPS_THREE_PHASE, False),
        EmulatedModel("WT310E", _AMPS_SMALL, True),
        EmulatedModel("WT310EH", _AMPS_LARGE, True),
        EmulatedModel("WT332E", _AMPS_THREE_PHASE, True),
        EmulatedModel("WT333E", _AMPS_THREE_PHASE, True),
    )
}

RATIOS = ("VT", "CT", "SFACtor")
"""What scaling multiplies: voltage by VT, current by CT, power by all three (page 6-14)."""

_GROUPS = {"SENSor": "CURRent:EXTSensor"}


def valid_ranges_header(quantity: str) -> str:
    """Return the header of the list of ranges that auto-range may take."""
    return f"[:INPut]:{_GROUPS.get(quantity, quantity)}:CONFig"


def peak_jump_header(quantity: str) -> str:
    """Return the header of the range that auto-range takes at a peak over range."""
    return f"[:INPut]:{_GROUPS.get(quantity, quantity)}:POJump"


_BASIC = ("U", "I", "P", "S", "Q", "LAMBDA", "PHI", "FU", "FI")
_PEAKS = ("UPPEAK", "UMPEAK", "IPPEAK", "IMPEAK")
PRESETS = {
    1: ("U", "I", "P"),
    2: (*_BASIC, "NONE"),
    3: (*_BASIC, *_PEAKS, "PPPEAK", "PMPEAK"),
    4: (*_BASIC, *_PEAKS, "TIME", "WH", "WHP", "WHM", "AH", "AHP", "AHM"),
}
"""The functions of the default patterns of output items (page 6-26)."""


def preset(pattern: int) -> tuple[str, ...]:
    """Return the output items of a default pattern, for elements 1 to 3 and the sum."""
    return tuple(
        name if name in ("TIME", "NONE") else f"{name},{element}"
        for element in ("1", "2", "3", "SIGMA")
        for name in PRESETS[pattern]
    )


PRESET_2 = preset(2)


@dataclass
class Communication:
    """The settings that survive `*RST` and power cycles (page 6-35): header and verbose."""

    header: bool = True
    verbose: bool = False
    remote: bool = False
    lockout: bool = False
    command: str = "WT300"


@dataclass
class EmulatedSettings:
    """The settings that `*RST` resets.

    With `sensor_range_v` the meter measures the current at its sensor input, where the emulated
    circuit has nothing connected.
    """

    mode: str = "RMS"
    crest_factor: str = "3"
    line_filter: bool = False
    frequency_filter: bool = False
    voltage_range_v: float = 600.0
    current_range_a: float = 20.0
    sensor_range_v: float | None = None
    voltage_auto: bool = True
    current_auto: bool = True
    scaling: bool = False
    ratios: dict[tuple[str, int], float] = field(default_factory=dict)
    wiring: str = "P1W3"
    synchronize: str = "VOLTage"
    rate_s: float = 0.25
    rate_auto: bool = False
    hold: bool = False
    averaging: bool = False
    averaging_type: str = "EXPonent"
    averaging_count: int = 8
    max_hold: bool = False
    integrate_mode: str = "NORMal"
    timer: tuple[int, int, int] = (0, 0, 0)
    float_format: bool = False
    number_of_items: int = 10
    numeric_hold: bool = False
    items: dict[int, str] = field(default_factory=dict)
    number_of_lists: int = 1
    lists: dict[int, str] = field(default_factory=dict)
    math: str = "CFU1"
    wt200_items: frozenset[str] = frozenset({"V,1", "A,1", "W,1"})
    kept: dict[tuple[str, int], str] = field(default_factory=dict)

    def item(self, number: int) -> str:
        """Return an output item; an unset one comes from default pattern 2 (page 6-26)."""
        if number in self.items:
            return self.items[number]
        return PRESET_2[number - 1] if number <= len(PRESET_2) else "NONE"

    @property
    def timer_s(self) -> int:
        """Return the integration timer in seconds; 0 means none."""
        hours, minutes, seconds = self.timer
        return 3600 * hours + 60 * minutes + seconds

    def ratio(self, kind: str, element: int) -> float:
        """Return a ratio of scaling, whether scaling is on or not."""
        return self.ratios.get((kind, element), 1.0)

    def scale(self, quantity: str, element: int) -> float:
        """Return the factor by which scaling multiplies `VOLTage`, `CURRent` or `POWer`."""
        if not self.scaling:
            return 1.0
        kinds = {"VOLTage": RATIOS[:1], "CURRent": RATIOS[1:2], "POWer": RATIOS}[quantity]
        return math.prod(self.ratio(kind, element) for kind in kinds)

    def range_of(self, quantity: str) -> float:
        """Return the range of `VOLTage`, `CURRent`, or `SENSor` while that input is chosen."""
        if quantity == "SENSor" and self.sensor_range_v is not None:
            return self.sensor_range_v
        return self.voltage_range_v if quantity == "VOLTage" else self.current_range_a

    @property
    def input_of_current(self) -> str:
        """Return `SENSor`, or `CURRent` where the current flows through the meter."""
        return "CURRent" if self.sensor_range_v is None else "SENSor"

    def automatic(self, quantity: str) -> bool:
        """Tell whether `VOLTage`, or the input of the current, is on auto-range."""
        return self.voltage_auto if quantity == "VOLTage" else self.current_auto

    def copy(self) -> EmulatedSettings:
        """Return an independent copy."""
        return replace(
            self,
            items=dict(self.items),
            kept=dict(self.kept),
            ratios=dict(self.ratios),
            lists=dict(self.lists),
        )
