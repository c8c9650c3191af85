# SPDX-License-Identifier: Apache-2.0
"""The driver of a Joulescope on a scripted driver object, and on the real library."""

from __future__ import annotations

import math
import sys

import pytest

from power.errors import MeterError, MeterMismatch, MeterReplyError, MeterUnreachable
from power.meters.joulescope import KIND, Joulescope
from power.resource import Resource
from power.sampled.source import Tools
from tests.support.joulescope_driver import ScriptedDriver


def opened(driver: ScriptedDriver, serial: str = "", now_s: float = 50.0) -> Joulescope:
    """Return the source over a scripted driver."""
    tools = Tools(clock=lambda: now_s)
    return Joulescope(Resource("joulescope", serial), tools, lambda: driver)


def test_the_conversation_with_a_js220() -> None:
    """A JS220 gets automatic ranges and ten means a second, and is closed properly."""
    driver = ScriptedDriver("u/js220/001234")
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
    driver = ScriptedDriver("u/js110/000007")
    source = opened(driver)
    assert list(driver.listeners) == ["u/js110/000007/s/sstats/value"]
    assert source.sampling.longest_gap_s == 2.5


def test_each_mean_is_a_sample_on_our_clock() -> None:
    """Span, power, voltage, current and energy come over; the device's time is put on our clock."""
    driver = ScriptedDriver("u/js220/1")
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


@pytest.mark.parametrize("watts", [math.nan, math.inf])
def test_a_mean_that_is_no_number_is_lost_alone(watts: float) -> None:
    """One NaN among the means is a sample less; those before and behind it count."""
    driver = ScriptedDriver("u/js220/1")
    source = opened(driver)
    for at_s, power_w in ((7.0, 2.5), (7.1, watts), (7.2, 3.0)):
        driver.send(at_s, power_w, 100.0)
    assert [(sample.power_w, sample.lost) for sample in source.read()] == [(2.5, 0), (3.0, 1)]


def test_a_mean_that_cannot_be_understood_costs_no_other() -> None:
    """What is no statistics among good means is one sample less."""
    driver = ScriptedDriver("u/js220/1")
    source = opened(driver)
    driver.send(7.0, 2.5, 100.0)
    driver.listeners["u/js220/1/s/stats/value"]("topic", {"time": 1})
    driver.send(7.2, 3.0, 100.0)
    assert [(sample.power_w, sample.lost) for sample in source.read()] == [(2.5, 0), (3.0, 1)]


def test_a_device_that_counts_its_time_anew_is_followed() -> None:
    """A device whose time falls back is put on our clock again, and a loss is told."""
    now = [50.0]
    driver = ScriptedDriver("u/js220/1")
    tools = Tools(clock=lambda: now[0])
    source = Joulescope(Resource("joulescope", ""), tools, lambda: driver)
    told = []
    for begin_s in (900.0, 900.1, 0.0, 0.1):
        now[0] += 0.1
        driver.send(begin_s, 2.5, 100.0)
        told += [(sample.at_s, sample.lost) for sample in source.read()]
    assert [at_s for at_s, _ in told] == pytest.approx([50.1, 50.2, 50.3, 50.4])
    assert [lost for _, lost in told] == [0, 0, 1, 0]


def test_what_is_no_statistics_is_an_error() -> None:
    """Another shape never becomes a power."""
    driver = ScriptedDriver("u/js220/1")
    source = opened(driver)
    driver.listeners["u/js220/1/s/stats/value"]("topic", {"time": 1})
    with pytest.raises(MeterReplyError, match="no statistics"):
        source.read()


def test_a_js320_is_found_and_sends_means() -> None:
    """A JS320 has the topics of a JS220, and serial numbers with letters."""
    driver = ScriptedDriver("u/js320/8w2a")
    source = opened(driver, "8w2a")
    assert (source.identity.model, source.identity.serial) == ("JS320", "8w2a")
    assert list(driver.listeners) == ["u/js320/8w2a/s/stats/value"]
    driver.send(7.0, 2.5, 100.0)
    assert [sample.power_w for sample in source.read()] == [2.5]


def test_devices_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search lists each Joulescope by its serial number, and releases the driver."""
    driver = ScriptedDriver("u/js320/8w2a", "u/js220/001234", "u/other/1")
    monkeypatch.setattr("power.meters.joulescope._driver", lambda: driver)
    assert KIND.find().resources == ["joulescope:8w2a", "joulescope:001234"]
    assert driver.said == [("finalize",)]


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
    driver = ScriptedDriver(*paths)
    with pytest.raises(error, match=said):
        opened(driver, serial)
    assert driver.said == [("finalize",)]


def test_a_device_that_cannot_be_opened_is_lost() -> None:
    """The library's error becomes a lost meter, and the driver is released."""
    driver = ScriptedDriver("u/js220/1", fault="open timed out")
    with pytest.raises(MeterUnreachable, match="open timed out"):
        opened(driver)
    assert driver.said == [("finalize",)]


def test_a_silent_device_is_lost() -> None:
    """A device that was unplugged is told by its silence."""
    now = [0.0]
    driver = ScriptedDriver("u/js220/1")
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
