# SPDX-License-Identifier: Apache-2.0
"""The conversation with Shelly plugs of all generations, over real HTTP.

It is long because each generation of plugs has its own answers, and each fault of them its own
finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from power.errors import (
    MeterBusy,
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterUnreachable,
)
from power.meter import Identity, MeterSettings
from power.meters.shelly import KIND, ShellyPlug
from power.meters.shelly_words import rated_w
from power.resource import Resource, parse_resource
from power.sampled.source import Tools
from power.testing import http_device
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
        (403, MeterRefused, "wants a password"),
        (429, MeterBusy, "asked too often"),
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


@pytest.mark.parametrize(
    "about",
    [
        {"mac": "1", "type": "SHPLG-S", "auth": True},
        {"mac": "1", "gen": 3, "model": "S3PL-00112EU", "auth_en": True},
    ],
)
def test_a_plug_that_has_a_password_is_asked_nothing_else(about: dict[str, Any]) -> None:
    """What it says of itself is enough; a second question may lock firmware 2.0 for minutes."""
    asked: list[str] = []

    def answer(path: str) -> tuple[int, str]:
        asked.append(path)
        return (200, json.dumps(about)) if path == "/shelly" else (429, "")

    with (
        http_device.serving(answer) as at,
        pytest.raises(MeterRefused, match="wants a password"),
    ):
        ShellyPlug(Resource("shelly", at), Tools())
    assert asked == ["/shelly"]


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


PHASES = {f"{phase}_act_power": 100.0 for phase in "abc"} | {"total_act_power": 300.0}


@pytest.mark.parametrize(
    ("component", "status"),
    [
        ("Switch", {"apower": 5.0, "errors": ["power_meter_failure"]}),
        ("PM1", {"apower": 5.0, "errors": ["power_meter_failure"]}),
        ("EM1", {"act_power": 5.0, "errors": ["power_meter_failure"]}),
        ("EM", {**PHASES, "errors": ["power_meter_failure"]}),
        ("EM", {**PHASES, "b_errors": ["out_of_range:voltage", "power_meter_failure"]}),
    ],
)
def test_a_meter_that_has_failed_measures_nothing(
    served: Any, plug: shelly_plug.ShellyPlug, component: str, status: dict[str, Any]
) -> None:
    """A failed meter, and a failed phase of one, is an error and no power."""
    plug.components = {component: status}
    with pytest.raises(MeterReplyError, match="its own power meter does not work"):
        opened(served).read()


@pytest.mark.parametrize(
    ("component", "status", "over_range", "fault"),
    [
        ("Switch", {"apower": 5.0, "errors": ["overtemp", "overpower"]}, False, "overtemp, overp"),
        ("PM1", {"apower": 5.0, "errors": ["out_of_range:apower"]}, True, ""),
        ("EM1", {"act_power": 5.0, "errors": ["out_of_range:current"]}, True, ""),
        ("EM", {**PHASES, "c_errors": ["out_of_range:act_power"]}, True, ""),
        ("EM", {**PHASES, "errors": ["phase_sequence"]}, False, "phase_sequence"),
        ("EM", {**PHASES, "n_errors": ["out_of_range:n_current"]}, False, "neutral: out_of"),
        ("EM1", {"act_power": 5.0, "errors": ["a new one"]}, False, "a new one"),
        ("EM1", {"act_power": 5.0, "errors": "a text"}, False, "a text"),
    ],
)
def test_each_fault_that_a_device_tells_is_told(
    served: Any,
    plug: shelly_plug.ShellyPlug,
    component: str,
    status: dict[str, Any],
    over_range: bool,
    fault: str,
) -> None:
    """What is out of range is over range; every other fault is passed on, also one of tomorrow."""
    plug.components = {component: status}
    (sample,) = opened(served).read()
    assert sample.over_range is over_range
    assert sample.fault.startswith(fault) and bool(sample.fault) is bool(fault)


@pytest.mark.parametrize(
    ("component", "status"),
    [
        ("EM1", {"act_power": 5.0, "errors": ["ct_type_not_set"]}),
        ("EM", {**PHASES, "errors": ["ct_type_not_set"]}),
        ("EM", {**PHASES, "a_errors": ["ct_type_not_set"]}),
    ],
)
def test_a_meter_without_its_transformer_is_refused(
    served: Any, plug: shelly_plug.ShellyPlug, component: str, status: dict[str, Any]
) -> None:
    """Whoever has not said which transformer it is gets no power, at once or in the run."""
    plug.components = {component: {name: status[name] for name in status if "errors" not in name}}
    source = opened(served)
    plug.components = {component: status}
    for question in (source.read, lambda: opened(served)):
        with pytest.raises(MeterRefused, match="which current transformer it has"):
            question()


def test_a_phase_without_a_value_makes_no_sum(served: Any, plug: shelly_plug.ShellyPlug) -> None:
    """A phase of null is no sample, and the next one says that it is missing."""
    plug.components = {"EM": {**PHASES, "b_act_power": None}}
    source = opened(served)
    assert list(source.read()) == []
    plug.components = {"EM": PHASES}
    assert [(sample.power_w, sample.lost) for sample in source.read()] == [(300.0, 1)]


@pytest.mark.parametrize(
    ("about", "meter"),
    [
        ({"type": "SHSW-1", "num_meters": 1}, {"power": 0.0, "is_valid": True, "total": 0}),
        ({"type": "SHSW-L", "num_meters": 1}, {"power": 40.0, "is_valid": True, "total": 9}),
        ({"type": "SHSW-9", "num_meters": 0}, {"power": 0.0, "is_valid": True, "total": 0}),
        ({"type": "SHSW-9"}, {"power": 0.0, "is_valid": True}),
    ],
)
def test_a_relay_without_a_meter_is_refused(about: dict[str, Any], meter: dict[str, Any]) -> None:
    """A first-generation relay shows a power of 0 W, or one that somebody has typed in."""
    answers = {"/shelly": {"mac": "1", **about}, "/status": {"meters": [meter]}, "/meter/0": meter}
    with (
        http_device.serving(lambda path: (200, json.dumps(answers[path]))) as at,
        pytest.raises(MeterMismatch, match="measures no power on channel 0"),
    ):
        ShellyPlug(Resource("shelly", at), Tools())


@pytest.mark.parametrize("phase", [{"is_valid": False}, {"power": None}, {"power": "5"}])
def test_a_first_generation_phase_that_fails_makes_no_sum(phase: dict[str, Any]) -> None:
    """A phase that is not valid or no number leaves no power for the three."""
    good = {"power": 100.0, "is_valid": True, "total": 5.0}
    answers = {
        "/shelly": {"mac": "1", "type": "SHEM-3", "num_emeters": 3},
        "/status": {"emeters": [good, good, good]},
    }
    with http_device.serving(lambda path: (200, json.dumps(answers[path]))) as at:
        source = ShellyPlug(Resource("shelly", at), Tools())
        assert [sample.power_w for sample in source.read()] == [300.0]
        answers["/status"] = {"emeters": [good, good | phase, good]}
        try:
            assert not source.read()
        except MeterReplyError:
            pass


def test_three_phases_of_the_first_generation_carry_those_of_their_transformers() -> None:
    """A house that draws 12 kW is within the rating of a 3EM, as each of its phases is."""
    phase = {"power": 4500.0, "is_valid": True, "total": 5.0}
    answers = {
        "/shelly": {"mac": "1", "type": "SHEM-3", "num_emeters": 3},
        "/status": {"emeters": [phase] * 3},
        "/emeter/1": phase,
    }
    with http_device.serving(lambda path: (200, json.dumps(answers[path]))) as at:
        whole = ShellyPlug(Resource("shelly", at), Tools())
        one = ShellyPlug(Resource("shelly", at, {"channel": "1"}), Tools())
        assert [sample.power_w for sample in whole.read()] == [13_500.0]
    assert whole.sampling.most_w == 3 * 264.0 * 120
    assert one.sampling.most_w == 264.0 * 120


@pytest.mark.parametrize(
    ("model", "clamps", "phases", "watts"),
    [
        ("SNPL-00112EU", False, 1, 2500.0),
        ("a new plug", False, 1, 264.0 * 16),
        ("SPEM-003CEBEU", True, 3, 264.0 * 120 * 3),
        ("SPEM-003CEBEU400", True, 3, 264.0 * 400 * 3),
        ("SPEM-002CEBEU50", True, 1, 264.0 * 50),
    ],
)
def test_a_device_has_its_rating(model: str, clamps: bool, phases: int, watts: float) -> None:
    """Plugs have that of their maker, all others that of their relay or transformers."""
    assert rated_w(model, clamps=clamps, phases=phases) == watts


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
