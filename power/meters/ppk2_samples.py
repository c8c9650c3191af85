# SPDX-License-Identifier: Apache-2.0
"""The samples of Nordic's PPK2: four bytes each, made amperes by the unit's calibration; pure.

Nordic publishes no protocol. Its open application pc-nrfconnect-ppk shows it (`src/device`): bits 0
to 13 the converter's value, 14 to 16 the range, 18 to 23 a counter, 24 to 31 the digital inputs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SAMPLES_A_SECOND = 100_000
"""The rate of the PPK2; nothing changes it."""

BYTES = 4
"""The size of a sample."""

MOST_A = 1.0
"""The largest current that the PPK2 is specified for."""

_RANGES = 5
_COUNTS = 64
_FULL = (1 << 14) - 1
# One step of the converter in volts.
_STEP_V = 1.8 / 163840
# After a change of range so many samples show the change itself.
_SETTLING = 3
_DEFAULTS = {"R": (1031.64, 101.65, 10.15, 0.94, 0.043), "GS": (1.0,), "GI": (1.0,), "UG": (1.0,)}


@dataclass(frozen=True)
class Calibration:
    """A unit's constants, five each: shunts in Ω, offsets, gains, and their drifts by voltage."""

    shunt_ohm: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    gain_square: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    drift_a_v: npt.NDArray[np.float64]
    offset_a: npt.NDArray[np.float64]
    user_gain: npt.NDArray[np.float64]

    @staticmethod
    def parse(text: str) -> Calibration:
        """Return the constants in what a unit says of itself; one that is missing is Nordic's own.

        A shunt of 0 Ω, as some units have it, counts as missing. No shunt at all is a ValueError,
        and so is a constant that is no number.
        """
        given = dict(re.findall(r"^([A-Z]+\d): *(\S+)$", text, re.MULTILINE))
        if not any(name.startswith("R") for name in given):
            raise ValueError("there is no calibration")
        names = ("R", "O", "GS", "GI", "S", "I", "UG")
        return Calibration(*(_five(name, given) for name in names))

    def amperes(
        self, raw: npt.NDArray[np.uint32], volts: float
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return the current of each sample, and whether it is settled in its range."""
        scale = np.minimum(raw >> 14 & 7, _RANGES - 1)
        value = (raw & _FULL).astype(np.float64) * 4
        plain = (value - self.offset[scale]) * (_STEP_V / self.shunt_ohm[scale])
        curved = plain * (self.gain_square[scale] * plain + self.gain[scale])
        drift = self.drift_a_v[scale] * volts + self.offset_a[scale]
        settled = np.ones(len(raw), dtype=np.bool_)
        changes = np.flatnonzero(np.diff(scale)) + 1
        for later in range(_SETTLING):
            settled[np.minimum(changes + later, len(raw) - 1)] = False
        return self.user_gain[scale] * (curved + drift), settled


def _five(name: str, given: dict[str, str]) -> npt.NDArray[np.float64]:
    usual = _DEFAULTS.get(name, (0.0,))
    usual = usual if len(usual) == _RANGES else usual * _RANGES
    found = [float(given.get(f"{name}{index}", usual[index])) for index in range(_RANGES)]
    if not np.isfinite(found).all():
        raise ValueError(f"a constant {name} is no number")
    if name == "R":
        found = [value or usual[index] for index, value in enumerate(found)]
    return np.array(found, dtype=np.float64)


@dataclass(frozen=True)
class SampleBlock:
    """The mean current of samples in a row, how many were lost, and whether it was too much."""

    mean_a: float
    samples: int
    lost: int
    over_range: bool


class Decoder:
    """The bytes of a unit as they come, cut into samples."""

    def __init__(self, calibration: Calibration, volts: float) -> None:
        self._calibration = calibration
        self._volts = volts
        self._rest = b""
        self._count: int | None = None

    def take(self, content: bytes) -> SampleBlock | None:
        """Return the mean of the whole samples in the next bytes, or None if there is none."""
        whole = self._rest + content
        cut = len(whole) - len(whole) % BYTES
        self._rest = whole[cut:]
        if not cut:
            return None
        raw = np.frombuffer(whole[:cut], dtype="<u4")
        amperes, settled = self._calibration.amperes(raw, self._volts)
        used = amperes[settled] if settled.any() else amperes
        cut_off = (raw >> 14 & 7 >= _RANGES - 1) & (raw & _FULL == _FULL)
        return SampleBlock(
            mean_a=float(used.mean()),
            samples=len(raw),
            lost=self._lost(raw),
            over_range=bool(cut_off.any() or used.max() > MOST_A),
        )

    def _lost(self, raw: npt.NDArray[np.uint32]) -> int:
        """Return how many samples are missing by the counter of six bits."""
        counts = (raw >> 18 & (_COUNTS - 1)).astype(np.int64)
        before = counts[0] - 1 if self._count is None else self._count
        self._count = int(counts[-1])
        steps = np.diff(counts, prepend=before) % _COUNTS
        # A whole turn of the counter looks like none; the clock shows that.
        return int((steps - 1).clip(min=0).sum())
