# SPDX-License-Identifier: Apache-2.0
"""The action of each fault on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from power.emulator.faults import BadFault, Fault, ScheduledFault
from power.emulator.formats import NO_DATA, OVER_RANGE
from power.emulator.instrument import Instrument
from power.emulator.load import PEAK_LIMIT
from power.emulator.ranging import OVR1, POA1

_ELECTRICAL = ("U", "I", "P")
_FOR_EVER = 1 << 40
_ALL = (*_ELECTRICAL, "WH", "TIME")


def act(meter: Instrument, entry: ScheduledFault, at_s: float) -> None:
    """Apply the fault of a schedule's entry, at its time."""
    apply(meter, entry.fault, at_s)


def apply(meter: Instrument, fault: Fault, at_s: float) -> None:
    """Apply a fault; a fault with a count is only armed."""
    action = _ACTIONS.get(fault.name)
    if action is not None:
        action(meter, fault, at_s)
    else:
        meter.faults.arm(fault)


def _on(fault: Fault) -> bool:
    return fault.number("on") != 0


def _mask(meter: Instrument, functions: Sequence[str], value: float, updates: int) -> None:
    measurement = meter.measurement
    measurement.overlay.mask(functions, value, measurement.updates + updates)


def _no_data(meter: Instrument, fault: Fault, at_s: float) -> None:
    wanted = fault.parameters["fields"].upper()
    fields = _ALL if wanted == "ALL" else tuple(wanted.split("/"))
    _mask(meter, fields, NO_DATA, int(fault.number("updates")))


def _over(meter: Instrument, fault: Fault, at_s: float) -> None:
    updates = int(fault.number("updates"))
    _mask(meter, _ELECTRICAL, OVER_RANGE, updates)
    meter.measurement.force_bits(1 << OVR1 | 1 << POA1, updates)


def _negative(meter: Instrument, fault: Fault, at_s: float) -> None:
    _mask(meter, ("P",), fault.number("watts"), int(fault.number("updates")))


def _talk(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.communication.header = fault.number("header") != 0
    meter.communication.verbose = fault.number("verbose") != 0


def _panel(meter: Instrument, fault: Fault, at_s: float) -> None:
    key = fault.parameters["key"].upper()
    if key not in ("START", "STOP", "RESET"):
        raise BadFault(f"there is no key {key!r}; the keys are START, STOP, RESET")
    meter.press(key, at_s)


def _timeup(meter: Instrument, fault: Fault, at_s: float) -> None:
    if meter.measurement.integrator.running:
        meter.measurement.stop(at_s, "TIMEUP")


def _once(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.faults.arm(Fault(fault.name, {**fault.parameters, "count": "1"}))


def _items(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.settings.number_of_items = int(fault.number("number"))


def _hold(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.settings.numeric_hold = _on(fault)
    meter.hold_values(_on(fault))


def _leftover(meter: Instrument, fault: Fault, at_s: float) -> None:
    name = fault.parameters["name"]
    if name not in ("averaging", "max_hold", "scaling", "hold"):
        raise BadFault(f"{name!r} is not a leftover; choose averaging, max_hold, scaling or hold")
    setattr(meter.settings, name, True)
    if name == "hold":
        meter.hold_values(True)


def _force_range(meter: Instrument, fault: Fault, at_s: float) -> None:
    """Act like the self-protection of a range up to 200 mA (IM WT310E-01EN, page 2-7)."""
    half = 1.0 if meter.settings.crest_factor == "3" else 0.5
    if meter.settings.current_range_a <= 0.2 * half:
        meter.measurement.set_range("CURRent", half)
        meter.settings.current_auto = True


def _hyphen(meter: Instrument, fault: Fault, at_s: float) -> None:
    place = fault.parameters["place"]
    if place not in ("before", "after"):
        raise BadFault(f"place={place} of hyphen must be before or after")
    meter.measurement.overlay.hyphen = place


def _errors(meter: Instrument, fault: Fault, at_s: float) -> None:
    for _ in range(int(fault.number("count"))):
        meter.report(113)


def _hang(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.faults.hanging_until_s = at_s + fault.number("seconds")


def _power(meter: Instrument, fault: Fault, at_s: float) -> None:
    """Cut the mains: a running integration ends in ERROR (page 6-16), settings stay (App-5)."""
    if meter.measurement.integrator.running:
        meter.measurement.stop(at_s, "ERROR")
    meter.errors.clear()
    meter.faults.unplug(fault.number("seconds"))


def _numerals(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.measurement.overlay.numerals = _on(fault)


def _binary(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.settings.float_format = _on(fault)


def _clip(meter: Instrument, fault: Fault, at_s: float) -> None:
    """Cut crests as a real meter did: half the power at 128 % of range, steady, without a flag."""
    measurement = meter.measurement
    measurement.inputs.clipped = fault.number("share")
    size = meter.settings.current_range_a
    _mask(meter, ("I",), fault.number("current") * size, _FOR_EVER)
    limit = PEAK_LIMIT[meter.settings.crest_factor] * size
    _mask(meter, ("IPPeak",), limit, _FOR_EVER)
    _mask(meter, ("IMPeak",), -limit, _FOR_EVER)


def _scaling(meter: Instrument, fault: Fault, at_s: float) -> None:
    """Scale voltage, power and energy by a factor from now on."""
    meter.settings.scaling = True
    meter.settings.ratios = {("VT", element): fault.number("factor") for element in (1, 2, 3)}


def _mode200(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.communication.command = "WT200"


def _stale(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.faults.stale = True


def _unplug(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.faults.unplug(fault.number("seconds"))


def _load(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.measurement.inputs.change_load(fault.number("watts"), at_s)


def _off(meter: Instrument, fault: Fault, at_s: float) -> None:
    meter.faults.end_all()
    meter.measurement.overlay.clear()
    meter.measurement.inputs.clipped = 1.0
    meter.settings.hold = meter.settings.numeric_hold = False
    meter.hold_values(False)


_ACTIONS: dict[str, Callable[[Instrument, Fault, float], None]] = {
    "stale": _stale,
    "items": _items,
    "no_data": _no_data,
    "over": _over,
    "numerals": _numerals,
    "negative": _negative,
    "talk": _talk,
    "binary": _binary,
    "deaf_start": _once,
    "race": _once,
    "panel": _panel,
    "timeup": _timeup,
    "clip": _clip,
    "scaling": _scaling,
    "force_range": _force_range,
    "hyphen": _hyphen,
    "hold": _hold,
    "leftover": _leftover,
    "mode200": _mode200,
    "errors": _errors,
    "unplug": _unplug,
    "hang": _hang,
    "power": _power,
    "load": _load,
    "off": _off,
}
