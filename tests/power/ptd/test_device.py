# SPDX-License-Identifier: Apache-2.0
"""PTDaemon's flags name a meter as PyVISA does."""

from __future__ import annotations

import pytest

from power.ptd.device import device_type, resource_of


@pytest.mark.parametrize(
    ("flag", "port", "resource"),
    [
        ("", "/dev/ttyUSB0", "ASRL/dev/ttyUSB0::INSTR"),
        ("", "COM1", "ASRLCOM1::INSTR"),
        ("", "/dev/ttyS0@38400,7E1", "ASRL/dev/ttyS0::INSTR@38400,7E1"),
        ("n", "192.168.1.123", "TCPIP::192.168.1.123::INSTR"),
        ("n", "127.0.0.1,40123", "TCPIP::127.0.0.1,40123::inst0::INSTR"),
        ("y", "192.168.1.123", "TCPIP::192.168.1.123::INSTR"),
        ("y", "C2PH13047V", "USB::0x0B21::0x0025::C2PH13047V::INSTR"),
        ("U", "C2PH13047V", "USB::0x0B21::0x0025::C2PH13047V::INSTR"),
        ("g", "07", "GPIB2::7::INSTR"),
        ("n", "TCPIP::10.0.0.5::INSTR", "TCPIP::10.0.0.5::INSTR"),
        ("", "GPIB0::1::INSTR", "GPIB0::1::INSTR"),
    ],
)
def test_flag_and_port_name_a_resource(flag: str, port: str, resource: str) -> None:
    """Each interface flag has its form of a port; a resource string stays as it is."""
    assert resource == resource_of(flag, port, board=2)


@pytest.mark.parametrize(
    ("flag", "port", "why"),
    [
        ("", "", "no device port"),
        ("n", "10.0.0.5 \n", "no device port"),
        ("U", "/dev/usbtmc0", "give the meter's serial number"),
        ("g", "31", "no GPIB address"),
        ("g", "one", "no GPIB address"),
    ],
)
def test_a_port_that_does_not_fit_is_refused(flag: str, port: str, why: str) -> None:
    """The sentence says what to give."""
    with pytest.raises(ValueError, match=why):
        resource_of(flag, port)


def test_device_types_are_those_of_the_meters_that_are_driven() -> None:
    """49 and 52 are one and several elements; the flag for direct current makes 549 and 586."""
    assert ("YokogawaWT310", False) == (device_type(49).name, device_type(49).direct_current)
    assert device_type(52).several
    assert (549, 586) == tuple(
        device_type(number, direct_current=True).number for number in (49, 52)
    )
    assert device_type(549, direct_current=True).direct_current
    with pytest.raises(ValueError, match="device type 8 is not driven here; choose one of 49"):
        device_type(8)
