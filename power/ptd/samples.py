# SPDX-License-Identifier: Apache-2.0
"""The samples of a measurement, and the lines that tell them; pure.

A share is a fraction of the power: 0.01 is 1 %.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from statistics import fmean

from power.energy.uncertainty import Measuring, power_limit_w
from power.meter import Reading

FAILED = -1.0
"""A value that the meter did not give."""

MISSED = -2.0
"""A value of an instant at which nobody could read the meter."""

BOUND = 0.01
"""The largest limit of error, as a share of the power, of a sample that counts as certain."""

QUANTITIES = {
    "Watts": "power_w",
    "Volts": "voltage_v",
    "Amps": "current_a",
    "PF": "power_factor",
}
"""The protocol's quantities in their order, and the values of a `Reading` that they are."""


@dataclass(frozen=True, slots=True)
class PtdSample:
    """One sample: its time as `stamp` writes it, the mark, and the four values.

    `share` is the limit of error of the power as a share of it, None if it is not known.
    """

    at: str
    mark: str
    watts: float
    volts: float
    amps: float
    pf: float
    share: float | None = None

    def value(self, quantity: str) -> float:
        """Return one of `QUANTITIES`."""
        return {"Watts": self.watts, "Volts": self.volts, "Amps": self.amps, "PF": self.pf}[
            quantity
        ]


def stamp(moment: datetime, zone: tzinfo | None = None) -> str:
    """Return a time as the protocol writes it: MM-DD-YYYY, hours to milliseconds.

    The default zone is the process's own, as PTDaemon's. Clients set TZ to choose it.
    """
    local = moment.astimezone(zone)
    return f"{local:%m-%d-%Y %H:%M:%S}.{local.microsecond // 1000:03d}"


def sample_of(reading: Reading, measuring: Measuring, at: str, mark: str) -> PtdSample:
    """Return the sample of a reading; a value that the meter did not give is `FAILED`."""
    values = {name: getattr(reading, value) for name, value in QUANTITIES.items()}
    limit_w, power_w = power_limit_w(reading, measuring), reading.power_w
    share = limit_w / abs(power_w) if limit_w is not None and power_w else None
    watts, volts, amps, pf = (FAILED if value is None else value for value in values.values())
    return PtdSample(at, mark, watts, volts, amps, pf, share)


def missed(at: str, mark: str) -> PtdSample:
    """Return the sample of an instant at which nobody could read the meter."""
    return PtdSample(at, mark, MISSED, MISSED, MISSED, MISSED)


def faults_of(
    reading: Reading, meter: str, measured: Collection[str] = tuple(QUANTITIES)
) -> list[str]:
    """Return a sentence for each of the `measured` quantities that the meter did not give."""
    return [
        f"Bad {name.lower()} reading nan from {meter} ({reading.absent.get(value, 'no value')})"
        for name, value in QUANTITIES.items()
        if name in measured and getattr(reading, value) is None
    ]


def values_text(sample: PtdSample) -> str:
    """Return the values with their names, six decimals each."""
    return ",".join(f"{name},{sample.value(name):.6f}" for name in QUANTITIES)


def answer_line(sample: PtdSample) -> str:
    """Return the line that `RL` answers for a sample; it has no mark."""
    return f"Time,{sample.at},{values_text(sample)}"


def log_line(sample: PtdSample) -> str:
    """Return the line of the log for a sample."""
    return f"{answer_line(sample)},Mark,{sample.mark}"


def total_line(quantity: str, samples: Sequence[PtdSample]) -> str:
    """Return `Watts,MEAN,LEAST,MOST,SAMPLES,ERRORS,GOOD`, or of another quantity.

    Only samples with a value count. Without one the three figures are `FAILED`.
    """
    values = [sample.value(quantity) for sample in samples if _good(sample, quantity)]
    figures = _spread(values)
    return f"{quantity},{figures},{len(samples)},{len(samples) - len(values)},{len(values)}"


def uncertainty_line(samples: Sequence[PtdSample]) -> str:
    """Return `Uncertainty,MEAN,LEAST,MOST,SAMPLES,ABOVE,WITHIN,UNKNOWN`.

    The figures are shares. ABOVE counts the samples above `BOUND`, WITHIN those at or below it.
    """
    shares = [sample.share for sample in samples if sample.share is not None]
    above = sum(share > BOUND for share in shares)
    counts = (len(samples), above, len(shares) - above, len(samples) - len(shares))
    return f"Uncertainty,{_spread(shares)}," + ",".join(str(count) for count in counts)


def _good(sample: PtdSample, quantity: str) -> bool:
    """Tell whether the meter gave a value; -1 and -2 stand for none, as clients read them."""
    return sample.value(quantity) not in (FAILED, MISSED)


def _spread(values: Sequence[float]) -> str:
    figures: tuple[Callable[[Sequence[float]], float], ...] = (fmean, min, max)
    return ",".join(f"{figure(values) if values else FAILED:.6f}" for figure in figures)
