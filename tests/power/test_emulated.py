# SPDX-License-Identifier: Apache-2.0
"""An emulator is known by its serial number, or by an address on this machine."""

from __future__ import annotations

import pytest

from power.emulated import is_emulated
from power.emulator.instrument import serial_at
from power.meter import Identity

REAL = Identity("YOKOGAWA", "WT310", "C2QJ00001V", "F1.03")
EMULATOR = Identity("YOKOGAWA", "WT310", serial_at("anywhere"), "F1.03")


@pytest.mark.parametrize(
    "resource",
    [
        "emulated",
        "TCPIP::127.0.0.1,49152::inst0::INSTR",
        "tcpip0::127.0.0.1::instr",
        "TCPIP::127.8.9.10::inst0::INSTR",
        "TCPIP::127.1::INSTR",
        "TCPIP::localhost::5025::SOCKET",
        "TCPIP::LOCALHOST.,4000::inst0::INSTR",
        "TCPIP::[::1]::inst0::INSTR",
        "TCPIP::::1::INSTR",
        "TCPIP::[::ffff:127.0.0.1],4000::INSTR",
        "TCPIP::0.0.0.0::INSTR",
        "TCPIP::127.0.0.1::hislip0::INSTR",
    ],
)
def test_an_address_on_this_machine_is_an_emulator(resource: str) -> None:
    """No WT300 runs on this machine, so a loopback address counts as emulated in any spelling."""
    assert is_emulated(resource, None)
    assert is_emulated(resource, REAL)


@pytest.mark.parametrize(
    "resource",
    [
        "none",
        "TCPIP::192.168.1.3::inst0::INSTR",
        "TCPIP::10.127.0.1,4000::inst0::INSTR",
        "TCPIP::localhost.example.org::INSTR",
        "TCPIP::[fe80::1]::INSTR",
        "USB0::0x0B21::0x0025::127.0.0.1::INSTR",
        "ASRL/dev/ttyUSB0::INSTR@38400",
        "shelly:127.0.0.1",
    ],
)
def test_any_other_address_counts_by_the_meter_behind_it(resource: str) -> None:
    """Elsewhere the serial number tells; while nobody knows it, the meter passes for real."""
    assert not is_emulated(resource, None)
    assert not is_emulated(resource, REAL)
    assert is_emulated(resource, EMULATOR)
