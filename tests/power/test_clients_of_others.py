# SPDX-License-Identifier: Apache-2.0
"""Programs of others hold one conversation with the emulator, unchanged, and hear the same."""

from __future__ import annotations

import socket
import struct
import threading
import warnings
from collections.abc import Callable, Iterator

import pytest
import pyvisa

from power.emulator.interpreter import Interpreter
from power.emulator.portmapper import PORT, Portmapper
from power.emulator.vxi11 import PROGRAM, VERSION, Vxi11Server

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    pytest.importorskip("xdrlib", reason="python-vxi11 needs xdrlib, which Python 3.13 dropped")
    import vxi11

CONVERSATION = [
    *("*CLS", "*IDN?", ":COMM:VERB ON", ":INTEG:TIM 0,5,0", ":INTEGRATE?", ":INP:VOLT:RANG 150V"),
    *(":INPUT:VOLTAGE:RANGE?", ":NUM:NORM:PRES 1;NUM 3", ":NUM:NORM:HEAD?", ":NONSENSE"),
    *(":STAT:ERR?", ":STAT:ERR?", ":HARM:THD?;:MATH?", "*OPC?"),
]
Hear = Callable[[list[str]], list[str]]


@pytest.fixture
def meter(interpreter: Interpreter) -> Iterator[Vxi11Server]:
    """Return an emulated meter that is found through port 111, where that port can be had."""
    server = Vxi11Server(interpreter, threading.Condition())
    try:
        mapper = Portmapper(PROGRAM, VERSION, server.port)
    except OSError as error:
        server.close()
        pytest.skip(f"port {PORT} cannot be had here: {error}")
    yield server
    mapper.close()
    server.close()


def by_pyvisa(lines: list[str]) -> list[str]:
    """Talk through PyVISA, which asks the portmapper."""
    manager = pyvisa.ResourceManager("@py")
    meter = manager.open_resource("TCPIP::127.0.0.1::inst0::INSTR")
    assert isinstance(meter, pyvisa.resources.MessageBasedResource)
    try:
        return [meter.query(line) for line in lines if "?" in line or meter.write(line) is None]
    finally:
        meter.close()


def by_python_vxi11(lines: list[str]) -> list[str]:
    """Talk through python-vxi11, which knows an address alone."""
    meter = vxi11.Instrument("127.0.0.1")
    try:
        return [meter.ask(line) for line in lines if "?" in line or meter.write(line)]
    finally:
        meter.close()


def by_bytes(lines: list[str]) -> list[str]:
    """Talk in bytes, as the specifications of ONC RPC and VXI-11 have them."""
    (port,) = struct.unpack(">I", _call(PORT, 100_000, 2, 3, struct.pack(">4I", 395183, 1, 6, 0)))
    with socket.create_connection(("127.0.0.1", port), 60) as link:
        made = _ask(link, 395183, 1, 10, struct.pack(">4I", 1, 0, 0, 5) + b"inst0\0\0\0")
        number = made[4:8]
        heard = []
        for line in lines:
            text = line.encode() + b"\n"
            sized = struct.pack(">4I", 10_000, 10_000, 8, len(text)) + text + bytes(-len(text) % 4)
            _ask(link, 395183, 1, 11, number + sized)
            if "?" in line:
                wanted = struct.pack(">5I", 4096, 10_000, 10_000, 0, 0)
                got = _ask(link, 395183, 1, 12, number + wanted)
                (length,) = struct.unpack(">I", got[8:12])
                heard.append(got[12 : 12 + length].decode())
        # The meter has one link. Who hangs up without this leaves it taken for a moment.
        _ask(link, 395183, 1, 23, number)
        return heard


def _call(port: int, *call: int | bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 60) as link:
        return _ask(link, *call)


def _ask(link: socket.socket, *call: int | bytes) -> bytes:
    *numbers, arguments = call
    assert isinstance(arguments, bytes)
    body = struct.pack(">10I", 7, 0, 2, *numbers, 0, 0, 0, 0) + arguments  # type: ignore[arg-type]
    link.sendall(struct.pack(">I", 0x80000000 | len(body)) + body)
    (head,) = struct.unpack(">I", _exactly(link, 4))
    return _exactly(link, head & 0x7FFFFFFF)[24:]


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        assert part, "the emulator hung up"
        data += part
    return data


def test_three_clients_hear_the_same(meter: Vxi11Server) -> None:
    """PyVISA, python-vxi11 and bytes on a socket find the meter and get equal answers."""
    heard = [
        [text.rstrip("\n") for text in client(CONVERSATION)]
        for client in (by_bytes, by_pyvisa, by_python_vxi11)
    ]
    assert [
        *("YOKOGAWA,WT310,EMU000000,F1.03", ":INTEGRATE:MODE NORMAL;TIMER 0,5,0"),
        *(":INPUT:VOLTAGE:RANGE 150.0E+00", "U-E1,I-E1,P-E1", '113,"Undefined header"'),
        *('0,"No error"', ":HARMONICS:THD TOTAL;:MATH CFU1", "1"),
    ] == heard[0]
    assert heard[0] == heard[1] == heard[2]


def test_the_portmapper_knows_one_program(interpreter: Interpreter) -> None:
    """It tells port 0 for another program, and refuses another version and procedure."""
    mapper = Portmapper(PROGRAM, VERSION, 4321, port=0)
    try:
        ask = struct.Struct(">4I").pack
        found = [
            _call(mapper.port, 100_000, 2, 3, ask(PROGRAM, VERSION, 6, 0)),
            _call(mapper.port, 100_000, 2, 3, ask(PROGRAM, VERSION, 17, 0)),
            _call(mapper.port, 100_000, 2, 3, ask(99, 1, 6, 0)),
        ]
        assert [4321, 0, 0] == [struct.unpack(">I", data)[0] for data in found]
        assert struct.pack(">2I", 2, 2) == _call(mapper.port, 100_000, 3, 0, b"")
        assert b"" == _call(mapper.port, 100_000, 2, 9, b"")
    finally:
        mapper.close()
