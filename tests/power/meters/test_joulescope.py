# SPDX-License-Identifier: Apache-2.0
"""The driver of a Joulescope on a scripted driver object, and on the real library."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

from power.errors import MeterError, MeterMismatch, MeterReplyError, MeterUnreachable
from power.meters.joulescope import KIND, Joulescope
from power.resource import Resource
from power.sampled.source import Tools


class Scripted:
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

    def send(self, begin_s: float, power_w: float, joules: float, seconds: float = 0.1) -> None:
        """Send statistics, shaped as the library's."""
        (topic,) = self.listeners
        means = {"current": power_w / 5, "voltage": 5.0, "power": power_w}
        self.listeners[topic](
            topic,
            {
                "time": {"range": {"value": [begin_s, begin_s + seconds], "units": "s"}},
                "signals": {name: {"avg": {"value": value}} for name, value in means.items()},
                "accumulators": {"energy": {"value": joules, "units": "J"}},
            },
        )


def opened(driver: Scripted, serial: str = "", now_s: float = 50.0) -> Joulescope:
    """Return the source over a scripted driver."""
    tools = Tools(clock=lambda: now_s)
    return Joulescope(Resource("joulescope", serial), tools, lambda: driver)


def test_the_conversation_with_a_js220() -> None:
    """A JS220 gets automatic ranges and ten means a second, and is closed properly."""
    driver = Scripted("u/js220/001234")
    source = opened(driver)
    assert source.identity.model == "JS220"
    assert source.identity.serial == "001234"
    source.close()
    path = "u/js220/001234"
    assert driver.said == [
        ("open", path),
        (f"{path}/s/i/range/mode", "auto"),
        (f"{path}/s/stats/scnt", 100_000),
        (f"{path}/s/stats/ctrl", 1),
        ("close", path),
        ("finalize",),
    ]
    assert driver.listeners == {}


def test_the_conversation_with_a_js110() -> None:
    """A JS110 makes its own means twice a second."""
    driver = Scripted("u/js110/000007")
    source = opened(driver)
    assert list(driver.listeners) == ["u/js110/000007/s/sstats/value"]
    assert source.sampling.longest_gap_s == 2.5


def test_each_mean_is_a_sample_on_our_clock() -> None:
    """Span, power, voltage, current and energy come over; the device's time is put on our clock."""
    driver = Scripted("u/js220/1")
    source = opened(driver)
    driver.send(7.0, 2.5, 100.0)
    driver.send(7.1, 3.0, 100.3)
    first, second = source.read()
    assert (first.power_w, first.voltage_v, first.current_a) == (2.5, 5.0, 0.5)
    assert first.at_s == pytest.approx(50.0)
    assert first.span_s == pytest.approx(0.1)
    # Both arrived at 50 s, so the second was the faster one, and tells the clocks apart.
    assert second.at_s == pytest.approx(50.0)
    assert second.counter_wh == pytest.approx(100.3 / 3600)


def test_a_value_that_is_no_number_is_an_error() -> None:
    """Neither NaN nor another shape of statistics becomes a power."""
    driver = Scripted("u/js220/1")
    source = opened(driver)
    driver.send(0.0, math.nan, 0.0)
    with pytest.raises(MeterReplyError, match="no number"):
        source.read()
    driver.listeners["u/js220/1/s/stats/value"]("topic", {"time": 1})
    with pytest.raises(MeterReplyError, match="no statistics"):
        source.read()


@pytest.mark.parametrize(
    ("paths", "serial", "error", "said"),
    [
        ((), "", MeterUnreachable, "no Joulescope is plugged in.*found: none"),
        (("u/js220/1",), "2", MeterUnreachable, "no Joulescope 2 is plugged in.*found: 1"),
        (("u/js220/1", "u/js110/2"), "", MeterMismatch, "several.*1, 2; name one"),
        (("u/other/1",), "", MeterUnreachable, "found: none"),
    ],
)
def test_which_device_is_meant_must_be_clear(
    paths: tuple[str, ...], serial: str, error: type[MeterError], said: str
) -> None:
    """No device, or several, is told with their serial numbers; the driver is released."""
    driver = Scripted(*paths)
    with pytest.raises(error, match=said):
        opened(driver, serial)
    assert driver.said == [("finalize",)]


def test_a_device_that_cannot_be_opened_is_lost() -> None:
    """The library's error becomes a lost meter, and the driver is released."""
    driver = Scripted("u/js220/1", fault="open timed out")
    with pytest.raises(MeterUnreachable, match="open timed out"):
        opened(driver)
    assert driver.said == [("finalize",)]


def test_a_silent_device_is_lost() -> None:
    """A device that was unplugged is told by its silence."""
    now = [0.0]
    driver = Scripted("u/js220/1")
    source = Joulescope(Resource("joulescope", ""), Tools(clock=lambda: now[0]), lambda: driver)
    now[0] = 3.1
    with pytest.raises(MeterUnreachable, match="sends nothing any more"):
        source.read()


def test_the_real_library_finds_no_device_here() -> None:
    """The real library opens and closes, and a missing device is a sentence."""
    with pytest.raises(MeterUnreachable, match="no Joulescope no-such-device is plugged in"):
        Joulescope(Resource("joulescope", "no-such-device"), Tools())


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library a sentence says what to install."""
    monkeypatch.setitem(sys.modules, "pyjoulescope_driver", None)
    meter = KIND.open(Resource("joulescope", ""), Tools())
    with pytest.raises(MeterUnreachable, match="pip install pyjoulescope_driver"):
        meter.identify()
