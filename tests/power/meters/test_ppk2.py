# SPDX-License-Identifier: Apache-2.0
"""The samples of a PPK2, and its driver on a pseudo-terminal.

It tests the samples too, each of their ranges and bits, not the driver alone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.errors import MeterMismatch, MeterReplyError, MeterUnreachable
from power.meter import IntegrationState, MeterFlag, MeterSettings
from power.meters.ppk2 import KIND, Calibration, Decoder, Ppk2
from power.resource import Resource
from power.sampled.source import Tools
from tests.support.fakes import eventually
from tests.support.ppk2_unit import ABOUT, SHUNTS_OHM, Ppk2Unit, plugged_in, sample

PLAIN = Calibration.parse(ABOUT)
ODD = """Calibrated: 1
R0: 1000
R4: 0
O2: 12.5
GS2: 0.9
GI2: 1.1
S2: 0.002
I2: 0.0003
UG2: 1.05
"""


@pytest.fixture
def unit() -> Ppk2Unit:
    """Return an emulated unit."""
    return Ppk2Unit()


@pytest.fixture
def port(unit: Ppk2Unit) -> Iterator[str]:
    """Return the port of the emulated unit."""
    with plugged_in(unit) as path:
        yield path


def resource(port: str, mode: str = "source", mv: str = "3300") -> Resource:
    """Return the resource of a unit."""
    return Resource("ppk2", port, {"mode": mode, "mv": mv})


@pytest.mark.parametrize(("mode", "code"), [("source", 2), ("ampere", 1)])
def test_the_conversation(unit: Ppk2Unit, port: str, mode: str, code: int) -> None:
    """It ends an old stream, asks who is there, sets mode and voltage, powers, and starts."""
    source = Ppk2(resource(port, mode), Tools())
    source.close()
    commands = b"\x07\x19" + bytes([0x11, code, 0x0D]) + (3300).to_bytes(2, "big") + b"\x0c\x01\x06"
    deadline = Tools().clock() + 180
    while unit.told != commands + b"\x07":  # the last one may still be on its way
        assert Tools().clock() < deadline, unit.told
        Tools().sleep(0.01)
    assert source.identity.model == f"PPK2 {mode}"
    assert source.identity.firmware == "9173"


def test_a_run_has_the_energy_of_current_and_voltage(unit: Ppk2Unit, port: str) -> None:
    """A run of a second at 0.2 A and 5 V is a watt-second."""
    meter = KIND.open(resource(port, mv="5000"), Tools())
    try:
        meter.prepare(MeterSettings(timer_s=1, update_interval_s=0.25))
        meter.start()
        while meter.read().state is IntegrationState.START:
            Tools().sleep(0.05)
        last = meter.read()
    finally:
        meter.close()
    assert last.energy_wh is not None
    assert last.energy_wh * 3600 == pytest.approx(1.0, rel=0.01)
    assert (last.voltage_v, last.integration_s) == (5.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [1, 2, 3, 4, 130])
def test_lost_bytes_cost_a_run_a_flag_and_no_energy(unit: Ppk2Unit, port: str, lost: int) -> None:
    """Bytes that a port loses in a run leave its energy as it is, and a flag tells of them."""
    meter = KIND.open(resource(port, mv="5000"), Tools())
    try:
        meter.prepare(MeterSettings(timer_s=3, update_interval_s=0.25))
        meter.start()
        # The samples of a busy machine come late, so only those behind an update are of this run.
        eventually(lambda: meter.read().energy_wh)
        unit.lose = lost
        while meter.read().state is IntegrationState.START:
            Tools().sleep(0.05)
        last = meter.read()
    finally:
        meter.close()
    assert last.energy_wh is not None
    assert last.energy_wh * 3600 == pytest.approx(3.0, rel=0.01)
    assert {MeterFlag.SAMPLES_LOST, MeterFlag.NO_WITNESS} <= last.flags


def test_a_unit_that_falls_silent_is_lost(unit: Ppk2Unit, port: str) -> None:
    """A stream that ends is a lost meter, after a second."""
    now = [0.0]
    tools = Tools(clock=lambda: now[0], sleep=lambda seconds: None)
    unit.mute = True
    source = Ppk2(resource(port), Tools())
    source._clock, source._heard_s = tools.clock, 0.0
    assert source.read() == []
    now[0] = 1.1
    with pytest.raises(MeterUnreachable, match="sends no samples"):
        source.read()
    source.close()


def test_something_else_on_the_port_is_refused(unit: Ppk2Unit, port: str) -> None:
    """A port that does not answer as a PPK2, or without a calibration, is told."""
    unit.about = "HW: 9173\nEND\n"
    with pytest.raises(MeterReplyError, match="no calibration"):
        Ppk2(resource(port), Tools())
    unit.about = ""
    ticks = iter(range(10_000))
    with pytest.raises(MeterMismatch, match="does not answer as a PPK2"):
        Ppk2(resource(port), Tools(clock=lambda: next(ticks) / 10, sleep=lambda seconds: None))


def test_a_port_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A port that cannot be opened is named, with what to look at."""
    with pytest.raises(MeterUnreachable, match="group dialout"):
        Ppk2(resource(str(tmp_path / "ttyACM9")), Tools())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "source"},
        {"mode": "volt", "mv": "3300"},
        {"mode": "source", "mv": "700"},
        {"mode": "source", "mv": "5001"},
        {"mode": "source", "mv": "3300", "volts": "3"},
    ],
)
def test_a_wrong_resource_string_is_refused_at_once(options: dict[str, str]) -> None:
    """Mode and voltage must be given, because the unit powers the device with them."""
    with pytest.raises(ValueError, match="."):
        KIND.open(Resource("ppk2", "/dev/ttyACM0", options), Tools())


@given(st.floats(0.001, 0.9), st.integers(0, 4))
def test_every_current_comes_back(amperes: float, scale: int) -> None:
    """A current that fits its range comes back within half a step of the converter."""
    most_a = (4 * 0x3FFF * 1.8 / 163840 / SHUNTS_OHM[scale]) * 0.9
    amperes = min(amperes, most_a)
    block = Decoder(PLAIN, 3.3).take(sample(amperes, scale))
    assert block is not None
    step_a = 4 * 1.8 / 163840 / SHUNTS_OHM[scale]
    assert block.mean_a == pytest.approx(amperes, abs=2 * step_a)


def test_the_units_own_constants_are_used() -> None:
    """Offset, gains and drift enter as the formula says; a shunt of 0 Ω is Nordic's own."""
    block = Decoder(Calibration.parse(ODD), 4.0).take(struct.pack("<I", 1000 | 2 << 14))
    plain = (4000 - 12.5) * (1.8 / 163840) / 10.15
    expected = 1.05 * (plain * (0.9 * plain + 1.1) + (0.002 * 4.0 + 0.0003))
    assert block is not None
    assert block.mean_a == pytest.approx(expected)
    assert Calibration.parse(ODD).shunt_ohm[4] == 0.043


@given(st.binary(min_size=1, max_size=400), st.data())
def test_bytes_may_be_cut_anywhere(content: bytes, data: st.DataObject) -> None:
    """Any bytes, cut anywhere, give as many samples as whole ones, and never an error."""
    decoder = Decoder(PLAIN, 3.3)
    cut = data.draw(st.integers(0, len(content)))
    blocks = [decoder.take(content[:cut]), decoder.take(content[cut:])]
    assert sum(block.samples for block in blocks if block) == len(content) // 4


def test_lost_samples_are_counted_over_blocks() -> None:
    """What the counter leaves out is counted, within a block and between two."""
    decoder = Decoder(PLAIN, 3.3)
    first = decoder.take(b"".join(sample(0.1, count=count) for count in (60, 61, 63, 64)))
    second = decoder.take(b"".join(sample(0.1, count=count) for count in (67, 70)))
    assert first is not None and second is not None
    assert (first.lost, second.lost) == (1, 4)


def test_samples_right_after_a_change_of_range_do_not_count() -> None:
    """The three samples of a change of range are left out of the mean."""
    spike = b"".join(sample(0.4, 4) for _ in range(3))
    block = Decoder(PLAIN, 3.3).take(sample(0.01, 3) * 5 + spike + sample(0.1, 4) * 5)
    assert block is not None
    assert block.mean_a == pytest.approx((0.01 * 5 + 0.1 * 5) / 10, rel=0.02)


@pytest.mark.parametrize(
    ("content", "over"),
    [
        (sample(0.95), False),
        (sample(1.05), True),
        (struct.pack("<I", 0x3FFF | 4 << 14), True),
        (struct.pack("<I", 0x3FFF | 0 << 14), False),
    ],
)
def test_more_than_an_ampere_is_over_range(content: bytes, over: bool) -> None:
    """A current above 1 A, and a converter at its end in the largest range, are over range."""
    block = Decoder(PLAIN, 3.3).take(content)
    assert block is not None
    assert block.over_range is over


def test_what_has_no_calibration_is_refused() -> None:
    """A text without a shunt is no calibration."""
    with pytest.raises(ValueError, match="no calibration"):
        Calibration.parse("HW: 9173\n")


@pytest.mark.parametrize("constant", ["nan", "1e999", "R", "9" * 400])
def test_a_calibration_that_is_no_number_is_refused(constant: str) -> None:
    """A constant that is no number never becomes a current."""
    with pytest.raises(ValueError, match="."):
        Calibration.parse(f"R0: 1031\nGS1: {constant}\n")


# What the converter's step makes of 0.4 A.
AS_READ_A = float(PLAIN.amperes(np.frombuffer(sample(0.4), dtype="<u4"), 3.3)[0][0])


def stream(samples: int, amperes: float = 0.4) -> bytes:
    """Return a stream whose counter goes up by one."""
    return b"".join(sample(amperes, count=count) for count in range(samples))


def decoded(content: bytes, cuts: list[int]) -> tuple[float, int, int, bool]:
    """Return mean, samples, lost ones, and whether any was too much, of a stream that comes so."""
    decoder, blocks = Decoder(PLAIN, 3.3), []
    for begin, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        block = decoder.take(content[begin:end])
        blocks += [] if block is None else [block]
    samples = sum(block.samples for block in blocks)
    mean_a = sum(block.mean_a * block.samples for block in blocks) / samples
    over = any(block.over_range for block in blocks)
    return mean_a, samples, sum(block.lost for block in blocks), over


@given(st.integers(100, 3000), st.integers(1, 200), st.data())
def test_bytes_that_are_lost_anywhere_change_no_current(
    at: int, lost: int, data: st.DataObject
) -> None:
    """However many bytes are lost, wherever they lie and the rest is cut, the mean stays."""
    whole = stream(1200)
    content = whole[:at] + whole[at + lost :]
    cuts = sorted(data.draw(st.lists(st.integers(1, len(content) - 1), max_size=5, unique=True)))
    mean_a, samples, told, over = decoded(content, cuts)
    assert mean_a == pytest.approx(AS_READ_A) and not over
    # Two of those that are left may be of two halves.
    assert 1200 - -(-lost // 4) - 2 <= samples <= 1200
    assert samples + told == 1200


def test_a_stream_that_begins_in_the_middle_of_a_sample_is_cut_right() -> None:
    """The bytes before the first whole sample are left out."""
    mean_a, _, _, over = decoded(stream(500)[3:], [])
    assert mean_a == pytest.approx(AS_READ_A) and not over


def test_digital_inputs_that_never_stay_are_no_disorder() -> None:
    """Whoever uses the logic port finds the samples again behind lost bytes, too."""
    words = [sample(0.4, count=count)[:3] + bytes([count * 37 % 256]) for count in range(1000)]
    whole = b"".join(words)
    mean_a, samples, told, over = decoded(whole[:1001] + whole[1003:], [500, 2000])
    assert mean_a == pytest.approx(AS_READ_A) and not over
    # The last one may still wait for the next.
    assert 998 <= samples + told <= 1000


def test_a_single_counter_that_is_wrong_costs_its_sample() -> None:
    """Some units have an unstable counter now and then; the samples go on behind it."""
    words = [sample(0.4, count=count) for count in range(500)]
    words[300] = sample(0.4, count=7)
    mean_a, samples, told, _ = decoded(b"".join(words), [1000])
    assert mean_a == pytest.approx(AS_READ_A)
    assert samples + told == 500 and told <= 2


def test_a_stream_without_any_order_is_an_error() -> None:
    """After a hundredth of a second without a counter the driver gives the stream up."""
    port = SerialPort()
    source = Ppk2(resource("a port"), Tools(), lambda path: port)
    port.waiting = sample(0.4) * 1001
    with pytest.raises(MeterReplyError, match="its samples have no counter"):
        source.read()


class SerialPort:
    """A serial port whose bytes a test gives; it answers as a unit does."""

    port = "a port"

    def __init__(self) -> None:
        self.waiting = b""

    @property
    def in_waiting(self) -> int:
        """Return how many bytes have come."""
        return len(self.waiting)

    def read(self, count: int) -> bytes:
        """Return bytes."""
        content, self.waiting = self.waiting[:count], self.waiting[count:]
        return content

    def write(self, content: bytes) -> None:
        """Answer the question who is there."""
        if content == b"\x19":
            self.waiting += ABOUT.encode()

    def close(self) -> None:
        """Do nothing."""


def polled(shares: list[float]) -> list[Any]:
    """Return the samples of a unit that is read each tenth of a second.

    Each share is how much of the samples of that time arrives; what does not is a whole turn of the
    counter each time.
    """
    now, port = [0.0], SerialPort()
    turn = b"".join(sample(0.4, count=count) for count in range(64))
    tools = Tools(clock=lambda: now[0], sleep=lambda seconds: None)
    source = Ppk2(resource("a port"), tools, lambda path: port)
    samples: list[Any] = []
    for share in shares:
        now[0] += 0.1
        port.waiting += turn * round(10_000 * share / 64)
        samples += source.read()
    return samples


def test_a_port_that_lets_few_samples_through_is_told() -> None:
    """Whole turns of the counter that are lost again and again show in the time of the others."""
    samples = polled([1.0] * 5 + [0.03] * 100)
    lost = sum(sample.lost for sample in samples)
    # Those of the last seconds may still come.
    assert 0.97 * 60 * 10_000 <= lost <= 0.97 * 100 * 10_000
    assert any(sample.lost for sample in samples[5:50])


def test_samples_that_are_late_are_not_lost() -> None:
    """What a busy computer hands out late and whole has its own time, and nothing is missing."""
    for late in ([0.0] * 6 + [7.0], [0.4] * 12 + [1.9] * 8, [0.5] * 16 + [1.5] * 16):
        samples = polled([1.0] * 5 + late + [1.0] * 30)
        assert not any(sample.lost for sample in samples)
        times = [sample.at_s for sample in samples]
        assert times == sorted(times)
        assert times[-1] == pytest.approx(0.1 * (35 + len(late)), abs=0.01)


def test_each_unit_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer firmware shows a second port, a console; the search names that of the samples."""
    ports = [
        ("/dev/ttyACM1", "PPK2", "C1", "1-2:1.3"),
        ("/dev/ttyACM0", "PPK2", "C1", "1-2:1.1"),
        ("/dev/ttyACM3", "PPK2", "C2", "1-3:1.1"),
        ("/dev/ttyACM2", "PPK2", "C2", "1-3:1.3"),
        ("/dev/ttyUSB0", "CP2102", "0001", "1-4"),
        ("/dev/ttyACM4", "PPK2", None, None),
    ]
    named = [
        SimpleNamespace(device=device, product=product, serial_number=serial, location=location)
        for device, product, serial, location in ports
    ]
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: named)
    assert KIND.find().resources == [
        "ppk2:/dev/ttyACM0",
        "ppk2:/dev/ttyACM3",
        "ppk2:/dev/ttyACM4",
    ]
