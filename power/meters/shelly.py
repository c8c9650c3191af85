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
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from power.errors import MeterMismatch, MeterRefused, MeterReplyError, MeterUnreachable
from power.kind_resource import Resource
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, sampled
from power.meters.source import Sample, Tools, as_stated

_OPTIONS = ("accuracy", "channel", "interval")
# The components of later generations that measure, with the field of their power.
_COMPONENTS = {"switch": "apower", "pm1": "apower", "em1": "act_power"}
_METHODS = {"switch": "Switch", "pm1": "PM1", "em1": "EM1"}
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
        self._host, self._port = _address(resource)
        self._channel = int(resource.number("channel", 0, least=0, most=9))
        self.poll_s = resource.number("interval", 1.0, least=0.1, most=5.0)
        about = self._get("/shelly")
        if "mac" not in about:
            raise MeterMismatch(f"{self._host} answers, but is no Shelly")
        self._later = about.get("gen", 1) != 1
        self.identity = _identity(about, later=self._later)
        self._path, self._power, self._counter_wh = (
            self._component() if self._later else self._first_generation()
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
        if status.get("is_valid") is False or "power_meter" in " ".join(status.get("errors", [])):
            raise MeterReplyError("the plug says that its own power meter does not work")
        energy = status.get("aenergy", status)
        return [
            Sample(
                at_s,
                _number(status, self._power),
                voltage_v=_number(status, "voltage") if "voltage" in status else None,
                current_a=_number(status, "current") if "current" in status else None,
                counter_wh=(
                    _number(energy, "total") * self._counter_wh if "total" in energy else None
                ),
            )
        ]

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""

    def _first_generation(self) -> tuple[str, str, float]:
        """Return path, name of the power, and Wh of one step of the counter."""
        status = self._get("/status")
        for name, counter_wh in (("emeters", 1.0), ("meters", 1 / 60)):
            if len(status.get(name, [])) > self._channel:
                return f"/{name[:-1]}/{self._channel}", "power", counter_wh
        raise self._cannot_measure()

    def _component(self) -> tuple[str, str, float]:
        status = self._get("/rpc/Shelly.GetStatus")
        for name, power in _COMPONENTS.items():
            if power in status.get(f"{name}:{self._channel}", {}):
                return f"/rpc/{_METHODS[name]}.GetStatus?id={self._channel}", power, 1.0
        raise self._cannot_measure()

    def _cannot_measure(self) -> MeterMismatch:
        return MeterMismatch(
            f"the {self.identity.model} at {self._host} measures no power on channel "
            f"{self._channel}; choose another one with ?channel=N, or another device"
        )

    def _get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path."""
        connection = HTTPConnection(self._host, self._port, timeout=self._tools.timeout_s)
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


KIND = MeterKind(
    summary="a Shelly plug or meter in this network, read over HTTP once a second",
    syntax="shelly:HOST[:PORT][?channel=N&interval=S&accuracy=PERCENT]",
    open=sampled(ShellyPlug, _check),
)
