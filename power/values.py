# SPDX-License-Identifier: Apache-2.0
"""The values of the `Meter` protocol as plain JSON values, and back without loss.

The functions come in pairs `x_to_json` and `x_from_json`. A value that does not fit raises a
ValueError that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from power.meter import (
    ElementValues,
    Identity,
    InputMode,
    IntegrationState,
    MeterFlag,
    MeterSettings,
    Reading,
    Sampling,
)


def identity_to_json(identity: Identity) -> dict[str, object]:
    """Return an identity as JSON values."""
    return asdict(identity)


def identity_from_json(value: Mapping[str, Any]) -> Identity:
    """Return the identity that `identity_to_json` wrote."""
    try:
        return Identity(**value)
    except TypeError as error:
        raise ValueError(f"this is not the identity of a meter: {error}") from None


def settings_to_json(settings: MeterSettings) -> dict[str, object]:
    """Return settings as JSON values; a range of null is auto-range.

    Only meters that are sampled have the key `sampling`. Only runs with chosen quantities have the
    key `quantities`, and only those that expect power to be given back the key `both_ways`.
    """
    value = {**asdict(settings), "mode": settings.mode.value}
    if settings.sampling is None:
        del value["sampling"]
    value["quantities"] = list(settings.quantities)
    if not settings.quantities:
        del value["quantities"]
    if not settings.both_ways:
        del value["both_ways"]
    return value


def settings_from_json(value: Mapping[str, Any]) -> MeterSettings:
    """Return the settings that `settings_to_json` wrote."""
    try:
        sampled = value.get("sampling")
        sampling = None if sampled is None else Sampling(**sampled)
        quantities = tuple(value.get("quantities", ()))
        mode = InputMode(value["mode"])
        return MeterSettings(
            **{**value, "mode": mode, "sampling": sampling, "quantities": quantities}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these are not the settings of a meter: {error}") from None


def flags_to_json(flags: frozenset[MeterFlag]) -> list[str]:
    """Return flags as a sorted list of their names."""
    return sorted(flag.value for flag in flags)


def flags_from_json(names: list[str]) -> frozenset[MeterFlag]:
    """Return the flags that `flags_to_json` wrote."""
    return frozenset(MeterFlag(name) for name in names)


class ElementJson(TypedDict):
    """The values of one element."""

    element: int
    power_w: float | None
    energy_wh: float | None


class ReadingJson(TypedDict):
    """A reading as JSON; only one that has them has elements and chosen quantities."""

    monotonic_s: float
    utc: str
    voltage_v: float | None
    current_a: float | None
    power_w: float | None
    energy_wh: float | None
    integration_s: float | None
    state: str
    absent: dict[str, str]
    flags: list[str]
    voltage_range_v: float | None
    current_range_a: float | None
    power_factor: float | None
    frequency_hz: float | None
    voltage_peak_v: float | None
    current_peak_a: float | None
    elements: NotRequired[list[ElementJson]]
    quantities: NotRequired[dict[str, float | None]]


def reading_to_json(reading: Reading) -> ReadingJson:
    """Return a reading as JSON values; a missing number is null."""
    value: ReadingJson = {
        "monotonic_s": reading.monotonic_s,
        "utc": reading.utc.isoformat(),
        "voltage_v": reading.voltage_v,
        "current_a": reading.current_a,
        "power_w": reading.power_w,
        "energy_wh": reading.energy_wh,
        "integration_s": reading.integration_s,
        "state": reading.state.value,
        "absent": dict(reading.absent),
        "flags": flags_to_json(reading.flags),
        "voltage_range_v": reading.voltage_range_v,
        "current_range_a": reading.current_range_a,
        "power_factor": reading.power_factor,
        "frequency_hz": reading.frequency_hz,
        "voltage_peak_v": reading.voltage_peak_v,
        "current_peak_a": reading.current_peak_a,
    }
    if reading.elements:
        value["elements"] = elements_to_json(reading.elements)
    if reading.quantities:
        value["quantities"] = dict(reading.quantities)
    return value


def elements_to_json(elements: tuple[ElementValues, ...]) -> list[ElementJson]:
    """Return the values of single elements as JSON values."""
    return [
        {"element": values.element, "power_w": values.power_w, "energy_wh": values.energy_wh}
        for values in elements
    ]


def elements_from_json(value: list[dict[str, Any]]) -> tuple[ElementValues, ...]:
    """Return the values that `elements_to_json` wrote."""
    try:
        return tuple(ElementValues(**element) for element in value)
    except TypeError as error:
        raise ValueError(f"these are not the elements of a reading: {error}") from None


def reading_from_json(value: Mapping[str, Any]) -> Reading:
    """Return the reading that `reading_to_json` wrote.

    It may lack power factor, frequency, peaks and elements.
    """
    try:
        return Reading(
            **{
                **value,
                "utc": datetime.fromisoformat(value["utc"]),
                "state": IntegrationState(value["state"]),
                "absent": dict(value["absent"]),
                "flags": flags_from_json(value["flags"]),
                "elements": elements_from_json(value.get("elements", [])),
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is not a reading of a meter: {error}") from None
