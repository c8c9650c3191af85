# SPDX-License-Identifier: Apache-2.0
"""The interface of a power meter: the `Meter` protocol, its arguments and its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Literal, Protocol, runtime_checkable


class IntegrationState(Enum):
    """The integrator's states, named as the WT310 does (IM WT310E-17EN, page 6-16)."""

    RESET = "RESET"
    START = "START"
    STOP = "STOP"
    TIMEUP = "TIMEUP"
    ERROR = "ERROR"


class InputMode(Enum):
    """The meter's input modes (IM WT310E-17EN, page 6-14)."""

    RMS = "RMS"
    VMEAN = "VMEAN"
    DC = "DC"


class MeterFlag(Enum):
    """A problem with the inputs that the meter itself has reported since the start.

    OVER_RANGE and the two PEAK_OVER flags are status bits (IM WT310E-17EN, page 7-5). AUTO_RANGE
    means that automatic ranging is on; the meter or a person may have switched it on. For
    RANGE_SWITCHED the meter puts a hyphen at a range: auto-range changed the range during the
    integration (IM WT310E-01EN, page 5-12). SCALING to
    SETTINGS_CHANGED were found after the run and were not so before it. RESTARTED means that the
    integration began once more after our START. UNCHECKED means that the meter did not answer the
    questions after the run. Those from SAMPLES_MISSED on are of a software integrator: samples were
    missing, came too slowly, or disagree with the device's own energy counter, or the device
    measures otherwise since it was opened again. Single samples were lost or no numbers, or showed
    more than the device can measure. The counter began anew, or the device did. The power is more
    than voltage times current. The device reported a fault of its own. WITNESS_COARSE means that
    neither counter nor voltage and current can confirm so small an energy, and NO_WITNESS that
    there is nothing that could.
    """

    OVER_RANGE = "over_range"
    VOLTAGE_PEAK_OVER = "voltage_peak_over"
    CURRENT_PEAK_OVER = "current_peak_over"
    AUTO_RANGE = "auto_range"
    RANGE_SWITCHED = "range_switched"
    SCALING = "scaling"
    AVERAGING = "averaging"
    MAX_HOLD = "max_hold"
    OTHER_LANGUAGE = "other_language"
    SETTINGS_CHANGED = "settings_changed"
    RESTARTED = "restarted"
    UNCHECKED = "unchecked"
    SAMPLES_MISSED = "samples_missed"
    SLOW_SAMPLES = "slow_samples"
    COUNTER_DIFFERS = "counter_differs"
    SAMPLING_CHANGED = "sampling_changed"
    SAMPLES_LOST = "samples_lost"
    IMPOSSIBLE_POWER = "impossible_power"
    COUNTER_RESTARTED = "counter_restarted"
    DEVICE_RESTARTED = "device_restarted"
    VOLT_AMPERES_DIFFER = "volt_amperes_differ"
    DEVICE_FAULT = "device_fault"
    WITNESS_COARSE = "witness_coarse"
    NO_WITNESS = "no_witness"


@dataclass(frozen=True)
class Identity:
    """The four fields of an instrument's answer to `*IDN?`."""

    maker: str
    model: str
    serial: str
    firmware: str


SIGMA = "SIGMA"
"""The element of a sum over all elements of a WT332 or WT333."""


VoltAmperes = Literal["bound", "equal", "same"]
"""What voltage times current are to a sampled power (`Sampling`)."""


@dataclass(frozen=True)
class Sampling:
    """How a meter measures whose power a program samples and integrates, and how well.

    The limit of a power's error is `of_reading` times the power, and `offset_w`, and `offset_a`
    times the voltage; `of_reading` is None where nobody specifies one. `interval_s` is the time
    between two samples, 0 if the device itself averages without holes. `renewal_s` is for how long
    the device shows the same value, however often it is asked. `longest_gap_s` is the longest time
    between two samples that is no gap: five intervals unless it is given, and at least a second.
    `source` says where the figures come from.

    The rest says what is physically possible, and each of it may be left out. `most_w` is the rated
    power: a sample beyond it is dropped. `volt_amperes` says what voltage times current are to the
    power: "bound" for alternating current and for means, "equal" for the product that the device
    itself has made, "same" where this program makes the power of them, so that they confirm
    nothing. `current_step_a` is what the device may hide of a small current. `machine_parts` is how
    many parts like the measured one the machine has.
    """

    kind: str
    of_reading: float | None
    offset_w: float = 0.0
    offset_a: float = 0.0
    interval_s: float = 0.0
    renewal_s: float = 0.0
    longest_gap_s: float = 0.0
    source: str = ""
    most_w: float | None = None
    volt_amperes: VoltAmperes = "bound"
    current_step_a: float = 0.02
    machine_parts: int = 1

    def __post_init__(self) -> None:
        if not self.longest_gap_s:
            object.__setattr__(self, "longest_gap_s", max(1.0, 5 * self.interval_s))


@dataclass(frozen=True)
class MeterSettings:
    """The settings of an integration, written before it starts.

    `timer_s` is a whole number of seconds (0: no timer). A range of None means auto-range.
    `element` is the number of the measured element, or `SIGMA` for the sum of all. `wiring` is the
    wiring system as the meter names it; it is read back, and never written. So is `sampling`, which
    a meter of the WT300 series does not have. `quantities` are read beside those of each reading;
    `power.quantities` has their names. `both_ways` says that the load is expected to give power
    back, too. Like the element, neither is a setting of the meter itself.
    """

    timer_s: int
    update_interval_s: float = 1.0
    mode: InputMode = InputMode.RMS
    voltage_range_v: float | None = None
    current_range_a: float | None = None
    crest_factor: int = 3
    line_filter: bool = False
    frequency_filter: bool = False
    element: str = "1"
    wiring: str | None = None
    sampling: Sampling | None = None
    quantities: tuple[str, ...] = ()
    both_ways: bool = False


@dataclass(frozen=True)
class ElementValues:
    """Power and energy of one element, read with the sum of all elements."""

    element: int
    power_w: float | None
    energy_wh: float | None


@dataclass(frozen=True)
class IntegrationStart:
    """The moment when an integration began, in seconds of the monotonic clock.

    The meter started between `sent_s` and `written_s`. It had reported START by `confirmed_s`.
    """

    sent_s: float
    written_s: float
    confirmed_s: float


@dataclass(frozen=True)
class IntegrationStop:
    """When our STOP ended an integration, in seconds of the monotonic clock.

    The meter stopped between `sent_s`, and `seen_s`, when it had reported its end.
    """

    sent_s: float
    seen_s: float

    def after(self, start: IntegrationStart) -> tuple[float, float]:
        """Return the least and the most seconds that the integration can have lasted."""
        return max(0.0, self.sent_s - start.written_s), self.seen_s - start.sent_s


@runtime_checkable
class TellsStop(Protocol):
    """A meter that can tell when its own STOP ended the integration."""

    @property
    def last_stop(self) -> IntegrationStop | None:
        """Return when that was; None if this program's STOP has not ended it since its START."""
        ...


MEASURED = ("voltage_v", "current_a", "power_w", "energy_wh", "integration_s")
"""The values that each reading of a sound run has."""

QUALITIES = ("power_factor", "frequency_hz", "voltage_peak_v", "current_peak_a")
"""The values that say how well the meter can measure the load."""


NO_SAMPLE = "no sample"
"""How the reason begins why a value is absent while a sampled device is silent."""


@dataclass(frozen=True)
class Reading:
    """One sample of the meter; all its values come from one query.

    `monotonic_s` and `utc` say when the reply was complete. A missing value is None, never a
    stand-in number; `absent` says why it is missing. `flags` accumulate over a run. The ranges are
    None if the meter does not send them with its values. So are power factor, frequency and peaks;
    a peak is the larger of the positive and the negative one, without sign. `elements` is empty
    unless the sum of all elements is measured. `quantities` has what the settings chose beside all
    this, by name; None where the meter had no number.
    """

    monotonic_s: float
    utc: datetime
    voltage_v: float | None
    current_a: float | None
    power_w: float | None
    energy_wh: float | None
    integration_s: float | None
    state: IntegrationState
    absent: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[MeterFlag] = frozenset()
    voltage_range_v: float | None = None
    current_range_a: float | None = None
    power_factor: float | None = None
    frequency_hz: float | None = None
    voltage_peak_v: float | None = None
    current_peak_a: float | None = None
    elements: tuple[ElementValues, ...] = ()
    quantities: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def missing(self) -> dict[str, str]:
        """Return why voltage, current, power, energy or integration time is missing.

        Power factor and frequency are often no number on a sound meter: without a load, on direct
        current.
        """
        return {name: reason for name, reason in self.absent.items() if name in MEASURED}


@dataclass(frozen=True)
class HeldResult:
    """What a meter's integrator holds: its state, and the energy and time that it shows.

    The charge tells two runs of equal energy apart, where the meter shows it.
    """

    identity: Identity
    state: IntegrationState
    energy_wh: float | None
    integration_s: float | None
    charge_ah: float | None = None

    @staticmethod
    def of(identity: Identity, reading: Reading) -> HeldResult:
        """Return what a reading shows."""
        return HeldResult(identity, reading.state, reading.energy_wh, reading.integration_s)

    def words(self) -> str:
        """Return energy, time and state as text for people."""
        energy = "no energy" if self.energy_wh is None else f"{self.energy_wh:.6g} Wh"
        time = "an unknown time" if self.integration_s is None else f"{self.integration_s:g} s"
        return f"{energy} of {time} (state {self.state.value})"


@dataclass(frozen=True)
class Leave:
    """Leave to reset a meter; only the rule of `power.wipe_rule` gives one to wipe a result."""

    wipes: bool


NOTHING_HELD = Leave(wipes=False)
"""Leave to set up a meter whose integrator is reset already."""


class Meter(Protocol):
    """An energy meter; each call returns or raises `power.errors.MeterError` in a bounded time."""

    def identify(self) -> Identity:
        """Return the identity of the meter that answers; it is a supported model."""
        ...

    def prepare(self, settings: MeterSettings, leave: Leave = NOTHING_HELD) -> MeterSettings:
        """Reset the integrator, write all settings, and return them as read back.

        Raises `MeterHolds` if the integrator holds a result and nobody has asked the rule.
        """
        ...

    def start(self) -> IntegrationStart:
        """Start the integration and return only after the meter reports that it runs."""
        ...

    def stop(self) -> IntegrationState:
        """End the integration and return how it ended: STOP or TIMEUP, if all is well."""
        ...

    def attach(self) -> IntegrationState:
        """Open the link again without changing the integration, and return the state."""
        ...

    def arrange(self) -> None:
        """Set the output items of a reading; raise `MeterBusy` while an integration runs."""
        ...

    def read(self) -> Reading:
        """Return one sample: voltage, current, power, energy, integration time and state."""
        ...

    def close(self) -> None:
        """Release the link; never raises, and may be called twice."""
        ...
