# SPDX-License-Identifier: Apache-2.0
"""The search for meters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from power.transports import discovery


@pytest.fixture
def quiet_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep PyVISA from asking the network."""
    monkeypatch.setattr(discovery, "_ask_pyvisa", lambda found: None)


def unit(sys_usb: Path, vendor: str) -> None:
    """Add a unit to a folder that looks like the kernel's list."""
    folder = sys_usb / "1-2"
    folder.mkdir(parents=True)
    for name, text in (("idVendor", vendor), ("busnum", "1"), ("devnum", "7")):
        (folder / name).write_text(text + "\n")


def test_a_unit_that_may_not_be_opened_needs_a_rule(quiet_bus: Any, tmp_path: Path) -> None:
    """A unit that this user may not open gets a hint with the udev rule and the device node."""
    unit(tmp_path / "usb", "0b21")
    hints = " ".join(discovery.look(sys_usb=tmp_path / "usb", dev=tmp_path).hints)
    assert 'ATTR{idVendor}=="0b21"' in hints
    assert "bus/usb/001/007" in hints


def test_a_unit_of_somebody_else_needs_none(quiet_bus: Any, tmp_path: Path) -> None:
    """Units of other vendors get no hint."""
    unit(tmp_path / "usb", "046d")
    hints = " ".join(discovery.look(sys_usb=tmp_path / "usb", dev=tmp_path).hints)
    assert "udev" not in hints
    assert "TCPIP::ADDRESS::INSTR" in hints


def test_a_unit_that_may_be_opened_needs_none(quiet_bus: Any, tmp_path: Path) -> None:
    """A unit that this user may open gets no hint."""
    unit(tmp_path / "usb", "0b21")
    node = tmp_path / "bus" / "usb" / "001" / "007"
    node.parent.mkdir(parents=True)
    node.write_text("")
    hints = " ".join(discovery.look(sys_usb=tmp_path / "usb", dev=tmp_path).hints)
    assert "udev" not in hints


def test_a_serial_port_is_no_meter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ports and the adapters that PyVISA makes of them are a hint, and no meters."""

    def ask(found: discovery.FoundMeters) -> None:
        found.resources = [
            "ASRL/dev/ttyUSB0::INSTR",
            "PRLGX-ASRL::/dev/ttyUSB0::INTFC",
            "TCPIP::192.0.2.5::INSTR",
        ]

    monkeypatch.setattr(discovery, "_ask_pyvisa", ask)
    found = discovery.look(sys_usb=tmp_path, dev=tmp_path)
    assert found.resources == ["TCPIP::192.0.2.5::INSTR"]
    assert found.serial_ports == ["ASRL/dev/ttyUSB0::INSTR"]
    assert "nobody knows what is behind them" in " ".join(found.hints)


def test_pyvisa_lists_the_usb(usb_meter: Any) -> None:
    """PyVISA lists the emulated unit with vendor, product and hexadecimal serial number."""
    import pyvisa

    found = pyvisa.ResourceManager("@py").visalib.sessions  # This loads the library.
    assert found is not None
    from pyvisa_py.usb import USBInstrSession

    assert ["USB0::2849::37::454D55303030303030::0::INSTR"] == USBInstrSession.list_resources()
