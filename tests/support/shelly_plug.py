# SPDX-License-Identifier: Apache-2.0
"""An emulated Shelly on a real HTTP server: the first generation's REST, or the later RPC."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from power.testing import http_device

MAC = "A8032ABE54DC"


class ShellyPlug:
    """What an emulated plug shows; a test changes it while it runs.

    `fault` is the HTTP status of all answers, 0 for good ones, or a body that is sent in place of
    each answer. `held` holds answers back until it is set.
    """

    def __init__(self, generation: int = 2) -> None:
        self.generation = generation
        self.power_w: Any = 5.0
        self.total_wh = 1000.0
        self.fault: int | str = 0
        self.mac = MAC
        # What measures in place of a switch, as its methods answer.
        self.components: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.held = threading.Event()
        self.held.set()

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and body for a path."""
        self.asked.append(path)
        self.held.wait(180)
        if isinstance(self.fault, str):
            return 200, self.fault
        if self.fault:
            return self.fault, "no"
        parts = urlsplit(path)
        found = self._first(parts.path) if self.generation == 1 else self._later(parts)
        return (404, "Not Found") if found is None else (200, json.dumps(found))

    def _first(self, path: str) -> dict[str, Any] | None:
        minutes = {"power": self.power_w, "is_valid": True, "total": round(self.total_wh * 60)}
        return {
            "/shelly": {"type": "SHPLG-S", "mac": self.mac, "auth": False, "fw": "v1.14.0"},
            "/status": {"meters": [minutes], "uptime": 1},
            "/meter/0": {**minutes, "timestamp": 0, "counters": [0.0, 0.0, 0.0]},
        }.get(path)

    def _later(self, parts: Any) -> dict[str, Any] | None:
        switch = {
            "id": 0,
            "output": True,
            "apower": self.power_w,
            "voltage": 230.0,
            "current": 0.05,
            "aenergy": {"total": self.total_wh, "by_minute": [0.0], "minute_ts": 0},
        }
        if self.components and parts.path == "/rpc/Shelly.GetStatus":
            return {f"{name.lower()}:0": status for name, status in self.components.items()}
        if self.components and parts.path != "/shelly":
            method = parts.path.removeprefix("/rpc/").removesuffix(".GetStatus")
            return self.components.get(method) if parse_qs(parts.query) == {"id": ["0"]} else None
        if parts.path == "/rpc/Switch.GetStatus":
            return switch if parse_qs(parts.query) == {"id": ["0"]} else None
        about = {"id": "shellyplusplugs-1", "mac": self.mac, "model": "SNPL-00112EU", "gen": 2}
        return {
            "/shelly": {**about, "fw_id": "x", "ver": "1.4.4", "app": "PlusPlugS"},
            "/rpc/Shelly.GetStatus": {"switch:0": switch, "sys": {"mac": self.mac}},
        }.get(parts.path)


@contextmanager
def serving(plug: ShellyPlug) -> Iterator[str]:
    """Serve a plug on loopback, and yield its HOST:PORT."""
    with http_device.serving(plug.answer) as at:
        try:
            yield at
        finally:
            plug.held.set()
