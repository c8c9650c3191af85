# SPDX-License-Identifier: Apache-2.0
"""The meter's thread: scheduled readings, commands between them, and new links."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest

from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import constant
from power.errors import MeterRefused
from power.meter import IntegrationState
from power.transports.transport import LoggedTransport, WireLog
from power.wt310.driver import WT310
from referee.errors import Unavailable
from referee.service.desk.metering import LinkState, Metering
from tests.support.direct_wire import DirectTransport
from tests.support.fakes import SETTINGS, eventually
from tests.support.full_disk import FullDisk

pytestmark = pytest.mark.slow


@contextmanager
def running(open_meter, readings=None, links=None):
    """Run a metering thread and keep its reports."""
    metering = Metering(
        open_meter,
        SETTINGS,
        on_reading=(readings if readings is not None else []).append,
        on_link=(links if links is not None else []).append,
    )
    metering.start_thread()
    try:
        yield metering
    finally:
        metering.close()
        metering.close()


def test_readings_come_by_themselves(meter):
    """The thread reads on schedule, and reports each reading."""
    readings, links = [], []
    with running(meter.open, readings, links) as metering:
        eventually(lambda: len(readings) >= 3)
        assert metering.status.reading in readings
        assert "WT310E" == metering.status.identity.model
    assert [LinkState.OK] == [status.link for status in links]
    assert 1 == meter.calls.count("close")


def test_commands_in_order(meter):
    """The thread serves a whole run: prepare, start, stop, final readings."""
    with running(meter.open) as metering:
        assert 30 == metering.prepare(30).timer_s
        start = metering.start()
        assert start.sent_s <= start.written_s <= start.confirmed_s
        meter.clock.advance(30)
        assert IntegrationState.TIMEUP is metering.stop()
        readings = metering.read_final(lambda seconds: None)
    assert 30.0 == readings[-1].integration_s
    assert readings[-1].energy_wh == readings[-2].energy_wh


def test_refused_command_keeps_the_link(meter):
    """The caller of a refused command gets the meter's reason, and readings go on."""
    links = []
    with running(meter.open, links=links) as metering:
        meter.fail_prepare = MeterRefused("The meter refused its range.")
        with pytest.raises(Unavailable, match="refused its range"):
            metering.prepare(30)
        assert LinkState.OK is metering.status.link
    assert [LinkState.OK] == [status.link for status in links]


def test_lost_link_is_told_once_and_taken_up_again(meter):
    """A lost link refuses commands at once, comes back by itself, and spares the integration."""
    links = []
    with running(meter.open, links=links) as metering:
        metering.prepare(30)
        metering.start()
        meter.lost = True
        eventually(lambda: metering.status.link is LinkState.LOST)
        with pytest.raises(Unavailable, match="not connected"):
            metering.stop()
        eventually(lambda: meter.calls.count("open") >= 3)
        meter.lost = False
        eventually(lambda: metering.status.link is LinkState.OK)
    assert [LinkState.OK, LinkState.LOST, LinkState.OK] == [status.link for status in links]
    assert (1, 1) == (meter.calls.count("prepare"), meter.calls.count("start"))
    assert IntegrationState.START is meter.state()


def test_meter_that_is_switched_on_later(meter):
    """Readings begin when a meter is switched on after the referee."""
    meter.lost = True
    with running(meter.open) as metering:
        eventually(lambda: metering.status.link is LinkState.LOST)
        meter.lost = False
        eventually(lambda: metering.status.link is LinkState.OK)
        assert 5 == metering.prepare(5).timer_s


def test_without_a_meter():
    """Without a meter every command does nothing, and there is no energy."""
    with running(None) as metering:
        assert LinkState.NONE is metering.status.link
        assert 30 == metering.prepare(30).timer_s
        assert (None, None, []) == (
            metering.start(),
            metering.stop(),
            metering.read_final(lambda seconds: None),
        )


@pytest.mark.parametrize("call", ["open", "read"])
def test_mistake_in_a_driver_does_not_end_the_thread(meter, call):
    """A driver's error counts as a lost link with its reason, and the thread tries again."""
    mistakes = [ZeroDivisionError("a mistake")]

    def open_meter():
        if call == "open" and mistakes:
            raise mistakes.pop()
        return meter.open()

    links = []
    with running(open_meter, links=links) as metering:
        if call == "read":
            eventually(lambda: metering.status.reading)
            meter.crash = mistakes.pop()
            eventually(lambda: metering.status.link is LinkState.LOST)
            meter.crash = None
        eventually(lambda: metering.status.link is LinkState.OK and links[-1].link is LinkState.OK)
    assert any("a mistake" in status.text for status in links)


def test_driver_that_cannot_even_be_closed(meter):
    """A reading and a close that both fail leave the thread alive and the status true."""

    class Broken:
        """A meter whose every call fails, `close` included."""

        def __getattr__(self, name):
            raise OSError(28, "No space left on device")

    broken, links = [Broken()], []
    with running(lambda: broken.pop() if broken else meter.open(), links=links) as metering:
        eventually(lambda: metering.status.link is LinkState.OK)
        eventually(lambda: metering.status.reading)
        assert 30 == metering.prepare(30).timer_s
    assert "No space left" in links[0].text


@pytest.mark.parametrize("sink", ["on_reading", "on_link"])
def test_sink_that_fails_is_no_lost_meter(meter, sink):
    """The link stays up when the disk refuses a reading or a notice."""

    def refuse(value):
        raise OSError(28, "No space left on device")

    metering = Metering(meter.open, SETTINGS, **{sink: refuse})
    metering.start_thread()
    try:
        eventually(lambda: metering.status.reading)
        assert LinkState.OK is metering.status.link
        assert 1 == meter.calls.count("open")
        assert 30 == metering.prepare(30).timer_s
    finally:
        metering.close()


def test_meter_whose_output_somebody_changed(meter):
    """Refused readings are reported, and the link still takes commands such as a stop."""
    links = []
    with running(meter.open, links=links) as metering:
        eventually(lambda: metering.status.reading)
        meter.crash = MeterRefused("the meter's output items are not ours")
        eventually(lambda: metering.status.text)
        assert LinkState.OK is metering.status.link
        metering.stop()
        meter.crash = None
        eventually(lambda: not metering.status.text)
    assert ["", "the meter's output items are not ours", ""] == [status.text for status in links]
    assert 1 == meter.calls.count("open")


def test_result_of_a_held_display(meter):
    """The thread corrects a meter that shows the wrong time, and reads again."""
    with running(meter.open) as metering:
        metering.prepare(30)
        metering.start()
        meter.clock.advance(30)
        metering.stop()
        metering.read_final(lambda seconds: None, 30.0)
        assert "arrange" not in meter.calls
        metering.read_final(lambda seconds: None, 20.0)
        assert "arrange" in meter.calls


def test_full_disk_costs_neither_link_nor_energy(tmp_path):
    """With a full disk under the wire log, readings go on and a whole run has its energy."""
    path, disk = tmp_path / "meter.jsonl", FullDisk()
    emulated = Interpreter(Instrument(Load(constant(5.0), volts=5.0), time.monotonic, Options()))
    log = WireLog(path)

    def open_meter():
        pause = threading.Event()
        return WT310(
            lambda: LoggedTransport(DirectTransport(emulated, pause.wait), log), sleep=pause.wait
        )

    readings, links = [], []
    try:
        with running(open_meter, readings, links) as metering:
            metering.prepare(1)
            disk.fill(path)
            metering.start()
            known = len(readings)
            eventually(lambda: len(readings) > known + 2)
            assert metering.stop() in (IntegrationState.STOP, IntegrationState.TIMEUP)
            final = metering.read_final(threading.Event().wait)
            disk.free()
            known = len(readings)
            eventually(lambda: len(readings) > known)
    finally:
        disk.free()
    assert [LinkState.OK] == [status.link for status in links]
    assert final[-1].energy_wh == final[-2].energy_wh > 0
    assert log.lost > 10
    assert f"{log.lost} records are missing" in path.read_text()
