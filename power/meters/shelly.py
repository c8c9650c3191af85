# SPDX-License-Identifier: Apache-2.0
"""Shelly plugs and meters over HTTP: the first generation's REST, and the RPC of all later ones.

The replies are those of Shelly's API reference: "Gen1 Device API" (`/shelly`, `/status`,
`/meter/0`, `/emeter/0`) and "Gen2+ Device API" (`Shelly.GetStatus`, `Switch.GetStatus`,
`PM1.GetStatus`, `EM1.GetStatus`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from power.errors import MeterMismatch, MeterReplyError
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, sampled
from power.meters.shelly_words import PHASES, measures, rated_w, refuse_unset, told_by
from power.resource import Resource
from power.sampled.http_json import HttpDevice, number, optional_number, text
from power.sampled.source import Sample, Tools


@dataclass(frozen=True)
class _Component:
    """How a component of later generations tells its power, and where its counter is.

    `counter` is the component with the counter and the counter's field; the other components have
    it among their own values. `phases` are the values that a sum is made of.
    """

    method: str
    power: str
    voltage: str = "voltage"
    current: str = "current"
    counter: tuple[str, str] | None = None
    phases: tuple[str, ...] = ()


# By the name in Shelly.GetStatus. `em` is the sum of three phases, which has no one voltage.
_COMPONENTS = {
    "switch": _Component("Switch", "apower"),
    "pm1": _Component("PM1", "apower"),
    "cover": _Component("Cover", "apower"),
    "light": _Component("Light", "apower"),
    "em1": _Component("EM1", "act_power", counter=("EM1Data", "total_act_energy")),
    "em": _Component(
        "EM",
        "total_act_power",
        "",
        "total_current",
        ("EMData", "total_act"),
        ("a_act_power", "b_act_power", "c_act_power"),
    ),
}
_FIRST = _Component("", "power")
# Plugs round to 0.1 W (later generations) or 0.01 W (the first).
_RESOLUTION_W = 0.1
# The power is an average of about a second, and stays until the next one.
_RENEWAL_S = 1.0
_MISSED = 3
_WH_A_MINUTE = 1 / 60


class ShellyPlug:
    """One channel of a Shelly that measures power, polled at `poll_s`; it switches nothing.

    Of a meter with three phases it is their sum, unless the resource string names one of them.
    Raises `MeterMismatch` for a device that is no Shelly, or one that cannot measure.
    """

    # The counters of both generations go on about once a minute. The coarsest, of the first
    # generation's three-phase meters, has steps of 0.1 Wh.
    counter_lag_s = 60.0
    counter_step_wh = 0.1

    def __init__(self, resource: Resource, tools: Tools) -> None:
        self._device = HttpDevice(resource, tools, "Shelly")
        self._channel, self.poll_s = _options(resource)
        about = self._device.get("/shelly")
        if "mac" not in about:
            raise MeterMismatch(f"{self._device.host} answers, but is no Shelly")
        # Firmware 2.0 answers every later question without a password by 429, as if it were busy.
        if about.get("auth_en") is True or about.get("auth") is True:
            raise self._device.wants_password()
        self.identity = _identity(about, later=about.get("gen", 1) != 1)
        self._sums = self._lost = 0
        self._path, self._component, self._counter_wh = (
            self._first_generation(about, phase="channel" in resource.options)
            if about.get("gen", 1) == 1
            else self._later_generation()
        )
        self.sampling = Sampling(
            kind="shelly",
            of_reading=None,
            offset_w=_RESOLUTION_W,
            interval_s=self.poll_s,
            renewal_s=_RENEWAL_S,
            longest_gap_s=_MISSED * self.poll_s,
            most_w=rated_w(
                self.identity.model,
                clamps=bool(self._sums)
                or self._component.method in ("EM", "EM1")
                or "/emeter" in self._path,
                phases=self._sums or len(self._component.phases) or 1,
            ),
        )

    def read(self) -> Sequence[Sample]:
        """Return one sample, of the middle of question and reply."""
        status, at_s = self._device.timed(self._path)
        if self._sums:
            status = _summed(status.get("emeters"), self._sums)
        said = told_by(status)
        part = self._component
        if any(name in status and status[name] is None for name in (part.power, *part.phases)):
            self._lost += 1  # a device that has no value for a moment is not lost
            return []
        lost, self._lost = self._lost, 0
        return [
            Sample(
                at_s,
                number(status, part.power),
                voltage_v=optional_number(status, part.voltage),
                current_a=optional_number(status, part.current),
                counter_wh=self._counted_wh(status),
                over_range=said.over_range,
                fault=said.fault,
                lost=lost,
            )
        ]

    def _counted_wh(self, status: dict[str, object]) -> float | None:
        """Return the device's own counter of energy; some meters have it in another component."""
        energy, name = status.get("aenergy") or status, "total"
        if self._component.counter is not None:
            method, name = self._component.counter
            energy = self._device.get(f"/rpc/{method}.GetStatus?id={self._channel}")
        counted = optional_number(energy, name)
        return None if counted is None else counted * self._counter_wh

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""

    def _first_generation(
        self, about: dict[str, object], *, phase: bool
    ) -> tuple[str, _Component, float]:
        """Return path, names of the values, and Wh of one step of the counter."""
        status = self._device.get("/status")
        emeters, meters = (_listed(status.get(name)) for name in ("emeters", "meters"))
        if len(emeters) == PHASES and not phase:
            self._sums = PHASES
            _summed(emeters, PHASES)
            return "/status", _FIRST, 1.0
        if len(emeters) > self._channel:
            return f"/emeter/{self._channel}", _FIRST, 1.0
        if len(meters) > self._channel and measures(about, meters[self._channel]):
            return f"/meter/{self._channel}", _FIRST, _WH_A_MINUTE
        raise self._cannot_measure()

    def _later_generation(self) -> tuple[str, _Component, float]:
        status = self._device.get("/rpc/Shelly.GetStatus")
        for name, part in _COMPONENTS.items():
            part_status = status.get(f"{name}:{self._channel}")
            if isinstance(part_status, dict) and part.power in part_status:
                refuse_unset(part_status)
                if part.counter and f"{part.counter[0].lower()}:{self._channel}" not in status:
                    part = replace(part, counter=None)
                return f"/rpc/{part.method}.GetStatus?id={self._channel}", part, 1.0
        raise self._cannot_measure()

    def _cannot_measure(self) -> MeterMismatch:
        return MeterMismatch(
            f"the {self.identity.model} at {self._device.host} measures no power on channel "
            f"{self._channel}; choose another one with ?channel=N, or another device"
        )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _summed(phases: object, count: int) -> dict[str, object]:
    """Return the sum of the phases of a first-generation meter, as the status of one."""
    found = _listed(phases)
    if len(found) != count or not all(isinstance(phase, dict) for phase in found):
        raise MeterReplyError(f"the meter shows {len(found)} phases in place of {count}")
    total: dict[str, object] = {
        "is_valid": all(phase.get("is_valid") is not False for phase in found)
    }
    for name in ("power", "current", "total"):
        if all(phase.get(name) is not None for phase in found):
            total[name] = sum(number(phase, name) for phase in found)
        else:
            total[name] = None
    return total


def _options(resource: Resource) -> tuple[int, float]:
    """Return the channel and the time between two questions; ValueError says what is wrong."""
    resource.known_options(("channel", "interval"))
    resource.host_port(80)
    channel = resource.number("channel", 0, least=0, most=9)
    return int(channel), resource.number("interval", 1.0, least=0.1, most=5.0)


def _identity(about: dict[str, object], *, later: bool) -> Identity:
    model, firmware = ("model", "ver") if later else ("type", "fw")
    return Identity("Shelly", *(text(about, name) for name in (model, "mac", firmware)))


KIND = MeterKind(
    summary="a Shelly plug or meter in this network, read over HTTP once a second",
    syntax="shelly:HOST[:PORT][?channel=N&interval=S&accuracy=PERCENT]",
    open=sampled(ShellyPlug, _options),
)
