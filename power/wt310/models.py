# SPDX-License-Identifier: Apache-2.0
"""The models of the family: their names, ranges and elements."""

from __future__ import annotations

from dataclasses import dataclass

from power.errors import MeterMismatch
from power.meter import Identity

_VOLTS_CF3 = (15.0, 30.0, 60.0, 150.0, 300.0, 600.0)
_SMALL_AMPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_AMPS_CF3 = (*_SMALL_AMPS, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_AMPS_HIGH_CF3 = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0)
_AMPS_THREE_PHASE_CF3 = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Model:
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
        Model("WT310", _VOLTS_CF3, _AMPS_CF3, 1, False),
        Model("WT310HC", _VOLTS_CF3, _AMPS_HIGH_CF3, 1, False),
        Model("WT330", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, False),
        Model("WT332", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 2, False),
        Model("WT333", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, False),
        Model("WT310E", _VOLTS_CF3, _AMPS_CF3, 1, True),
        Model("WT310EH", _VOLTS_CF3, _AMPS_HIGH_CF3, 1, True),
        Model("WT330E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, True),
        Model("WT332E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 2, True),
        Model("WT333E", _VOLTS_CF3, _AMPS_THREE_PHASE_CF3, 3, True),
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


def model_of(identity: Identity) -> Model:
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
