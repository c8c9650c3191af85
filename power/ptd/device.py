# SPDX-License-Identifier: Apache-2.0
"""PTDaemon's device types and interface flags, and the PyVISA resources they stand for; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from power.meter import InputMode

VERSION = "1.11.1-00000000-19700101"
"""The version in the answer to `Identify`.

Clients refuse versions that they do not know: power-dev takes 1.11.1 alone, SPEC CPU 1.9.1 or
later. So the first part names the release whose protocol is spoken. The checksum and the day belong
to no release of PTDaemon.
"""


@dataclass(frozen=True)
class DeviceType:
    """A device type: its number, PTDaemon's name for it, and which meters it fits.

    `several` tells meters with several elements, of which `-c` chooses one.
    """

    number: int
    name: str
    several: bool
    mode: InputMode = InputMode.RMS

    @property
    def direct_current(self) -> bool:
        """Tell whether it measures direct current."""
        return self.mode is InputMode.DC


# The numbers and names of `SUPPORTED_MODEL` in power-dev's compliance/check.py.
DEVICE_TYPES = {
    device.number: device
    for device in (
        DeviceType(49, "YokogawaWT310", several=False),
        DeviceType(52, "YokogawaWT330", several=True),
        DeviceType(549, "YokogawaWT310_DC", several=False, mode=InputMode.DC),
        DeviceType(586, "YokogawaWT330_DC", several=True, mode=InputMode.DC),
    )
}

# What the flag `-D` makes of a type.
_DIRECT = {49: 549, 52: 586}

OTHER = 0
"""The type of a meter that SPEC does not know: PTDaemon's dummy, with which no run counts."""

_EMULATOR = re.compile(r"(?P<host>[^\s:,]+),(?P<port>\d{1,5})")
_YOKOGAWA_USB = "USB::0x0B21::0x0025::{}::INSTR"


def device_type(number: int, *, direct_current: bool = False) -> DeviceType:
    """Return a device type; one that this program does not drive is a ValueError.

    `direct_current` is the flag `-D`: type 49 becomes 549.
    """
    if direct_current:
        number = _DIRECT.get(number, number)
    if number not in DEVICE_TYPES:
        known = ", ".join(f"{one.number} ({one.name})" for one in DEVICE_TYPES.values())
        raise ValueError(f"device type {number} is not driven here; choose one of {known}")
    return DEVICE_TYPES[number]


def resource_of(flag: str, port: str, board: int = 0) -> str:
    """Return the PyVISA resource for an interface flag and a device port.

    A port that is a resource string already stays as it is, whatever the flag. `-n` takes a host,
    or HOST,PORT as an emulator has it; `-y` a host or a serial number; `-U` a serial number; `-g`
    an address on a GPIB board; no flag is a serial line, whose settings may stand behind `@` as
    `power.resource` reads them. A port that does not fit is a ValueError.
    """
    if "::" in port:
        return port
    if not port or any(character.isspace() for character in port):
        raise ValueError(f"{port!r} is no device port")
    if flag == "n" or (flag == "y" and "." in port):
        emulator = _EMULATOR.fullmatch(port)
        return f"TCPIP::{port}::inst0::INSTR" if emulator else f"TCPIP::{port}::INSTR"
    if flag in ("y", "U"):
        if "/" in port:
            raise ValueError(
                f"{port} is a device file; give the meter's serial number, which `python -m power "
                "list` shows"
            )
        return _YOKOGAWA_USB.format(port)
    if flag == "g":
        if not (port.isdigit() and 0 <= int(port) <= 30):
            raise ValueError(f"{port!r} is no GPIB address from 0 to 30")
        return f"GPIB{board}::{int(port)}::INSTR"
    name, at, line = port.partition("@")
    return f"ASRL{name}::INSTR{at}{line}"
