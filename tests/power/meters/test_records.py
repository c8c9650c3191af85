# SPDX-License-Identifier: Apache-2.0
"""Wire logs of sampled devices are replayed: each driver says and reads the same as at the device.

A log that somebody sends becomes a test when its file lies in the folder `records`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from power.meter import MeterSettings
from power.meters.ina import Ina219Source, Ina228Source
from power.meters.joulescope import Joulescope
from power.meters.kinds import GROUP, sampled
from power.meters.ppk2 import Ppk2
from power.meters.shelly import ShellyPlug
from power.resource import Resource, parse_resource
from power.sampled.source import Source, Tools
from power.testing import http_device
from power.transports.replay import WireEvent, read_wire_log
from power.transports.transport import WireLog
from tests.support import shelly_plug
from tests.support.fakes import eventually
from tests.support.ina_chips import ChipBus, Ina219Chip, Ina228Chip
from tests.support.installed import own_names
from tests.support.joulescope_driver import ScriptedDriver
from tests.support.ppk2_unit import Ppk2Unit, plugged_in

RECORDS = sorted((Path(__file__).parent / "records").glob("*.jsonl"))
_MESSAGES = ("sent", "received")
_DEVICE, _SAMPLES = "device", "samples"
_ENDS = (_DEVICE, "lost", "failed")


class Replay:
    """The messages of a device since it was opened, to be said again in the same order."""

    def __init__(self, messages: Sequence[WireEvent]) -> None:
        self._messages = list(messages)
        self._now_s = messages[0].monotonic_s

    def clock(self) -> float:
        """Return the time of the last message."""
        return self._now_s

    @property
    def waiting(self) -> bytes:
        """Return what the device says next, if it is its turn."""
        assert self._messages, "the record has ended"
        coming = self._messages[0]
        return coming.content if coming.event == "received" else b""

    def say(self, message: str) -> None:
        """Tell the device something, which must be what was said then."""
        assert ("sent", message) == (self._messages[0].event, self._messages[0].content.decode())
        self._go_on()

    def hear(self) -> bytes:
        """Return what the device says."""
        assert "received" == self._messages[0].event
        return self._go_on()

    def _go_on(self) -> bytes:
        message = self._messages.pop(0)
        self._now_s = message.monotonic_s
        return message.content


class ReplayedBus:
    """The I2C bus of a record."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def read_i2c_block_data(self, address: int, register: int, length: int) -> list[int]:
        """Return the recorded bytes of a register."""
        self._replay.say(f"read {register:#04x}")
        return list(bytes.fromhex(self._replay.hear().decode()))

    def write_i2c_block_data(self, address: int, register: int, content: list[int]) -> None:
        """Write what was written then."""
        self._replay.say(f"write {register:#04x} {bytes(content).hex()}")

    def close(self) -> None:
        """Do nothing."""


class ReplayedPort:
    """The serial port of a record. Behind each message it is empty once, as it was then."""

    port = "replay"

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._is_empty = False

    @property
    def in_waiting(self) -> int:
        """Return how many bytes come next."""
        was_empty, self._is_empty = self._is_empty, False
        return 0 if was_empty else len(self._replay.waiting)

    def read(self, size: int) -> bytes:
        """Return the recorded bytes."""
        self._is_empty = True
        return self._replay.hear()

    def write(self, content: bytes) -> None:
        """Write what was written then."""
        self._replay.say(content.hex())

    def close(self) -> None:
        """Do nothing."""


class ReplayedDriver(ScriptedDriver):
    """The Joulescope library of a record; its means come before the next look."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(*json.loads(replay.hear()))
        self._replay = replay

    def go_on(self) -> None:
        """Let one more mean arrive."""
        (topic,) = self.listeners
        self.listeners[topic](topic, json.loads(self._replay.hear()))


Opened = tuple[Source, Callable[[], object]]
"""The driver of a device over its record, and what the device does before a look."""


def opened_unit(resource: Resource, replay: Replay, tools: Tools, _: ExitStack) -> Opened:
    """Open a PPK2."""
    return Ppk2(resource, tools, lambda path: ReplayedPort(replay)), lambda: None


def opened_scope(resource: Resource, replay: Replay, tools: Tools, _: ExitStack) -> Opened:
    """Open a Joulescope."""
    driver = ReplayedDriver(replay)
    return Joulescope(resource, tools, lambda: driver), driver.go_on


def opened_plug(resource: Resource, replay: Replay, tools: Tools, stack: ExitStack) -> Opened:
    """Open a Shelly."""

    def answer(path: str) -> tuple[int, str]:
        replay.say(f"GET {path}")
        return 200, replay.hear().decode()

    at = stack.enter_context(http_device.serving(answer))
    return ShellyPlug(replace(resource, address=at), tools), lambda: None


def opened_chip(resource: Resource, replay: Replay, tools: Tools, _: ExitStack) -> Opened:
    """Open a chip on an I2C bus."""
    chip = {"ina219": Ina219Source, "ina228": Ina228Source}[resource.kind]
    return chip(resource, tools, lambda number: ReplayedBus(replay)), lambda: None


REPLAYS = {
    "ina219": opened_chip,
    "ina228": opened_chip,
    "joulescope": opened_scope,
    "ppk2": opened_unit,
    "shelly": opened_plug,
}
# The counter of RAPL is a file of this machine's kernel, so there is no wire to record.
WITHOUT_WIRE = {"rapl"}


def test_each_kind_of_the_house_can_be_replayed() -> None:
    """Each kind that the house brings by an entry point has its replay, unless it has no wire."""
    assert {*own_names(GROUP)} == REPLAYS.keys() | WITHOUT_WIRE


def opened(resource: Resource, replay: Replay, stack: ExitStack) -> Opened:
    """Open the driver of a device over its record."""
    tools = Tools(clock=replay.clock, sleep=lambda _: None)
    return REPLAYS[resource.kind](resource, replay, tools, stack)


def openings(path: Path) -> Iterator[tuple[Resource, list[WireEvent], list[dict[str, Any]]]]:
    """Yield each opening of a record: the device, the messages, and the samples until its end."""
    # Behind a gap the record does not tell what the device said.
    events = list(takewhile(lambda one: one.event != "gap", read_wire_log(path)))
    for number, event in enumerate(events, start=1):
        if event.event == _DEVICE:
            own = list(takewhile(lambda one: one.event not in _ENDS, events[number:]))
            messages = [one for one in own if one.event in _MESSAGES]
            samples = [json.loads(one.content) for one in own if one.event == _SAMPLES]
            yield Resource(**json.loads(event.content)), messages, sum(samples, [])


def assert_as_recorded(path: Path) -> int:
    """Replay each opening of a record; return how many samples were the same."""
    count = 0
    for resource, messages, then in openings(path):
        now: list[dict[str, Any]] = []
        with ExitStack() as stack:
            source, go_on = opened(resource, Replay(messages), stack)
            for _ in messages:
                if len(now) < len(then):
                    go_on()
                    now += map(asdict, source.read())
        assert len(then) <= len(now)
        for before, after in zip(then, now, strict=False):
            # The times are those of this computer's clock, which no device has told. A record of
            # an earlier version has fewer fields.
            known = {name: after[name] for name in before}
            assert before | {"at_s": 0.0} == known | {"at_s": 0.0}
        count += len(then)
    return count


def recorded(
    path: Path,
    resource: Resource,
    open_source: Callable[[Resource, Tools], Any],
    stream_bytes: int | None = None,
) -> None:
    """Record a second or two of a device, as `record --wire-log` does."""
    log = WireLog(path) if stream_bytes is None else WireLog(path, stream_bytes=stream_bytes)
    meter = sampled(open_source)(resource, Tools(wire_log=log))
    meter.prepare(MeterSettings(timer_s=60, update_interval_s=1.0))
    meter.start()
    wanted, count = ('"samples"', 6) if stream_bytes is None else ('"gap"', 1)
    eventually(lambda: path.read_text().count(wanted) >= count)
    meter.close()


def test_a_shelly_is_seen_again(tmp_path: Path) -> None:
    """Each answer of the plug is told to a server, and the driver asks it the same."""
    path = tmp_path / "plug.wire.jsonl"
    with shelly_plug.serving(shelly_plug.ShellyPlug()) as at:
        recorded(path, Resource("shelly", at, {"interval": "0.1"}), ShellyPlug)
    assert assert_as_recorded(path) > 5


@pytest.mark.parametrize("kind", ["ina219", "ina228"])
def test_a_chip_is_seen_again(tmp_path: Path, kind: str) -> None:
    """Every register that was read and written."""
    path = tmp_path / "chip.wire.jsonl"
    make, source = {
        "ina219": (Ina219Chip, Ina219Source),
        "ina228": (Ina228Chip, Ina228Source),
    }[kind]
    chip = make(Fraction(15, 1000))
    chip.volts, chip.amperes = Fraction(5), Fraction(1, 3)
    bus = ChipBus({0x40: chip})
    resource = parse_resource(f"{kind}:1/0x40?shunt=0.015&max=10&interval=0.05")
    assert resource is not None
    recorded(path, resource, partial(source, open_bus=lambda number: bus))
    assert assert_as_recorded(path) > 5


def test_a_ppk2_is_seen_again(tmp_path: Path) -> None:
    """Every byte of its stream, with its calibration."""
    path = tmp_path / "unit.wire.jsonl"
    with plugged_in(Ppk2Unit()) as port:
        recorded(path, Resource("ppk2", port, {"mode": "source", "mv": "3300"}), Ppk2)
    assert assert_as_recorded(path) > 5


def test_a_long_stream_is_seen_again_as_far_as_it_was_kept(tmp_path: Path) -> None:
    """The log keeps the first bytes, says so, and goes on with samples that nobody can replay."""
    path = tmp_path / "unit.wire.jsonl"
    with plugged_in(Ppk2Unit()) as port:
        resource = Resource("ppk2", port, {"mode": "source", "mv": "3300"})
        recorded(path, resource, Ppk2, stream_bytes=300_000)
    events = [one.event for one in read_wire_log(path)]
    assert 1 == events.count("gap")
    gap = events.index("gap")
    assert "received" not in events[gap:]
    assert 0 < assert_as_recorded(path) <= events[:gap].count("samples")


def test_a_joulescope_is_seen_again(tmp_path: Path) -> None:
    """Every mean that the library has told."""
    path = tmp_path / "scope.wire.jsonl"
    driver = ScriptedDriver("u/js220/001234")
    stopping = threading.Event()

    def send() -> None:
        number = 0
        while not stopping.wait(0.05):
            if driver.listeners:
                driver.send(0.1 * number, 5.0 + number, 0.5 * number)
                number += 1

    thread = threading.Thread(target=send, name="scope")
    thread.start()
    try:
        recorded(path, Resource("joulescope", ""), partial(Joulescope, make_driver=lambda: driver))
    finally:
        stopping.set()
        thread.join()
    assert assert_as_recorded(path) > 5


def test_another_driver_is_noticed(tmp_path: Path) -> None:
    """A record in which the device says something else gives other samples."""
    path = tmp_path / "plug.wire.jsonl"
    plug = shelly_plug.ShellyPlug()
    with shelly_plug.serving(plug) as at:
        recorded(path, Resource("shelly", at, {"interval": "0.1"}), ShellyPlug)
    path.write_text(path.read_text().replace('\\"apower\\": 5.0', '\\"apower\\": 6.0'))
    with pytest.raises(AssertionError):
        assert_as_recorded(path)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_records_of_devices_are_seen_again(path: Path) -> None:
    """Each driver says the same to a device that somebody has recorded, and reads the same."""
    assert assert_as_recorded(path)
