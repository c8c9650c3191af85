# SPDX-License-Identifier: Apache-2.0
"""The emulated RS-232 line."""

from __future__ import annotations

import os
import threading
import tty
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import serial

from power.emulator.interpreter import Interpreter
from power.emulator.serial_line import FRAMING_ERROR, SerialServer
from power.errors import MeterReplyError, MeterSilent, MeterUnreachable
from power.resource import BAUDS, HANDSHAKES, TERMINATORS, SerialLine, with_line
from power.scpi import decode
from power.transports.visa import VisaTransport
from tests.support.fakes import eventually


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
    assert b"YOKOGAWA,WT310,EMU000000,F1.03\r\n" == read_line(line)
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
        assert transport.read(180.0).startswith(b"YOKOGAWA")
        transport.clear()
    finally:
        transport.close()


@pytest.fixture
def served(interpreter: Interpreter) -> Iterator[Callable[[SerialLine], SerialServer]]:
    """Return a function that serves the emulated meter with a line; it ends with the test."""
    servers: list[SerialServer] = []

    def serve(line: SerialLine) -> SerialServer:
        servers.append(SerialServer(interpreter, threading.Condition(), line))
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


def asked(resource: str, question: str, timeout_s: float = 180.0) -> bytes:
    """Return the driver's answer to one question on a link of its own."""
    transport = VisaTransport(resource)
    try:
        transport.write(question)
        return transport.read(timeout_s)
    finally:
        transport.close()


@pytest.mark.parametrize(
    "line",
    [
        *(SerialLine(baud=baud) for baud in BAUDS),
        *(SerialLine(handshake=one) for one in HANDSHAKES),
        *(SerialLine(terminator=one) for one in TERMINATORS),
    ],
    ids=lambda line: line.changes or "usual",
)
def test_driver_and_meter_agree_on_each_setting(
    served: Callable[[SerialLine], SerialServer], line: SerialLine
) -> None:
    """With each value of each setting the printed resource string leads to an answer."""
    answer = asked(served(line).resource, "*IDN?")
    assert "YOKOGAWA,WT310,EMU000000,F1.03" == decode(answer)
    assert answer.endswith(TERMINATORS[line.terminator])


def test_a_client_of_another_speed_is_not_understood(
    served: Callable[[SerialLine], SerialServer], interpreter: Interpreter
) -> None:
    """Another speed gets no answer, and COMMunicate:STATus? tells it once (page 6-7)."""
    server = served(SerialLine(38400))
    transport = VisaTransport(f"ASRL{server.device}::INSTR")
    try:
        transport.write("*IDN?")
        # The link stays open until the meter has heard it: another client has another speed.
        eventually(lambda: interpreter.instrument.line_errors == FRAMING_ERROR)
        with pytest.raises(MeterSilent):
            transport.read(0.1)
    finally:
        transport.close()
    status = asked(server.resource, ":COMM:HEAD OFF;STAT?;STAT?")
    assert f"{FRAMING_ERROR};0" == decode(status)


def test_a_client_with_two_stop_bits_is_not_understood(
    serial_meter: Any, interpreter: Interpreter
) -> None:
    """Characters with two stop bits get no answer from a meter that expects one."""
    with serial.Serial(serial_meter.device, stopbits=2, timeout=0.1) as port:
        port.write(b"*IDN?\n")
        eventually(lambda: interpreter.instrument.line_errors == FRAMING_ERROR)
        assert b"" == port.read_until()
    assert str(FRAMING_ERROR) == decode(asked(serial_meter.resource, ":COMM:STAT?"))


def test_seven_bits_need_a_real_port(interpreter: Interpreter, serial_meter: Any) -> None:
    """The emulated line refuses formats of 7 bits, and so does the driver on it, by name."""
    with pytest.raises(ValueError, match="the format 7E1 needs a real port"):
        SerialServer(interpreter, threading.Condition(), SerialLine(data_format="7E1"))
    with pytest.raises(MeterUnreachable, match="refuses 7N2.*choose 8N1"):
        VisaTransport(f"{serial_meter.resource}@7N2")


def test_another_terminator_is_no_text(served: Callable[[SerialLine], SerialServer]) -> None:
    """A driver that waits for CR where CR LF comes finds the second reply to be no text."""
    server = served(SerialLine())
    transport = VisaTransport(with_line(f"ASRL{server.device}::INSTR", SerialLine(terminator="CR")))
    try:
        for _ in range(2):
            transport.write("*IDN?")
            answer = transport.read(180.0)
        with pytest.raises(MeterReplyError, match="check the cable and the line settings"):
            decode(answer)
    finally:
        transport.close()


@pytest.mark.parametrize(
    ("meter", "client", "error"),
    [
        ("XON-XOFF", "XON-XOFF", "0"),
        ("RTS-CTS", "RTS-CTS", "0"),
        ("RTS-CTS", "XON-XOFF", "390"),
        ("NONE", "RTS-CTS", "390"),
    ],
)
def test_a_handshake_at_both_ends_loses_nothing(
    served: Callable[[SerialLine], SerialServer], meter: str, client: str, error: str
) -> None:
    """A line of 420 bytes arrives whole where both ends have one handshake (page 3-7)."""
    server = served(SerialLine(handshake=meter))
    resource = with_line(f"ASRL{server.device}::INSTR", SerialLine(handshake=client))
    transport = VisaTransport(resource)
    try:
        transport.write(";".join(30 * [":INP:MODE RMS"]))
        transport.write(":STAT:QMES OFF;:STAT:ERR?")
        assert error == decode(transport.read(180.0))
    finally:
        transport.close()


def test_x_off_holds_the_reply_until_x_on(
    served: Callable[[SerialLine], SerialServer], interpreter: Interpreter
) -> None:
    """After X-OFF the meter sends nothing, and after X-ON it sends what it held (page 3-6)."""
    server = served(SerialLine(handshake="XON-XOFF"))
    with serial.Serial(server.device, timeout=0.2) as port:
        port.write(b"\x13*IDN?\n")
        eventually(lambda: interpreter.answers)
        assert b"" == port.read_until()
        port.timeout = 180
        port.write(b"\x11")
        assert port.read_until().startswith(b"YOKOGAWA")
