# SPDX-License-Identifier: Apache-2.0
"""The emulated meter on an imaginary USB: a backend of PyUSB that speaks USBTMC revision 1.0.

Put `UsbBackend(...)` in place of `usb.backend.libusb1.get_backend`. The kernel's side is left out.
The device describes itself as a real WT310 did: ids 0x0B21:0x0025, remote control by REN, and a
serial number that spells the nameplate's ASCII in hexadecimal digits.
"""

from __future__ import annotations

import errno
import struct
import threading
import time
from types import SimpleNamespace
from typing import Any

import usb.backend
import usb.core

from power.emulator.interpreter import Interpreter

VENDOR, PRODUCT = 0x0B21, 0x0025
_OUT, _IN, _INTERRUPT = 0x01, 0x82, 0x83
_PACKET_BYTES = 512
_SERIAL_INDEX = 3
# Message ids and class requests of USBTMC 1.0 (tables 2 and 15) and its USB488 subclass.
_MESSAGE_OUT, _REQUEST_IN = 1, 2
_ABORT_IN, _CHECK_ABORT_IN, _CLEAR, _CHECK_CLEAR = 3, 4, 5, 6
_CAPABILITIES, _STATUS_BYTE, _REN = 7, 128, 160
_SUCCESS = 1
_GET_DESCRIPTOR, _STRING = 6, 3
_HEADER = struct.Struct("<BBBxLBxxx")


class UsbBackend(usb.backend.IBackend):  # type: ignore[misc]
    """One meter on one imaginary bus."""

    def __init__(self, interpreter: Interpreter, guard: threading.Condition) -> None:
        super().__init__()
        self._interpreter = interpreter
        self._guard = guard
        self._asked: tuple[int, int] | None = None
        self._message = b""

    @property
    def serial(self) -> str:
        """Return the USB serial number: the nameplate's characters in hexadecimal."""
        return self._interpreter.instrument.serial.encode("ascii").hex().upper()

    @property
    def resource(self) -> str:
        """Return the resource string."""
        return f"USB0::0x{VENDOR:04X}::0x{PRODUCT:04X}::{self.serial}::INSTR"

    def enumerate_devices(self) -> list[str]:
        """Return the one device, or none while it is unplugged."""
        return [] if self._interpreter.instrument.faults.unplugged else ["meter"]

    def get_device_descriptor(self, dev: str) -> SimpleNamespace:
        """Return the device descriptor."""
        return SimpleNamespace(
            bLength=18,
            bDescriptorType=1,
            bcdUSB=0x0200,
            bDeviceClass=0,
            bDeviceSubClass=0,
            bDeviceProtocol=0,
            bMaxPacketSize0=64,
            idVendor=VENDOR,
            idProduct=PRODUCT,
            bcdDevice=0x0100,
            iManufacturer=1,
            iProduct=2,
            iSerialNumber=_SERIAL_INDEX,
            bNumConfigurations=1,
            address=1,
            bus=1,
            port_number=1,
            port_numbers=(1,),
            speed=3,
        )

    def get_configuration_descriptor(self, dev: str, config: int) -> SimpleNamespace:
        """Return the only configuration."""
        if config:
            raise IndexError(config)
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=2,
            wTotalLength=39,
            bNumInterfaces=1,
            bConfigurationValue=1,
            iConfiguration=0,
            bmAttributes=0xC0,
            bMaxPower=0,
            extra_descriptors=b"",
        )

    def get_interface_descriptor(
        self, dev: str, intf: int, alt: int, config: int
    ) -> SimpleNamespace:
        """Return the interface: class 0xFE, subclass 3 (USBTMC), protocol 1 (USB488)."""
        if intf or alt:
            raise IndexError(intf)
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=4,
            bInterfaceNumber=0,
            bAlternateSetting=0,
            bNumEndpoints=3,
            bInterfaceClass=0xFE,
            bInterfaceSubClass=3,
            bInterfaceProtocol=1,
            iInterface=0,
            extra_descriptors=b"",
        )

    def get_endpoint_descriptor(
        self, dev: str, ep: int, intf: int, alt: int, config: int
    ) -> SimpleNamespace:
        """Return bulk-out, bulk-in or interrupt-in."""
        address, attributes = ((_OUT, 2), (_IN, 2), (_INTERRUPT, 3))[ep]
        return SimpleNamespace(
            bLength=7,
            bDescriptorType=5,
            bEndpointAddress=address,
            bmAttributes=attributes,
            wMaxPacketSize=_PACKET_BYTES,
            bInterval=1,
            bRefresh=0,
            bSynchAddress=0,
            extra_descriptors=b"",
        )

    def open_device(self, dev: str) -> str:
        """Return the device as its own handle."""
        return dev

    def close_device(self, dev_handle: str) -> None:
        """Do nothing: an unread reply stays in the meter."""

    def set_configuration(self, dev_handle: str, config_value: int) -> None:
        """Accept the only configuration."""

    def get_configuration(self, dev_handle: str) -> int:
        """Return the active configuration."""
        return 1

    def set_interface_altsetting(self, dev_handle: str, intf: int, altsetting: int) -> None:
        """Accept the only setting."""

    def claim_interface(self, dev_handle: str, intf: int) -> None:
        """Accept the claim: there is only one client."""

    def release_interface(self, dev_handle: str, intf: int) -> None:
        """Accept the release."""

    def is_kernel_driver_active(self, dev_handle: str, intf: int) -> bool:
        """Tell that no kernel driver holds the meter."""
        return False

    def clear_halt(self, dev_handle: str, ep: int) -> None:
        """Do nothing: no endpoint ever halts."""

    def bulk_write(self, dev_handle: str, ep: int, intf: int, data: Any, timeout: int) -> int:
        """Take a transfer: a part of a message, or the request for a reply."""
        raw = bytes(data)
        kind, tag, _, size, attributes = _HEADER.unpack_from(raw)
        with self._guard:
            self._check_link(timeout)
            if kind == _MESSAGE_OUT:
                self._message += raw[12 : 12 + size]
                if attributes & 1:
                    message, self._message = self._message, b""
                    self._interpreter.receive(message)
            elif kind == _REQUEST_IN:
                self._asked = (tag, size)
        return len(raw)

    def bulk_read(self, dev_handle: str, ep: int, intf: int, buff: Any, timeout: int) -> int:
        """Give the requested reply, or run into the time-out."""
        deadline_s = time.monotonic() + timeout / 1000
        with self._guard:
            self._check_link(timeout)
            while True:
                tag, size = self._asked or (0, 0)
                reply = self._interpreter.fetch(size) if self._asked else None
                if reply is not None:
                    break
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    self._interpreter.unterminated()
                    raise usb.core.USBTimeoutError("timed out", errno=errno.ETIMEDOUT)
                self._guard.wait(min(left_s, 0.01))
        self._asked = None
        data, ended = reply
        packet = _HEADER.pack(_REQUEST_IN, tag, ~tag & 0xFF, len(data), int(ended)) + data
        packet += bytes(-len(packet) % 4)
        buff[: len(packet)] = type(buff)("B", packet)
        return len(packet)

    def ctrl_transfer(
        self,
        dev_handle: str,
        bmRequestType: int,  # noqa: N803 (PyUSB's own names)
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: Any,
        timeout: int,
    ) -> int:
        """Answer string descriptors and the class requests of USBTMC and USB488."""
        answer = self._control(bRequest, wValue)
        length = min(len(answer), len(data))
        data[:length] = type(data)("B", answer[:length])
        return length

    def _control(self, request: int, value: int) -> bytes:
        if request == _GET_DESCRIPTOR and value >> 8 == _STRING:
            return self._string(value & 0xFF)
        with self._guard:
            if request == _CLEAR:
                self._interpreter.clear()
            elif request == _ABORT_IN:
                self._asked = None
                # The abort ends every transfer, so no reply is left to be read.
                return bytes((0x81, value & 0xFF))
            elif request == _REN:
                self._interpreter.instrument.communication.remote = bool(value)
            elif request == _STATUS_BYTE:
                return bytes((_SUCCESS, value & 0xFF, self._interpreter.status_byte()))
        if request == _CAPABILITIES:
            # USBTMC 1.0, no indicator pulse; USB488 with REN_CONTROL, no trigger.
            return bytes((_SUCCESS, 0, 0, 1, 0, 0, *bytes(6), 0, 1, 0b110, 0, *bytes(8)))
        return bytes((_SUCCESS, 0))

    def _string(self, index: int) -> bytes:
        if index == 0:
            return bytes((4, _STRING)) + struct.pack("<H", 0x0409)
        texts = {1: "Yokogawa", 2: "WT300", _SERIAL_INDEX: self.serial}
        body = texts.get(index, "").encode("utf-16-le")
        return bytes((2 + len(body), _STRING)) + body

    def _check_link(self, timeout_ms: int) -> None:
        self._interpreter.pump()
        faults = self._interpreter.instrument.faults
        if faults.unplugged:
            raise usb.core.USBError("no such device", errno=errno.ENODEV)
        if faults.hanging:
            self._guard.wait(timeout_ms / 1000)
            raise usb.core.USBTimeoutError("timed out", errno=errno.ETIMEDOUT)
