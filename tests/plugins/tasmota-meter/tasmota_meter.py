# SPDX-License-Identifier: Apache-2.0
"""Plugs with the firmware Tasmota over HTTP: what `Status 8` shows, and the counter beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from power.errors import MeterMismatch, MeterReplyError
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, sampled
from power.resource import Resource
from power.sampled.http_json import HttpDevice, number, optional_number
from power.sampled.source import Sample, Tools

_WH_A_KWH = 1000.0


class TasmotaPlug:
    """A plug that is polled at `poll_s`; it switches nothing.

    Raises `MeterMismatch` for a plug that measures nothing, or several channels at once.
    """

    # The counter is saved and shown again after ten seconds at most.
    counter_lag_s = 10.0

    def __init__(self, resource: Resource, tools: Tools) -> None:
        self.poll_s = _options(resource)
        self._device = HttpDevice(resource, tools, "Tasmota plug")
        firmware = _object(self._ask("Status 2"), "StatusFWR")
        network = _object(self._ask("Status 5"), "StatusNET")
        self.identity = Identity(
            "Tasmota",
            str(firmware.get("Hardware", "unknown")),
            str(network.get("Mac", "unknown")),
            str(firmware.get("Version", "unknown")),
        )
        # How many decimals it shows is a setting of the plug: whole watts unless it is set.
        self.counter_step_wh = _WH_A_KWH * _step(self._ask("EnergyRes"), "EnergyRes")
        self.sampling = Sampling(
            kind="tasmota",
            of_reading=None,
            offset_w=_step(self._ask("WattRes"), "WattRes"),
            interval_s=self.poll_s,
            renewal_s=1.0,
            longest_gap_s=3 * self.poll_s,
            most_w=3680.0,
            volt_amperes="bound",
        )
        self.read()

    def read(self) -> Sequence[Sample]:
        """Return one sample, of the middle of question and reply."""
        shown, at_s = self._device.timed(_path("Status 8"))
        energy = _energy(shown)
        total_kwh = optional_number(energy, "Total")
        return [
            Sample(
                at_s,
                number(energy, "Power"),
                voltage_v=optional_number(energy, "Voltage"),
                current_a=optional_number(energy, "Current"),
                counter_wh=None if total_kwh is None else total_kwh * _WH_A_KWH,
            )
        ]

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""

    def _ask(self, command: str) -> dict[str, Any]:
        answer = self._device.get(_path(command))
        if "WARNING" in answer:  # It answers so with status 200.
            raise self._device.wants_password()
        return answer


def _path(command: str) -> str:
    return f"/cm?cmnd={command.replace(' ', '%20')}"


def _energy(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what the plug shows of its one channel."""
    energy = _object(shown, "StatusSNS").get("ENERGY")
    if not isinstance(energy, dict):
        raise MeterMismatch("this Tasmota plug measures no power: its Status 8 has no ENERGY")
    if isinstance(energy.get("Power"), list):
        raise MeterMismatch("this Tasmota plug has several channels, and their sum may be none's")
    return energy


def _object(answer: dict[str, Any], name: str) -> dict[str, Any]:
    found = answer.get(name)
    if not isinstance(found, dict):
        raise MeterReplyError(f"the plug's answer has no {name}: is it a Tasmota plug?")
    return found


def _step(answer: dict[str, Any], name: str) -> float:
    """Return the step of a value that is shown with so many decimals."""
    decimals = number(answer, name)
    if decimals not in range(6):
        raise MeterReplyError(f"{name} is {decimals}, which is no number of decimals")
    return float(10**-decimals)


def _options(resource: Resource) -> float:
    resource.known_options(["interval"])
    resource.host_port(80)
    return resource.number("interval", 1.0, least=0.1, most=10.0)


KIND = MeterKind(
    summary="a plug with the firmware Tasmota, in this network",
    syntax="tasmota:HOST[:PORT][?interval=S&accuracy=PERCENT]",
    open=sampled(TasmotaPlug, _options),
)
