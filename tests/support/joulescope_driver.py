# SPDX-License-Identifier: Apache-2.0
"""A scripted stand-in for `pyjoulescope_driver.Driver`, whose devices a test names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ScriptedDriver:
    """What `pyjoulescope_driver.Driver` does, with devices that a test names."""

    def __init__(self, *paths: str, fault: str = "") -> None:
        self.paths = list(paths)
        self.fault = fault
        self.said: list[tuple[Any, ...]] = []
        self.listeners: dict[str, Callable[[str, Any], None]] = {}

    def device_paths(self) -> list[str]:
        """Return the devices."""
        return self.paths

    def open(self, path: str) -> None:
        """Note it, or fail as the library does."""
        if self.fault:
            raise RuntimeError(self.fault)
        self.said.append(("open", path))

    def publish(self, topic: str, value: Any) -> None:
        """Note it."""
        self.said.append((topic, value))

    def subscribe(self, topic: str, flags: str, listener: Callable[[str, Any], None]) -> None:
        """Keep the listener."""
        assert flags == "pub"
        self.listeners[topic] = listener

    def unsubscribe(self, topic: str, listener: Callable[[str, Any], None]) -> None:
        """Forget the listener, which must be the same object."""
        assert self.listeners.pop(topic) is listener

    def close(self, path: str) -> None:
        """Note it."""
        self.said.append(("close", path))

    def finalize(self) -> None:
        """Note it."""
        self.said.append(("finalize",))

    def send(self, begin_s: float, power_w: Any, joules: float, seconds: float = 0.1) -> None:
        """Send statistics, shaped as the library's."""
        (topic,) = self.listeners
        current_a = power_w / 5 if isinstance(power_w, float) else 0.0
        means = {"current": current_a, "voltage": 5.0, "power": power_w}
        self.listeners[topic](
            topic,
            {
                "time": {"range": {"value": [begin_s, begin_s + seconds], "units": "s"}},
                "signals": {name: {"avg": {"value": value}} for name, value in means.items()},
                "accumulators": {"energy": {"value": joules, "units": "J"}},
            },
        )
