# SPDX-License-Identifier: Apache-2.0
"""The models of the family: their names, ranges and elements, and the settings that each has."""

from __future__ import annotations

from dataclasses import dataclass

from power.errors import MeterMismatch, MeterRefused
from power.meter import SIGMA, Identity, MeterSettings

UPDATE_INTERVALS_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
# The timer ends at 10000,0,0 (page 6-16).
MOST_TIMER_S = 10000 * 3600

_VOLTS_CF3 = (15.0, 30.0, 60.0, 150.0, 300.0, 600.0)
_SMALL_AMPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_AMPS_CF3 = (*_SMALL_AMPS, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_AMPS_HIGH_CF3 = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0)
_AMPS_THREE_PHASE_CF3 = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class MeterModel:
    """One model: its fixed ranges at crest factor 3, its elements and its generation.

    Ranges halve at crest factor 6 (IM WT310E-17EN, pages 6-12 and 6-13).
    """

    name: str
    voltage_ranges_v: tuple[float, ...]
    current_ranges_a: tuple[float, ...]
    elements: int
    e_series: bool

    @property
    def element_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the elements; a WT332 has the elements 1 and 3 of a WT333."""
        return {1: (1,), 2: (1, 3)}.get(self.elements, (1, 2, 3))

    def voltage_ranges(self, crest_factor: int) -> tuple[float, ...]:
        """Return the voltage ranges in V, ascending."""
        return _scaled(self.voltage_ranges_v, crest_factor)

    def current_ranges(self, crest_factor: int) -> tuple[float, ...]:
        """Return the current ranges in A, ascending."""
        return _scaled(self.current_ranges_a, crest_factor)


def _scaled(ranges: tuple[float, ...], crest_factor: int) -> tuple[float, ...]:
    return ranges if crest_factor == 3 else tuple(value / 2 for value in ranges)


MODELS = {
    model.name: model
    for model in (
        MeterModel("WT310", _VOLTS_CF3, _AMPS_CF3, 1, False),
        MeterModel("WT310HC", _VOLTS_CF3, _AMPS_HIGH_CF3, 1, False),
        MeterModel("WT330", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, False),
        MeterModel("WT332", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 2, False),
        MeterModel("WT333", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, False),
        MeterModel("WT310E", _VOLTS_CF3, _AMPS_CF3, 1, True),
        MeterModel("WT310EH", _VOLTS_CF3, _AMPS_HIGH_CF3, 1, True),
        MeterModel("WT330E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, True),
        MeterModel("WT332E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 2, True),
        MeterModel("WT333E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, True),
    )
}


def parse_identity(reply: str) -> Identity:
    """Return the four fields of an `*IDN?` reply; a reply of another form is refused."""
    fields = [field.strip() for field in reply.split(",")]
    if len(fields) != 4:
        raise MeterMismatch(
            f"the instrument answered *IDN? with {reply!r}, so it is not a Yokogawa WT300 meter; "
            "check the address"
        )
    return Identity(*fields)


def model_of(identity: Identity) -> MeterModel:
    """Return the model's data; raise an error that names an unsupported instrument.

    The maker must match too: instruments of other makers speak nearly this language, with other
    states. A model with an unknown suffix counts as the known model with the longest matching
    beginning.
    """
    given = identity.model.upper()
    names = [name for name in MODELS if given.startswith(name)]
    if identity.maker.upper() != "YOKOGAWA" or not names:
        raise MeterMismatch(
            f"{identity.maker} {identity.model} is not supported; connect one of these Yokogawa "
            f"meters: {', '.join(MODELS)}"
        )
    return MODELS[max(names, key=len)]


def require_settable_by_any(settings: MeterSettings) -> None:
    """Raise ValueError for settings that no model has, so nobody needs to ask a meter."""
    refusals: list[str] = []
    for model in MODELS.values():
        try:
            require_settable(settings, model)
        except MeterRefused as refusal:
            refusals.append(str(refusal))
    if len(refusals) == len(MODELS):
        raise ValueError(refusals[0])


def require_settable(settings: MeterSettings, model: MeterModel) -> None:
    """Raise `MeterRefused` for settings that the model does not have.

    The meter itself would silently take the nearest legal value (page 5-6).
    """
    if settings.timer_s != int(settings.timer_s) or not 0 <= settings.timer_s <= MOST_TIMER_S:
        raise MeterRefused(
            f"the timer cannot be {settings.timer_s} s; give a whole number of seconds from 0 to "
            f"{MOST_TIMER_S}"
        )
    legal_elements = [str(number) for number in model.element_numbers]
    if settings.element not in (*legal_elements, *([SIGMA] if model.elements > 1 else [])):
        sums = " or SIGMA, the sum of all" if model.elements > 1 else ""
        raise MeterRefused(
            f"a {model.name} has no element {settings.element}; choose "
            f"{', '.join(legal_elements)}{sums}"
        )
    if settings.crest_factor not in (3, 6):
        raise MeterRefused(f"the crest factor cannot be {settings.crest_factor}; give 3 or 6")
    for name, value, legal in (
        ("update interval", settings.update_interval_s, UPDATE_INTERVALS_S),
        ("voltage range", settings.voltage_range_v, model.voltage_ranges(settings.crest_factor)),
        ("current range", settings.current_range_a, model.current_ranges(settings.crest_factor)),
    ):
        if value is not None and not any(same_number(value, choice) for choice in legal):
            choices = ", ".join(f"{choice:g}" for choice in legal)
            raise MeterRefused(
                f"a {model.name} has no {name} {value:g} at crest factor {settings.crest_factor}; "
                f"choose one of {choices}"
            )


def same_number(a: float, b: float) -> bool:
    """Tell whether two numbers of a setting are one value, however many digits the meter writes."""
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b))
