# SPDX-License-Identifier: Apache-2.0
"""The emulated RS-232 line."""

from __future__ import annotations

import os
import tty
from collections.abc import Iterator
from typing import Any

import pytest

from power.errors import MeterSilent
from power.transports.visa import VisaTransport


@pytest.fixture
def line(serial_meter: Any) -> Iterator[int]:
    """Return a descriptor of the line's other end."""
    descriptor = os.open(serial_meter.device, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(descriptor)
    yield descriptor
    os.close(descriptor)


def read_line(descriptor: int) -> bytes:
    """Return one reply."""
    reply = b""
    while not reply.endswith(b"\n"):
        reply += os.read(descriptor, 100)
    return reply


def test_replies_end_with_cr_lf(line: int) -> None:
    """Replies end with CR LF, as delivered; messages may end with CR LF or LF."""
    os.write(line, b"*IDN?\r\n")
    assert b"YOKOGAWA,WT310,C2PH00000E,F1.03\r\n" == read_line(line)
    os.write(line, b"*OPT?\n")
    assert b"C1,C7,EX2,G5,DA4\r\n" == read_line(line)


def test_more_than_the_buffer_is_lost_and_reported(line: int) -> None:
    """Bytes beyond 256 are discarded with any handshake, and reported (page 3-7)."""
    os.write(line, b":INP:MODE RMS;" * 30 + b"\n")
    os.write(line, b":STAT:ERR?\n")
    assert b'390,"Overrun error (only RS-232)"\r\n' == read_line(line)


def test_a_silent_line_is_a_time_out_and_a_late_reply_is_flushed(serial_meter: Any) -> None:
    """A reply that is late raises MeterSilent, and clear drops it when it comes."""
    transport = VisaTransport(serial_meter.resource)
    try:
        with pytest.raises(MeterSilent):
            transport.read(0.05)
        transport.write("*IDN?")
        assert transport.read(20.0).startswith(b"YOKOGAWA")
        transport.clear()
    finally:
        transport.close()
