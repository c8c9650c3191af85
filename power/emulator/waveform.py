# SPDX-License-Identifier: Apache-2.0
"""Periodic waveforms of known harmonics, and their spectrum by a discrete Fourier transform."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import lru_cache

MOST_ORDER = 50
"""The highest order that the meter analyses (IM WT310E-17EN, page 6-10)."""

# More than twice the highest order, so that no order folds onto another.
_SAMPLES = 256
# What is smaller than this beside 1 is left over from rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Waveform:
    """One period as a sum of sines: of each its order, its amplitude, and its phase in degrees.

    Amplitudes are relative to each other: the waveform is always taken at an rms value of 1. A
    phase is at the beginning of the period, positive for an earlier zero crossing. Raises
    ValueError for orders outside 1 to 50, orders given twice, and a waveform without a fundamental.
    """

    parts: tuple[tuple[int, float, float], ...] = ((1, 1.0, 0.0),)

    def __post_init__(self) -> None:
        orders = [order for order, _, _ in self.parts]
        if not all(1 <= order <= MOST_ORDER for order in orders):
            raise ValueError(f"the orders of a waveform go from 1 to {MOST_ORDER}")
        if len(set(orders)) < len(orders):
            raise ValueError("an order of a waveform is given twice")
        if not any(order == 1 and amplitude > 0 for order, amplitude, _ in self.parts):
            raise ValueError("a waveform needs a fundamental, as 1:1")
        if not all(math.isfinite(value) for part in self.parts for value in part):
            raise ValueError("amplitudes and phases must be numbers")


def parse_waveform(text: str) -> Waveform:
    """Return the waveform of a text such as `1:1:-30,3:0.4,5:0.2:180`; raise ValueError."""
    parts = []
    for part in text.split(","):
        fields = part.split(":")
        if not 2 <= len(fields) <= 3:
            raise ValueError(f"{part!r} is no ORDER:AMPLITUDE or ORDER:AMPLITUDE:DEGREES")
        parts.append((int(fields[0]), float(fields[1]), float((*fields, "0")[2])))
    return Waveform(tuple(parts))


@lru_cache(maxsize=16)
def samples(waveform: Waveform) -> tuple[float, ...]:
    """Return one period, evenly sampled, at an rms value of 1."""
    values = [
        sum(
            amplitude * math.sin(2 * math.pi * order * n / _SAMPLES + math.radians(degrees))
            for order, amplitude, degrees in waveform.parts
        )
        for n in range(_SAMPLES)
    ]
    rms = math.sqrt(sum(value**2 for value in values) / _SAMPLES)
    return tuple(value / rms for value in values)


@lru_cache(maxsize=16)
def spectrum(waveform: Waveform) -> tuple[complex, ...]:
    """Return the orders 0 to 50 as complex rms values of sines, at an rms value of 1 in all.

    The transform is that of the meter: one period of samples (IM WT310E-01EN, Harmonics), here
    X(k) = √2 j / N Σ x(n) exp(-2πj k n / N), whose angle is that of a sine.
    """
    period = samples(waveform)
    orders = [
        math.sqrt(2)
        * 1j
        / _SAMPLES
        * sum(x * cmath.exp(-2j * math.pi * k * n / _SAMPLES) for n, x in enumerate(period))
        for k in range(MOST_ORDER + 1)
    ]
    return tuple(amplitude if abs(amplitude) > _ROUNDING else 0j for amplitude in orders)


@lru_cache(maxsize=16)
def crest(waveform: Waveform) -> float:
    """Return the highest sample over the rms value."""
    return max(abs(value) for value in samples(waveform))


@lru_cache(maxsize=16)
def power_factor(voltage: Waveform, current: Waveform) -> float:
    """Return the mean of the product of both, each at an rms value of 1."""
    return (
        math.fsum(u * i for u, i in zip(samples(voltage), samples(current), strict=True)) / _SAMPLES
    )


@lru_cache(maxsize=16)
def swing(voltage: Waveform, current: Waveform) -> tuple[float, float]:
    """Return the lowest and the highest product of both in a period, each at an rms value of 1."""
    products = [u * i for u, i in zip(samples(voltage), samples(current), strict=True)]
    return min(products), max(products)
