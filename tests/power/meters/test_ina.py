# SPDX-License-Identifier: Apache-2.0
"""The drivers of INA228 and INA219 on register files that follow the data sheets."""

from __future__ import annotations

import sys
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.errors import (
    MeterError,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterRestarted,
    MeterUnreachable,
)
from power.follow import read_final
from power.meter import IntegrationState, MeterFlag, MeterSettings
from power.meters.ina import Ina219Source, Ina228Source, InaBoard, open_smbus
from power.resource import parse_resource
from power.sampled.meter import SampledMeter
from power.sampled.source import Tools
from tests.support.ina_chips import ChipBus, Ina219Chip, Ina228Chip

TOOLS = Tools(clock=lambda: 12.5)


def board(kind: str, options: str, bus: ChipBus) -> Ina228Source | Ina219Source:
    """Return the driver of a chip at address 0x40 of a bus."""
    resource = parse_resource(f"{kind}:1/0x40?{options}")
    assert resource is not None
    source = Ina228Source if kind == "ina228" else Ina219Source
    return source(resource, TOOLS, lambda number: bus)


def ina228(options: str = "shunt=0.015&max=10", ohm: F = F(15, 1000)) -> tuple[Ina228Chip, ChipBus]:
    """Return a chip and its bus."""
    chip = Ina228Chip(ohm)
    return chip, ChipBus({0x40: chip})


def test_the_example_of_the_data_sheet() -> None:
    """The set-up of the data sheet's example, 10 A on 16.2 mΩ, gives its SHUNT_CAL of 4050."""
    chip, bus = ina228(ohm=F(162, 10_000))
    board("ina228", "shunt=0.0162&max=10", bus)
    assert chip.registers == {0x00: 0, 0x01: 0xBB6A, 0x02: 4050, 0x03: 0}


@given(st.integers(0, 85_000), st.integers(-9_990, 9_990))
def test_every_load_reads_as_it_is(millivolts: int, milliamperes: int) -> None:
    """Voltage, current and power of any load come back within a step of their registers."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    chip.volts, chip.amperes = F(millivolts, 1000), F(milliamperes, 1000)
    (sample,) = source.read()
    watts = millivolts * milliamperes / 1e6
    assert sample.at_s == 12.5
    assert sample.voltage_v == pytest.approx(millivolts / 1000, abs=2e-4)
    # SHUNT_CAL is a whole number, so a step is right to half a part of 3932.
    assert sample.current_a == pytest.approx(milliamperes / 1000, rel=2e-4, abs=4e-5)
    assert sample.power_w == pytest.approx(watts, rel=2e-4, abs=1.3e-4)
    assert not sample.over_range


@pytest.mark.parametrize(
    ("options", "ohm"),
    [
        ("shunt=0.0005&max=0.337", F(5, 10_000)),
        ("shunt=0.001&max=0.33", F(1, 1000)),
        ("shunt=0.00025&max=1.1", F(25, 100_000)),
    ],
)
def test_a_calibration_that_is_rounded_much_changes_no_power(options: str, ohm: F) -> None:
    """With a small shunt SHUNT_CAL is a small whole number, and a step is what that makes of it."""
    chip, bus = ina228(ohm=ohm)
    source = board("ina228", options, bus)
    assert 10 < chip.registers[0x02] < 150
    chip.volts, chip.amperes = F(5), F(3, 10)
    before_wh = source.read()[0].counter_wh
    chip.pass_s(F(3600))
    (sample,) = source.read()
    assert sample.power_w == pytest.approx(1.5, rel=1e-3)
    assert sample.current_a == pytest.approx(0.3, rel=1e-3)
    assert sample.counter_wh is not None and before_wh is not None
    assert sample.counter_wh - before_wh == pytest.approx(1.5, rel=1e-3)


def test_a_chip_whose_trimming_is_damaged_says_so() -> None:
    """What the chip tells of its own memory becomes the fault of each sample."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    assert source.read()[0].fault == ""
    chip.memory_good = False
    assert "MEMSTAT" in source.read()[0].fault


def test_a_small_drop_takes_the_finer_range() -> None:
    """A largest current that drops 40 mV at most takes ADCRANGE and four times the calibration."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=2.5", bus)
    assert chip.registers[0x00] == 1 << 4
    assert chip.registers[0x02] == round(13107.2e6 * 2.5 / 2**19 * 0.015 * 4)
    chip.volts, chip.amperes = F(5), F(1)
    assert source.read()[0].power_w == pytest.approx(5, rel=3e-4)


def test_the_energy_register_is_counted_over_its_wrap() -> None:
    """The counter of 40 bits goes on over its end; one joule is one joule."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    chip.volts, chip.amperes = F(10), F(3)
    chip.energy_steps = F((1 << 40) - 5)
    first = source.read()[0].counter_wh
    chip.pass_s(F(3600))
    last = source.read()[0].counter_wh
    assert chip.energy_steps > 1 << 40
    assert first is not None and last is not None
    assert last - first == pytest.approx(30, rel=3e-4)


def test_what_is_too_much_is_over_range() -> None:
    """A current at the end of its register, and an overflow that the chip tells, are over range."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    chip.volts, chip.amperes = F(10), F(11)
    assert source.read()[0].over_range
    chip.amperes = F(1)
    assert not source.read()[0].over_range
    chip.overflow = True
    assert source.read()[0].over_range


def test_a_reversed_current_takes_power_away() -> None:
    """The power register has no sign; a current below zero gives one."""
    chip, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    chip.volts, chip.amperes = F(5), F(-2)
    assert source.read()[0].power_w == pytest.approx(-10, rel=3e-4)


@given(st.integers(0, 26_000), st.integers(-3_100, 3_100))
def test_an_ina219_reads_its_load(millivolts: int, milliamperes: int) -> None:
    """An INA219's power is voltage times current, within a step of both."""
    chip = Ina219Chip(F(1, 10))
    source = board("ina219", "shunt=0.1&max=3.2", ChipBus({0x40: chip}))
    chip.volts, chip.amperes = F(millivolts, 1000), F(milliamperes, 1000)
    (sample,) = source.read()
    assert sample.voltage_v == pytest.approx(millivolts / 1000, abs=4.1e-3)
    assert sample.current_a == pytest.approx(milliamperes / 1000, abs=1.1e-4)
    assert sample.voltage_v is not None and sample.current_a is not None
    assert sample.power_w == pytest.approx(sample.voltage_v * sample.current_a)
    assert chip.registers[0x00] == 0x3FFF


def test_an_ina219_over_its_range() -> None:
    """The end of the shunt's range, and the overflow bit, are over range."""
    chip = Ina219Chip(F(1, 10))
    source = board("ina219", "shunt=0.1&max=3.2", ChipBus({0x40: chip}))
    chip.volts, chip.amperes = F(5), F(33, 10)
    assert source.read()[0].over_range
    chip.amperes, chip.overflow = F(1), True
    assert source.read()[0].over_range


def test_another_chip_is_refused_and_its_bus_released() -> None:
    """A chip that does not say that it is an INA228 is named, and nothing is written to it."""
    chip = Ina228Chip(F(15, 1000))
    chip.read = lambda register: b"\x12\x34"  # type: ignore[method-assign]
    before, bus = dict(chip.registers), ChipBus({0x40: chip})
    with pytest.raises(MeterMismatch, match=r"i2c-1/0x40 is no INA228: it says 0x1234"):
        board("ina228", "shunt=0.015&max=10", bus)
    assert (chip.registers, bus.closed) == (before, 1)


def test_a_setting_that_does_not_stay_is_refused() -> None:
    """A register that reads differently from what was written is named."""
    chip, bus = ina228()
    chip.write = lambda register, content: None  # type: ignore[method-assign]
    with pytest.raises(MeterReplyError, match=r"register 0x01 reads 0xfb68"):
        board("ina228", "shunt=0.015&max=10", bus)


DELIVERED = {
    "ina228": {0x00: 0, 0x01: 0xFB68, 0x02: 0x1000},
    "ina219": {0x00: 0x399F, 0x05: 0},
}


def a_chip(kind: str) -> tuple[Ina228Chip | Ina219Chip, ChipBus, str]:
    """Return a chip on 0.1 Ω with 5 V and 1 A, its bus, and its options."""
    chip = Ina228Chip(F(1, 10)) if kind == "ina228" else Ina219Chip(F(1, 10))
    chip.volts, chip.amperes = F(5), F(1)
    return chip, ChipBus({0x40: chip}), "shunt=0.1&max=1.6&interval=0.05"


@pytest.mark.parametrize("kind", ["ina228", "ina219"])
def test_a_chip_that_has_started_again_is_told(kind: str) -> None:
    """No sample of a chip counts whose settings are those of its delivery."""
    chip, bus, options = a_chip(kind)
    source = board(kind, options, bus)
    assert [sample.power_w for sample in source.read()] == [pytest.approx(5, rel=1e-3)]
    chip.registers.update(DELIVERED[kind])
    with pytest.raises(MeterRestarted, match="at 0x40 on I2C bus 1 has started again"):
        source.read()


def test_an_energy_counter_that_falls_is_a_chip_that_has_started_again() -> None:
    """The accumulator of 40 bits is full after months, so a fall is none of its wraps."""
    chip, bus, options = a_chip("ina228")
    now = [0.0]
    resource = parse_resource(f"ina228:1/0x40?{options}")
    assert resource is not None and isinstance(chip, Ina228Chip)
    source = Ina228Source(resource, Tools(clock=lambda: now[0]), lambda number: bus)
    for energy in (F(1000), F(0)):
        chip.energy_steps = energy
        now[0] += 0.1
        if energy:
            source.read()
    with pytest.raises(MeterRestarted, match="energy counter of i2c-1/0x40 has begun anew"):
        source.read()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ina228", "ina219"])
@pytest.mark.parametrize("before_the_run", [True, False])
def test_a_restart_costs_no_run(kind: str, before_the_run: bool) -> None:
    """A chip that starts again is set up again: unseen before a run, told within it."""
    chip, bus, options = a_chip(kind)
    resource = parse_resource(f"{kind}:1/0x40?{options}")
    assert resource is not None
    kinds = {"ina228": Ina228Source, "ina219": Ina219Source}
    meter = SampledMeter(lambda: kinds[kind](resource, Tools(), lambda number: bus), Tools())
    try:
        meter.attach()
        if before_the_run:
            chip.registers.update(DELIVERED[kind])
        meter.prepare(MeterSettings(timer_s=1, update_interval_s=0.1))
        meter.start()
        if not before_the_run:
            chip.registers.update(DELIVERED[kind])
        while meter.read().state is IntegrationState.START:
            Tools().sleep(0.05)
        last = read_final(meter.read, 0.1, Tools().sleep)[-1]
    finally:
        meter.close()
    assert last.energy_wh == pytest.approx(5 / 3600, rel=1e-3)
    assert (MeterFlag.DEVICE_RESTARTED in last.flags) is not before_the_run


def test_a_chip_that_a_kernel_driver_has_says_so() -> None:
    """Errno 16 is told with the command that releases the chip."""
    _, bus, options = a_chip("ina219")

    def busy(address: int, register: int, content: list[int]) -> None:
        raise OSError(16, "Device or resource busy")

    bus.write_i2c_block_data = busy  # type: ignore[method-assign]
    with pytest.raises(MeterRefused, match=r"a kernel driver has the chip .*echo 1-0040 \|"):
        board("ina219", options, bus)


def test_a_chip_that_is_unplugged_is_named() -> None:
    """A chip that does not answer is a lost meter, with its place in the sentence."""
    _, bus = ina228()
    source = board("ina228", "shunt=0.015&max=10", bus)
    bus.unplugged = True
    with pytest.raises(MeterUnreachable, match="nothing answers at 0x40 on I2C bus 1"):
        source.read()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ina228:1/0x40?max=10", "needs the option shunt"),
        ("ina228:x?shunt=0.1&max=1", "names no chip"),
        ("ina228:1/0x78?shunt=0.1&max=1", "names no chip"),
        ("ina228:1?shunt=0.1&max=2", "200 mV, and an INA228 measures 164 mV"),
        ("ina219:1?shunt=0.1&max=4", "400 mV, and an INA219 measures 320 mV"),
        ("ina228:1?shunt=0.001&max=0.001", "does not fit"),
        ("ina228:1?shunt=0.015&max=10&gain=2", "no option 'gain'"),
        ("ina228:1?shunt=0.015&max=10&interval=0", "interval=0"),
    ],
)
def test_a_wrong_resource_string_says_why(text: str, said: str) -> None:
    """What a resource string of a chip lacks is told before any bus is opened."""
    resource = parse_resource(text)
    assert resource is not None
    with pytest.raises(ValueError, match=said):
        InaBoard.of(resource)


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without smbus2 a sentence says what to install."""
    monkeypatch.setitem(sys.modules, "smbus2", None)
    with pytest.raises(MeterError, match="pip install smbus2"):
        open_smbus(1)


def test_a_missing_bus_is_named() -> None:
    """A bus that this computer does not have is named."""
    with pytest.raises(MeterUnreachable, match="/dev/i2c-999 cannot be opened"):
        open_smbus(999)
