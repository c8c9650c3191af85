# SPDX-License-Identifier: Apache-2.0
"""The driver's port of a serial line, on pyserial's own port that takes every setting."""

from __future__ import annotations

from typing import Any

import pytest
from pyvisa.constants import ControlFlow, Parity, StopBits

from power.resource import TERMINATORS
from power.transports.visa import VisaTransport

ONE, TWO = StopBits.one, StopBits.two


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("8N1", (9600, 8, Parity.none, ONE, ControlFlow.none)),
        ("7O1,1200,RTS-CTS", (1200, 7, Parity.odd, ONE, ControlFlow.rts_cts)),
        ("7E1,57600,XON-XOFF", (57600, 7, Parity.even, ONE, ControlFlow.xon_xoff)),
        ("7N2,NONE", (9600, 7, Parity.none, TWO, ControlFlow.none)),
    ],
)
def test_the_port_is_set_like_the_meter(words: str, wanted: tuple[Any, ...]) -> None:
    """Speed, bits, parity, stop bits and handshake reach the port, for each format of the menu."""
    transport = VisaTransport(f"ASRLloop://::INSTR@{words}")
    port = transport._inst
    found = (port.baud_rate, port.data_bits, port.parity, port.stop_bits, port.flow_control)
    transport.close()
    assert wanted == found


@pytest.mark.parametrize("terminator", TERMINATORS)
def test_a_reply_ends_with_the_terminator(terminator: str) -> None:
    """Two replies are taken apart at each of the meter's terminators."""
    end = TERMINATORS[terminator]
    transport = VisaTransport(f"ASRLloop://::INSTR@{terminator}")
    try:
        transport._inst.write_raw(b"first" + end + b"second" + end)
        assert [b"first" + end, b"second" + end] == [transport.read(1.0) for _ in range(2)]
    finally:
        transport.close()


def test_a_message_ends_with_a_line_feed() -> None:
    """A message ends with LF under every terminator, since the meter takes it (page 3-8)."""
    for terminator in TERMINATORS:
        transport = VisaTransport(f"ASRLloop://::INSTR@{terminator}")
        transport.write("*IDN?")
        assert b"*IDN?\n" == transport._inst.read_bytes(6)
        transport.close()
