# SPDX-License-Identifier: Apache-2.0
"""A meter out of samples: real threads, and a Shelly on real HTTP."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from power.clock import real_elapsed_s
from power.connect import open_meter
from power.energy.judge import Verdict, judge_energy
from power.errors import (
    MeterBusy,
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterRestarted,
    MeterUnreachable,
)
from power.follow import read_final
from power.meter import (
    Identity,
    IntegrationState,
    Meter,
    MeterFlag,
    MeterSettings,
    Reading,
    Sampling,
)
from power.sampled.meter import SampledMeter
from power.sampled.source import Sample, Tools
from power.wt310.recorded import read_conversation
from tests.support.fakes import eventually
from tests.support.shelly_plug import ShellyPlug, serving

SETTINGS = MeterSettings(timer_s=1, update_interval_s=0.1)


class Scripted:
    """A device that a test commands; it is its own factory."""

    poll_s = 0.01
    counter_lag_s = 0.0
    counter_step_wh = 0.0

    def __init__(self) -> None:
        self.sampling = Sampling("scripted", 0.01, interval_s=0.01, longest_gap_s=0.3)
        self.identity = Identity("Acme", "P1", "1", "")
        self.fault: Exception | None = None
        # Faults of single readings, which are over then.
        self.once: list[MeterError] = []
        self.power_w = 5.0
        self.opened = self.closed = 0
        self.readers: set[str] = set()

    def open(self) -> Scripted:
        """Return this device, opened."""
        if self.fault is not None:
            raise self.fault
        self.opened += 1
        return self

    def read(self) -> Sequence[Sample]:
        """Return the power of now."""
        self.readers.add(threading.current_thread().name)
        if self.fault is not None:
            raise self.fault
        if self.once:
            raise self.once.pop()
        return [Sample(real_elapsed_s(), self.power_w)]

    def close(self) -> None:
        """Count the ends."""
        self.closed += 1


@pytest.fixture
def device() -> Scripted:
    """Return a device."""
    return Scripted()


@pytest.fixture
def meter(device: Scripted) -> Iterator[SampledMeter]:
    """Return the meter of that device."""
    made = SampledMeter(device.open, Tools())
    yield made
    made.close()


def followed(meter: Meter) -> list[Reading]:
    """Read until the integration has ended, and return all readings."""
    readings = [meter.read()]
    while readings[-1].state is IntegrationState.START:
        threading.Event().wait(0.05)
        readings.append(meter.read())
    return readings + read_final(meter.read, 0.1, time.sleep)


def test_a_run_on_a_shelly(tmp_path: Path) -> None:
    """A whole run on a plug has the energy of its power, and is not official."""
    plug = ShellyPlug()
    with serving(plug) as at:
        meter = open_meter(f"shelly:{at}?interval=0.1&accuracy=1", wire_log=tmp_path / "w.jsonl")
        try:
            settings = meter.prepare(MeterSettings(timer_s=1, update_interval_s=0.1))
            start = meter.start()
            readings = followed(meter)
            identity = meter.identify()
        finally:
            meter.close()
    result = judge_energy(readings, session_s=1.0, settings=settings, identity=identity)
    assert start.sent_s == start.written_s
    assert result.integrator_wh == pytest.approx(5 / 3600)
    assert result.integration_s == 1.0
    assert "not_official" in {it.code for it in result.findings}
    assert result.verdict is not Verdict.VALID
    conversation = read_conversation((tmp_path / "w.jsonl").read_bytes().splitlines(), "1")
    assert conversation.identities == [identity]
    assert [start.settings for start in conversation.starts] == [settings]
    assert [one.values[3] for one in conversation.readings] == [it.energy_wh for it in readings]


def test_one_thread_reads_and_it_ends_with_the_meter(device: Scripted, meter: SampledMeter) -> None:
    """The device belongs to the thread `device`, which closes it; close may come twice."""
    before = set(threading.enumerate())
    meter.attach()
    meter.close()
    meter.close()
    assert (device.readers, device.opened, device.closed) == ({"device"}, 1, 1)
    assert not set(threading.enumerate()) - before


def test_a_device_that_comes_back_leaves_a_gap(device: Scripted, meter: SampledMeter) -> None:
    """A device that is lost in a run is opened again; the run ends on time, and a flag says it."""
    meter.prepare(SETTINGS)
    meter.start()
    device.fault = MeterUnreachable("the cable is out")
    eventually(lambda: meter.read().absent.get("power_w", "").startswith("no sample for"))
    device.fault = None
    eventually(lambda: device.opened == 2)
    readings = followed(meter)
    assert readings[-1].state is IntegrationState.TIMEUP
    assert readings[-1].integration_s == 1.0
    assert MeterFlag.SAMPLES_MISSED in readings[-1].flags


def test_a_device_that_comes_back_with_coarser_steps_is_told(
    device: Scripted, meter: SampledMeter
) -> None:
    """In a run other steps are a flag, because its ± is that of before; the next run has them."""
    fine, coarse = device.sampling, replace(device.sampling, offset_w=1.0)
    assert meter.prepare(SETTINGS).sampling == fine
    meter.start()
    device.fault = MeterUnreachable("the cable is out")
    eventually(lambda: device.closed == 1)
    device.sampling, device.fault = coarse, None
    assert MeterFlag.SAMPLING_CHANGED in followed(meter)[-1].flags
    assert meter.prepare(SETTINGS).sampling == coarse
    meter.start()
    assert MeterFlag.SAMPLING_CHANGED not in followed(meter)[-1].flags


def test_the_user_may_state_the_accuracy(device: Scripted) -> None:
    """An accuracy that the user states replaces that of the driver, and says where it is from."""
    meter = SampledMeter(device.open, Tools(), accuracy=0.05)
    try:
        sampling = meter.prepare(SETTINGS).sampling
    finally:
        meter.close()
    assert sampling is not None
    assert sampling.of_reading == 0.05
    assert "option accuracy" in sampling.source


@pytest.mark.parametrize("watts", [math.nan, math.inf, 10**400])
def test_what_is_no_number_is_a_lost_device(
    device: Scripted, meter: SampledMeter, watts: float
) -> None:
    """A driver that passes on what is no number gets an error in its place."""
    meter.attach()
    device.power_w = watts
    eventually(lambda: "power_w" in _refusal(meter))


@pytest.mark.slow
def test_a_device_that_stays_away_ends_the_run_all_the_same(
    device: Scripted, meter: SampledMeter
) -> None:
    """Without any device the timer still ends the run, in bounded time, and the flag says it."""
    # The patience is the usual one, because the first samples need it too.
    meter.prepare(SETTINGS)
    meter.start()
    device.fault = MeterUnreachable("the cable is out")
    assert meter.stop() in (IntegrationState.STOP, IntegrationState.TIMEUP)
    assert MeterFlag.SAMPLES_MISSED in meter.read().flags


def test_another_device_in_its_place_is_not_taken(device: Scripted, meter: SampledMeter) -> None:
    """A device with another serial number that answers after a loss gives no samples."""
    meter.attach()
    device.fault = MeterUnreachable("the cable is out")
    eventually(lambda: _refusal(meter) == "the cable is out")
    device.identity, device.fault = Identity("Acme", "P1", "2", ""), None
    eventually(lambda: _refusal(meter) == "another device answers: 2")


def _refusal(meter: SampledMeter) -> str:
    try:
        meter.read()
    except (MeterUnreachable, MeterMismatch) as error:
        return str(error)
    return ""


def test_a_mistake_in_a_driver_is_a_lost_device(device: Scripted, meter: SampledMeter) -> None:
    """An error that is no meter's does not kill the thread; it is told, and tried again."""
    meter.attach()
    device.fault = ZeroDivisionError("oops")
    eventually(lambda: "oops" in _refusal(meter))
    device.fault = None
    eventually(lambda: _refusal(meter) == "")


def test_a_device_that_is_lost_at_rest_is_lost(device: Scripted, meter: SampledMeter) -> None:
    """Without an integration a lost device raises, so the referee shows it as lost."""
    device.fault = MeterReplyError("it talks nonsense")
    with pytest.raises(MeterReplyError):
        meter.identify()
    device.fault = None
    assert meter.attach() is IntegrationState.RESET


def test_a_stop_counts_to_its_moment(device: Scripted, meter: SampledMeter) -> None:
    """A stop returns STOP with the energy up to it, and a second one changes nothing."""
    meter.prepare(MeterSettings(timer_s=600, update_interval_s=0.1))
    start = meter.start()
    eventually(lambda: (meter.read().integration_s or 0.0) >= 0.2)
    assert meter.stop() is IntegrationState.STOP
    end_s = real_elapsed_s()
    first, last = meter.read(), meter.read()
    assert first.integration_s is not None and first.energy_wh is not None
    assert 0.2 <= first.integration_s <= end_s - start.sent_s
    assert first.energy_wh * 3600 == pytest.approx(5 * first.integration_s)
    assert (last.energy_wh, meter.stop()) == (first.energy_wh, IntegrationState.STOP)


def test_states_are_kept_apart(device: Scripted, meter: SampledMeter) -> None:
    """A running meter can be neither prepared nor started again; a stop before any run is RESET."""
    assert meter.stop() is IntegrationState.RESET
    meter.prepare(MeterSettings(timer_s=600, update_interval_s=0.1))
    meter.start()
    assert meter.attach() is IntegrationState.START
    with pytest.raises(MeterBusy):
        meter.start()
    with pytest.raises(MeterBusy):
        meter.prepare(SETTINGS)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"voltage_range_v": 150.0}, "no voltage range"),
        ({"current_range_a": 0.5}, "no current range"),
        ({"crest_factor": 6}, "no crest factor"),
        ({"line_filter": True}, "no line filter"),
        ({"element": "SIGMA"}, "no choice of elements"),
        ({"update_interval_s": 0.001}, "too short"),
    ],
)
def test_what_only_a_wt310_has_is_refused(
    meter: SampledMeter, setting: dict[str, object], said: str
) -> None:
    """A setting that the device cannot have is refused by its name."""
    with pytest.raises(MeterRefused, match=said):
        meter.prepare(MeterSettings(timer_s=1, **setting))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [MeterReplyError("nan W"), MeterBusy("429")])
def test_a_reply_that_is_no_sample_is_a_gap_and_the_device_stays_open(
    device: Scripted, meter: SampledMeter, error: MeterError
) -> None:
    """One bad reply in a run is told by a flag, and nothing is opened again."""
    meter.prepare(SETTINGS)
    meter.start()
    device.once = [error]
    flags = followed(meter)[-1].flags
    assert {MeterFlag.SAMPLES_LOST, MeterFlag.SAMPLES_MISSED} <= flags
    assert (device.opened, device.closed) == (1, 0)


def test_a_device_that_has_started_again_is_set_up_at_once(
    device: Scripted, meter: SampledMeter
) -> None:
    """It is opened again without any pause, the run goes on, and a flag says so."""
    meter.prepare(SETTINGS)
    meter.start()
    device.once = [MeterRestarted("the chip has started again")]
    last = followed(meter)[-1]
    assert last.energy_wh == pytest.approx(5 / 3600)
    assert MeterFlag.DEVICE_RESTARTED in last.flags
    assert device.opened == 2


def test_the_same_device_with_new_firmware_is_taken_back(
    device: Scripted, meter: SampledMeter
) -> None:
    """A device that came back with other firmware is the same one, and has started again."""
    meter.prepare(SETTINGS)
    meter.start()
    device.fault = MeterUnreachable("the link is out")
    eventually(lambda: device.closed == 1)
    device.identity, device.fault = replace(device.identity, firmware="2.0"), None
    last = followed(meter)[-1]
    assert MeterFlag.DEVICE_RESTARTED in last.flags
    assert meter.identify().firmware == "2.0"


def test_a_meter_that_shows_what_cannot_be_is_not_prepared(device: Scripted) -> None:
    """A device whose every power is beyond its rating says so before any run."""
    device.sampling = replace(device.sampling, most_w=100.0)
    device.power_w = 230_000.0
    meter = SampledMeter(device.open, Tools(), patience_s=0.2)
    try:
        with pytest.raises(MeterRefused, match="230000 W are more than the 100 W"):
            meter.prepare(SETTINGS)
    finally:
        meter.close()


def test_an_older_driver_works_and_has_no_second_witness(
    device: Scripted, meter: SampledMeter
) -> None:
    """A driver that tells nothing of counter or rating measures, and its energy says the rest."""
    settings = meter.prepare(SETTINGS)
    meter.start()
    readings = followed(meter)
    assert readings[-1].flags == {MeterFlag.NO_WITNESS}
    result = judge_energy(readings, session_s=1.0, settings=settings, identity=meter.identify())
    texts = {finding.code: finding.text for finding in result.findings}
    assert result.verdict is Verdict.SUSPECT
    assert "no second witness" in texts["no_witness"]
    assert "good enough" not in texts["not_official"]
