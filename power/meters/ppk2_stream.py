# SPDX-License-Identifier: Apache-2.0
"""The stream of a PPK2: four bytes a sample, cut apart again where bytes were lost; pure.

Bits 0 to 13 are the converter's value, 14 to 16 the range, 18 to 23 a counter, 24 to 31 the digital
inputs. The unit's calibration makes it amperes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SAMPLES_A_SECOND = 100_000
"""The rate of the PPK2; nothing changes it."""

BYTES = 4
"""The size of a sample."""

MOST_A = 1.0
"""The largest current that the PPK2 is specified for."""

_Words = npt.NDArray[np.uint32]

_RANGES = 5
_COUNTS = 64
_FULL = (1 << 14) - 1
# One step of the converter in volts.
_STEP_V = 1.8 / 163840
_COUNT_AT = 18
# Bits that seldom change from sample to sample: the unused one, and the digital inputs.
_STEADY_BITS = 0xFF020000
# So many counts that go up by one prove where samples begin.
_PROOF = 16
# The proof is looked for in so many bytes at once, of which the last may belong to the next proof.
_SEARCHED_BYTES = 4096
_KEPT_BYTES = BYTES * (_PROOF + 1)
# So many samples without any order are no stream of a PPK2: a hundredth of a second.
_MOST_ASTRAY = 1000
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
    factors = [float(given.get(f"{name}{index}", usual[index])) for index in range(_RANGES)]
    if not np.isfinite(factors).all():
        raise ValueError(f"a constant {name} is no number")
    if name == "R":
        factors = [value or usual[index] for index, value in enumerate(factors)]
    return np.array(factors, dtype=np.float64)


@dataclass(frozen=True)
class SampleBlock:
    """The mean current of samples in a row, how many were lost, and whether it was too much."""

    mean_a: float
    samples: int
    lost: int
    over_range: bool


class Decoder:
    """The bytes of a unit as they come, cut into samples.

    The counter of each sample tells whether any are missing. Where bytes were lost, samples begin
    elsewhere from then on. The cut moves to where the counter goes up by one again, and what lies
    between is lost. Until its counter has gone up `_PROOF` times, a stream is taken as it comes.
    """

    def __init__(self, calibration: Calibration, volts: float) -> None:
        self._calibration = calibration
        self._volts = volts
        self._rest = b""
        self._before: int | None = None
        self._in_order = 0
        self._proved = False
        self._skipped = 0
        self._lost = 0
        self._astray = 0

    @property
    def astray(self) -> bool:
        """Tell whether the stream has had no order for long."""
        return self._astray > _MOST_ASTRAY

    def take(self, content: bytes) -> SampleBlock | None:
        """Return the mean of the whole samples in the next bytes, or None if there is none.

        The last of them may wait for the next bytes, which show whether they are whole.
        """
        self._rest += content
        if not self._proved:
            self._begin()
        good: list[_Words] = []
        while True:
            raw = np.frombuffer(self._rest, dtype="<u4", count=len(self._rest) // BYTES)
            proved = self._proved
            kept = self._in_order_of(raw) if proved else self._as_it_comes(raw)
            if kept:
                self._count(raw[:kept])
                good.append(raw[:kept])
                self._rest = self._rest[kept * BYTES :]
            if kept == len(raw) or (proved and not self._realign()):
                break
        return self._block(np.concatenate(good)) if good else None

    def _begin(self) -> None:
        """Leave out the bytes before the first sample, if another cut than theirs has an order."""
        found = _first_in_order(self._rest)
        if found is not None and found % BYTES and _first_in_order(self._rest, (0,)) is None:
            self._resume(found + BYTES)

    def _as_it_comes(self, raw: _Words) -> int:
        """Return how many words are taken before their order is proved: up to the proof, or all."""
        proof = _first_in_order(self._rest, (0,))
        return len(raw) if proof is None else proof // BYTES + _PROOF + 1

    def _in_order_of(self, raw: _Words) -> int:
        """Return how many of these words are samples beyond doubt."""
        odd = np.flatnonzero(_steps(raw, self._before) != 1)
        kept = int(odd[0]) if len(odd) else len(raw)
        # A word of two halves has the right counter once in 64 times.
        if kept and self._is_doubtful(raw, kept - 1):
            kept -= 1
        return kept

    def _is_doubtful(self, raw: _Words, at: int) -> bool:
        word, before = int(raw[at]), int(raw[at - 1]) if at else self._before
        changed = before is not None and (word ^ before) & _STEADY_BITS != 0
        return changed or word >> 14 & 7 >= _RANGES

    def _count(self, kept: _Words) -> None:
        """Count the samples that are kept, and those that are missing between them."""
        steps = _steps(kept, self._before)
        odd = np.flatnonzero(steps != 1)
        self._before = int(kept[-1])
        # A whole turn of the counter looks like none; the clock shows that.
        self._lost += int((steps - 1).clip(min=0).sum())
        self._in_order = len(kept) - int(odd[-1]) - 1 if len(odd) else self._in_order + len(kept)
        self._proved = self._proved or self._in_order >= _PROOF
        self._astray = 0 if self._proved else self._astray + len(kept)

    def _realign(self) -> bool:
        """Move to where samples are in order again; False if the next bytes must show where."""
        found = _first_in_order(self._rest[:_SEARCHED_BYTES])
        if found is not None:
            # The first word behind lost bytes may begin with those of the sample before.
            self._resume(found + BYTES)
            return True
        if len(self._rest) < _SEARCHED_BYTES:
            return False
        self._skipped += (_SEARCHED_BYTES - _KEPT_BYTES) // BYTES
        self._astray += (_SEARCHED_BYTES - _KEPT_BYTES) // BYTES
        self._rest = self._rest[_SEARCHED_BYTES - _KEPT_BYTES :]
        return True

    def _resume(self, at: int) -> None:
        """Go on at a byte where samples are in order; what was left out is lost.

        The counter tells how many these are, but for its whole turns, which the bytes tell.
        """
        skipped, self._skipped = self._skipped + -(-at // BYTES), 0
        self._rest = self._rest[at:]
        first = int.from_bytes(self._rest[:BYTES], "little")
        count = _count_of(first)
        if self._before is None:
            self._lost += skipped
        else:
            missing = (count - _count_of(self._before) - 1) % _COUNTS
            self._lost += missing + _COUNTS * max(0, round((skipped - missing) / _COUNTS))
        # As if the sample before were the one that the counter wants.
        others = first & ~((_COUNTS - 1) << _COUNT_AT)
        self._before = others | (count - 1) % _COUNTS << _COUNT_AT
        self._proved = True

    def _block(self, raw: _Words) -> SampleBlock:
        amperes, settled = self._calibration.amperes(raw, self._volts)
        used = amperes[settled] if settled.any() else amperes
        cut_off = (raw >> 14 & 7 >= _RANGES - 1) & (raw & _FULL == _FULL)
        lost, self._lost = self._lost, 0
        return SampleBlock(
            mean_a=float(used.mean()),
            samples=len(raw),
            lost=lost,
            over_range=bool(cut_off.any() or used.max() > MOST_A),
        )


def _count_of(word: int) -> int:
    return word >> _COUNT_AT & (_COUNTS - 1)


def _steps(raw: _Words, before: int | None) -> npt.NDArray[np.int64]:
    """Return by how much each counter is higher than the one before; the first of all by one."""
    counts = (raw >> _COUNT_AT & (_COUNTS - 1)).astype(np.int64)
    first = counts[:1] - 1 if before is None else _count_of(before)
    return np.diff(counts, prepend=first) % _COUNTS


def _first_in_order(content: bytes, cuts: Sequence[int] = range(BYTES)) -> int | None:
    """Return the first byte from which on the counter goes up often enough, None without one.

    A current that rises evenly may look like a counter. So the digital inputs must stay as they
    are, unless they never do.
    """
    for steady_bits in (_STEADY_BITS, 0):
        found = [_first_proof(content, cut, steady_bits) for cut in cuts]
        known = [at for at in found if at is not None]
        if known:
            return min(known)
    return None


def _first_proof(content: bytes, cut: int, steady_bits: int) -> int | None:
    words = (len(content) - cut) // BYTES
    if words <= _PROOF:
        return None
    raw = np.frombuffer(content, dtype="<u4", count=words, offset=cut)
    in_order = (_steps(raw, None)[1:] == 1) & ((raw[1:] ^ raw[:-1]) & steady_bits == 0)
    runs = np.convolve(in_order, np.ones(_PROOF, dtype=np.int64), "valid")
    proved = np.flatnonzero(runs == _PROOF)
    return cut + BYTES * int(proved[0]) if len(proved) else None
