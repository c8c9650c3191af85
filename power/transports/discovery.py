# SPDX-License-Identifier: Apache-2.0
"""Find meters: ask PyVISA, look at the USB and under /dev, and name what is missing."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from power.errors import MeterUnreachable

_YOKOGAWA = "0b21"
_SYS_USB = Path("/sys/bus/usb/devices")
_DEV = Path("/dev")
# pyvisa-py lists each serial port as an instrument, and once more as an adapter for GPIB.
_SERIAL, _ADAPTER = "ASRL", "PRLGX-ASRL"


@dataclass
class FoundMeters:
    """The resource strings that were found, and hints why others may be missing.

    `serial_ports` are no meters: nobody knows what is behind them.
    """

    resources: list[str] = field(default_factory=list)
    serial_ports: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def look(*, sys_usb: Path = _SYS_USB, dev: Path = _DEV) -> FoundMeters:
    """Return the resources that can be opened, and hints about the others."""
    result = FoundMeters()
    _ask_pyvisa(result)
    _set_apart_serial_ports(result)
    _look_at_usb(result, sys_usb, dev)
    if not result.resources:
        result.hints.append(
            "A meter on Ethernet is often not listed. Try TCPIP::ADDRESS::INSTR with the address "
            "that its panel shows."
        )
    return result


def _set_apart_serial_ports(result: FoundMeters) -> None:
    listed = result.resources
    result.resources = [one for one in listed if not one.startswith((_SERIAL, _ADAPTER))]
    result.serial_ports = [one for one in listed if one.startswith(_SERIAL)]
    if result.serial_ports:
        result.hints.append(
            "Serial ports are not listed, because nobody knows what is behind them. If a WT310 is, "
            f"name its port: {', '.join(result.serial_ports)}"
        )


def _ask_pyvisa(result: FoundMeters) -> None:
    try:
        import pyvisa
    except ImportError as error:
        raise MeterUnreachable(
            f"PyVISA is missing ({error}); install it with: pip install pyvisa pyvisa-py pyserial"
        ) from error
    library = os.environ.get("PYVISA_LIBRARY", "@py")
    with warnings.catch_warnings():
        # pyvisa-py warns about each missing optional package that would find more.
        warnings.simplefilter("ignore")
        try:
            result.resources = sorted(pyvisa.ResourceManager(library).list_resources("?*"))
        except Exception as error:  # every backend has its own tree of errors
            result.hints.append(f"PyVISA ({library}) cannot list resources: {error}")
    try:
        import usb.core

        usb.core.find()
    except ImportError:
        result.hints.append("USB meters are not looked for: pip install pyusb (the extra 'usb')")
    except usb.core.NoBackendError:
        result.hints.append("USB meters are not looked for: install libusb (Debian: libusb-1.0-0)")


def _look_at_usb(result: FoundMeters, sys_usb: Path, dev: Path) -> None:
    """Add a hint for a Yokogawa unit in the kernel's list that this user may not open."""
    for vendor in sorted(sys_usb.glob("*/idVendor")):
        if vendor.read_text().strip().lower() != _YOKOGAWA:
            continue
        unit = vendor.parent
        bus, number = (int((unit / name).read_text()) for name in ("busnum", "devnum"))
        node = dev / "bus" / "usb" / f"{bus:03d}" / f"{number:03d}"
        if not os.access(node, os.R_OK | os.W_OK):
            result.hints.append(
                f"A Yokogawa unit is on the USB, but {node} may not be opened: write the udev rule "
                'SUBSYSTEM=="usb", ATTR{idVendor}=="0b21", MODE="0660", GROUP="plugdev" into '
                "/etc/udev/rules.d/60-yokogawa.rules and plug it in again."
            )
