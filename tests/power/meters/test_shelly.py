# SPDX-License-Identifier: Apache-2.0
"""The conversation with Shelly plugs of all generations, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from power.errors import (
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterUnreachable,
)
from power.meter import Identity, MeterSettings
from power.meters.shelly import KIND, ShellyPlug
from power.resource import Resource, parse_resource
from power.sampled.source import Tools
from power.transports.replay import read_wire_log
from power.transports.transport import WireLog
from tests.support import shelly_plug

FIRST, LATER = 1, 2


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[shelly_plug.ShellyPlug, str]]:
    """Serve one emulated plug to all tests of this file."""
    plug = shelly_plug.ShellyPlug()
    with shelly_plug.serving(plug) as at:
        yield plug, at


@pytest.fixture
def plug(served: tuple[shelly_plug.ShellyPlug, str]) -> shelly_plug.ShellyPlug:
    """Return the emulated plug as it is when it is new."""
    served[0].__init__()  # type: ignore[misc]
    return served[0]


def opened(
    served: tuple[shelly_plug.ShellyPlug, str], options: str = "", **tools: Any
) -> ShellyPlug:
    """Return the driver of the emulated plug."""
    resource = parse_resource(f"shelly:{served[1]}{options}")
    assert resource is not None
    return ShellyPlug(resource, Tools(**tools))


@pytest.mark.parametrize(
    ("generation", "identity", "asked"),
    [
        (
            FIRST,
            Identity("Shelly", "SHPLG-S", "A8032ABE54DC", "v1.14.0"),
            ["/shelly", "/status", "/meter/0"],
        ),
        (
            LATER,
            Identity("Shelly", "SNPL-00112EU", "A8032ABE54DC", "1.4.4"),
            ["/shelly", "/rpc/Shelly.GetStatus", "/rpc/Switch.GetStatus?id=0"],
        ),
    ],
)
def test_the_conversation_with_each_generation(
    served: Any, plug: shelly_plug.ShellyPlug, generation: int, identity: Identity, asked: list[str]
) -> None:
    """Two questions tell who it is and what measures, and one a sample; nothing is switched."""
    plug.generation, plug.power_w, plug.total_wh = generation, 12.5, 250.0
    source = opened(served)
    (sample,) = source.read()
    assert (source.identity, plug.asked) == (identity, asked)
    assert (sample.power_w, sample.counter_wh) == (12.5, pytest.approx(250.0))
    assert sample.voltage_v == (None if generation == FIRST else 230.0)


def test_the_time_of_a_sample_is_the_middle_of_its_question(
    served: Any, plug: shelly_plug.ShellyPlug
) -> None:
    """A sample's time lies between the question and the reply."""
    times = iter([10.0, 10.4])
    assert opened(served, clock=lambda: next(times)).read()[0].at_s == pytest.approx(10.2)


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (401, MeterRefused, "switch its authentication off"),
        (404, MeterMismatch, "no Shelly"),
        ("<html>", MeterReplyError, "no JSON"),
        ("[1]", MeterReplyError, "no JSON object"),
        ('{"a":1}', MeterMismatch, "is no Shelly"),
        ('{"mac":"1","gen":2}', MeterMismatch, "measures no power on channel 0"),
        ('{"mac":"1","type":"SHSW-1"}', MeterMismatch, "measures no power on channel 0"),
    ],
)
def test_what_is_no_measuring_shelly_says_why(
    served: Any,
    plug: shelly_plug.ShellyPlug,
    fault: int | str,
    error: type[MeterError],
    said: str,
) -> None:
    """A password, another device, or a Shelly without a meter is each told in a sentence."""
    plug.fault = fault
    with pytest.raises(error, match=said):
        opened(served)


METER = {"id": 0, "voltage": 230.0, "current": 0.05, "errors": None}
COUNTED = {"aenergy": {"total": 1000.0, "by_minute": None, "minute_ts": 0}}


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ({"Cover": {**METER, **COUNTED, "apower": 5.0}}, (5.0, 230.0, 0.05, 1000.0)),
        ({"Light": {**METER, **COUNTED, "apower": 5.0}}, (5.0, 230.0, 0.05, 1000.0)),
        ({"Light": {"apower": 5.0, "aenergy": None}}, (5.0, None, None, None)),
        ({"EM1": {"act_power": 5.0}}, (5.0, None, None, None)),
        ({"PM1": {**METER, "apower": 5.0, "voltage": None}}, (5.0, None, 0.05, None)),
        (
            {"EM1": {**METER, "act_power": 5.0}, "EM1Data": {"id": 0, "total_act_energy": 1000.0}},
            (5.0, 230.0, 0.05, 1000.0),
        ),
        (
            {
                "EM": {
                    **{f"{phase}_act_power": 1.0 for phase in "abc"},
                    **{f"{phase}_voltage": 230.0 for phase in "abc"},
                    **{"id": 0, "total_current": 0.02, "total_act_power": 3.0},
                },
                "EMData": {"id": 0, "a_total_act_energy": 300.0, "total_act": 1000.0},
            },
            (3.0, None, 0.02, 1000.0),
        ),
    ],
)
def test_each_component_that_measures_is_read(
    served: Any,
    plug: shelly_plug.ShellyPlug,
    components: dict[str, dict[str, Any]],
    expected: tuple[float | None, ...],
) -> None:
    """Covers, lights, single phases and the sum of three have power and counter; null is none."""
    plug.components = components
    (sample,) = opened(served).read()
    found = (sample.power_w, sample.voltage_v, sample.current_a, sample.counter_wh)
    assert expected == found


def test_a_plug_without_a_value_for_a_moment_is_not_lost(
    served: Any, plug: shelly_plug.ShellyPlug
) -> None:
    """A power of null is no sample, and no reason to open the device again."""
    source = opened(served)
    plug.power_w = None
    assert [] == list(source.read())
    plug.power_w = 5.0
    assert [5.0] == [sample.power_w for sample in source.read()]


@pytest.mark.parametrize("power", ["5", True, [5]])
def test_a_power_that_is_no_number_is_an_error(
    served: Any, plug: shelly_plug.ShellyPlug, power: object
) -> None:
    """What is no number never becomes a power."""
    source = opened(served)
    plug.power_w = power
    with pytest.raises(MeterReplyError, match="apower"):
        source.read()


@pytest.mark.parametrize(
    ("generation", "body"),
    [(FIRST, '{"power":5,"is_valid":false}'), (LATER, '{"apower":5,"errors":["power_meter:x"]}')],
)
def test_a_plug_that_doubts_its_own_meter_is_an_error(
    served: Any, plug: shelly_plug.ShellyPlug, generation: int, body: str
) -> None:
    """A power that the plug itself calls invalid is none."""
    plug.generation = generation
    source = opened(served)
    plug.fault = body
    with pytest.raises(MeterReplyError, match="does not work"):
        source.read()


def test_a_plug_that_does_not_answer_in_time_is_lost(
    served: Any, plug: shelly_plug.ShellyPlug
) -> None:
    """A question without an answer ends after the time-out."""
    source = opened(served)
    # Only the question that nobody answers is hurried; the opening has its usual time.
    source._device.timeout_s = 0.05
    plug.held.clear()
    with pytest.raises(MeterUnreachable, match="does not answer"):
        source.read()


def test_a_plug_that_is_not_there_is_named() -> None:
    """An address where nobody listens is told."""
    with pytest.raises(MeterUnreachable, match=r"127\.0\.0\.1 does not answer"):
        ShellyPlug(Resource("shelly", "127.0.0.1:9"), Tools())


def test_the_wire_log_has_the_conversation(
    served: Any, plug: shelly_plug.ShellyPlug, tmp_path: Path
) -> None:
    """Each question and each reply is a line of the wire log."""
    log = WireLog(tmp_path / "wire.jsonl")
    opened(served, wire_log=log).read()
    log.close()
    events = read_wire_log(tmp_path / "wire.jsonl")
    assert [event.event for event in events] == ["sent", "received"] * 3
    assert events[-2].content == b"GET /rpc/Switch.GetStatus?id=0"
    assert b'"apower": 5.0' in events[-1].content


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("", {}),
        ("a/b", {}),
        ("a:x", {}),
        ("u@a", {}),
        ("a", {"channel": "x"}),
        ("a", {"interval": "0.01"}),
        ("a", {"accuracy": "-1"}),
        ("a", {"phase": "1"}),
    ],
)
def test_a_wrong_resource_string_is_refused_at_once(address: str, options: dict[str, str]) -> None:
    """A wrong address or option is a ValueError before anything is asked."""
    with pytest.raises(ValueError, match="."):
        KIND.open(Resource("shelly", address, options), Tools())


def test_an_accuracy_may_be_stated(served: Any, plug: shelly_plug.ShellyPlug) -> None:
    """Shelly specifies no accuracy; the data sheet's figure can be given in percent."""
    assert opened(served).sampling.of_reading is None
    resource = Resource("shelly", served[1], {"accuracy": "1.5"})
    meter = KIND.open(resource, Tools())
    try:
        sampling = meter.prepare(MeterSettings(timer_s=1)).sampling
    finally:
        meter.close()
    assert sampling is not None
    assert sampling.of_reading == pytest.approx(0.015)
