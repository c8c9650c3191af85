# SPDX-License-Identifier: Apache-2.0
"""Shelly plugs and meters over HTTP: the first generation's REST, and the RPC of all later ones.

The replies are those of Shelly's API reference: "Gen1 Device API" (`/shelly`, `/status`,
`/meter/0`, `/emeter/0`) and "Gen2+ Device API" (`Shelly.GetStatus`, `Switch.GetStatus`,
`PM1.GetStatus`, `EM1.GetStatus`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from power.errors import MeterMismatch, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, sampled
from power.resource import Resource
from power.sampled.source import Sample, Tools, as_stated

_OPTIONS = ("accuracy", "channel", "interval")


@dataclass(frozen=True)
class _Component:
    """How a component of later generations tells its power, and where its counter is.

    `counter` is the component with the counter and the counter's field; the other components have
    it among their own values.
    """

    method: str
    power: str
    voltage: str = "voltage"
    current: str = "current"
    counter: tuple[str, str] | None = None


# By the name in Shelly.GetStatus. `em` is the sum of three phases, which has no one voltage.
_COMPONENTS = {
    "switch": _Component("Switch", "apower"),
    "pm1": _Component("PM1", "apower"),
    "cover": _Component("Cover", "apower"),
    "light": _Component("Light", "apower"),
    "em1": _Component("EM1", "act_power", counter=("EM1Data", "total_act_energy")),
    "em": _Component("EM", "total_act_power", "", "total_current", ("EMData", "total_act")),
}
_FIRST = _Component("", "power")
_MOST_BYTES = 64_000
# Plugs round to 0.1 W (later generations) or 0.01 W (the first).
_RESOLUTION_W = 0.1
# The counters of both generations go on about once a minute.
_COUNTER_LAG_S = 60.0
_MISSED = 3


class ShellyPlug:
    """One channel of a Shelly that measures power, polled at `poll_s`; it switches nothing.

    Raises `MeterMismatch` for a device that is no Shelly, or one that cannot measure.
    """

    counter_lag_s = _COUNTER_LAG_S

    def __init__(self, resource: Resource, tools: Tools) -> None:
        self._tools = tools
        self.timeout_s = tools.timeout_s
        self._host, self._port = _address(resource)
        self._channel = int(resource.number("channel", 0, least=0, most=9))
        self.poll_s = resource.number("interval", 1.0, least=0.1, most=5.0)
        about = self._get("/shelly")
        if "mac" not in about:
            raise MeterMismatch(f"{self._host} answers, but is no Shelly")
        self._later = about.get("gen", 1) != 1
        self.identity = _identity(about, later=self._later)
        self._path, self._component, self._counter_wh = (
            self._later_generation() if self._later else self._first_generation()
        )
        self.sampling = as_stated(
            Sampling(
                kind="shelly",
                of_reading=None,
                offset_w=_RESOLUTION_W,
                interval_s=self.poll_s,
                longest_gap_s=_MISSED * self.poll_s,
            ),
            resource,
        )

    def read(self) -> Sequence[Sample]:
        """Return one sample, of the middle of question and reply."""
        asked_s = self._tools.clock()
        status = self._get(self._path)
        at_s = (asked_s + self._tools.clock()) / 2
        # A list of faults is left out, empty or null where there are none.
        if status.get("is_valid") is False or "power_meter" in str(status.get("errors")):
            raise MeterReplyError("the plug says that its own power meter does not work")
        part = self._component
        if part.power in status and status[part.power] is None:
            return []  # a device that has no value for a moment is not lost
        return [
            Sample(
                at_s,
                _number(status, part.power),
                voltage_v=_optional(status, part.voltage),
                current_a=_optional(status, part.current),
                counter_wh=self._counted_wh(status),
            )
        ]

    def _counted_wh(self, status: dict[str, Any]) -> float | None:
        """Return the device's own counter of energy; some meters have it in another component."""
        energy, name = status.get("aenergy") or status, "total"
        if self._component.counter is not None:
            method, name = self._component.counter
            energy = self._get(f"/rpc/{method}.GetStatus?id={self._channel}")
        counted = _optional(energy, name)
        return None if counted is None else counted * self._counter_wh

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""

    def _first_generation(self) -> tuple[str, _Component, float]:
        """Return path, names of the values, and Wh of one step of the counter."""
        status = self._get("/status")
        for name, counter_wh in (("emeters", 1.0), ("meters", 1 / 60)):
            if len(status.get(name, [])) > self._channel:
                return f"/{name[:-1]}/{self._channel}", _FIRST, counter_wh
        raise self._cannot_measure()

    def _later_generation(self) -> tuple[str, _Component, float]:
        status = self._get("/rpc/Shelly.GetStatus")
        for name, part in _COMPONENTS.items():
            found = status.get(f"{name}:{self._channel}")
            if isinstance(found, dict) and part.power in found:
                if part.counter and f"{part.counter[0].lower()}:{self._channel}" not in status:
                    part = replace(part, counter=None)
                return f"/rpc/{part.method}.GetStatus?id={self._channel}", part, 1.0
        raise self._cannot_measure()

    def _cannot_measure(self) -> MeterMismatch:
        return MeterMismatch(
            f"the {self.identity.model} at {self._host} measures no power on channel "
            f"{self._channel}; choose another one with ?channel=N, or another device"
        )

    def _get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path."""
        connection = HTTPConnection(self._host, self._port, timeout=self.timeout_s)
        self._tools.note("sent", f"GET {path}")
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            response = connection.getresponse()
            body = response.read(_MOST_BYTES)
        except (OSError, HTTPException) as error:
            text = f"the Shelly at {self._host} does not answer ({error}); is it in this network?"
            raise MeterUnreachable(text) from error
        finally:
            connection.close()
        self._tools.note("received", body.decode("utf-8", "replace"))
        if response.status == 401:
            raise MeterRefused(
                f"the Shelly at {self._host} wants a password; switch its authentication off for "
                "the measurement"
            )
        if response.status != 200:
            raise MeterMismatch(f"{self._host} answers {path} with {response.status}: no Shelly?")
        return _object(body, self._host)


def _address(resource: Resource) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{resource.address}")
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host, port = None, 0
    if not host or parts.path or parts.username:
        raise ValueError(f"shelly:{resource.address} names no plug; write shelly:HOST[:PORT]")
    return host, port


def _check(resource: Resource) -> None:
    resource.known_options(_OPTIONS)
    _address(resource)
    resource.number("channel", 0, least=0, most=9)
    resource.number("interval", 1.0, least=0.1, most=5.0)
    resource.number("accuracy", 0.0, least=0.0, most=100.0)


def _object(body: bytes, host: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        raise MeterReplyError(f"{host} sent no JSON: {body[:60]!r}") from None
    if not isinstance(value, dict):
        raise MeterReplyError(f"{host} sent no JSON object: {body[:60]!r}")
    return value


def _identity(about: dict[str, Any], *, later: bool) -> Identity:
    model, firmware = ("model", "ver") if later else ("type", "fw")
    return Identity(
        "Shelly", *(str(about.get(name, "unknown")) for name in (model, "mac", firmware))
    )


def _number(values: Any, name: str) -> float:
    value = values.get(name) if isinstance(values, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise MeterReplyError(f"the plug sent {name} = {value!r}, which is no number")
    return float(value)


def _optional(values: Any, name: str) -> float | None:
    """Return a value that a device may leave out, or have as null."""
    known = isinstance(values, dict) and values.get(name) is not None
    return _number(values, name) if known else None


KIND = MeterKind(
    summary="a Shelly plug or meter in this network, read over HTTP once a second",
    syntax="shelly:HOST[:PORT][?channel=N&interval=S&accuracy=PERCENT]",
    open=sampled(ShellyPlug, _check),
)
