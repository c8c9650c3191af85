# SPDX-License-Identifier: Apache-2.0
"""The driver over PyVISA and a real VXI-11 connection to an emulator in its own process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power import open_meter
from power.errors import MeterBusy, MeterMismatch, MeterSilent, MeterUnreachable
from power.meter import IntegrationState, MeterSettings

SETTINGS = MeterSettings(
    timer_s=1, update_interval_s=0.1, voltage_range_v=150.0, current_range_a=0.1
)


@pytest.mark.slow
def test_a_whole_run(emulator: Any, tmp_path: Path) -> None:
    """Prepare, start, read and the timer's end work over the wire, and are logged."""
    log = tmp_path / "meter.jsonl"
    meter = open_meter(emulator.resource, wire_log=log)
    try:
        assert "WT310" == meter.identify().model
        assert SETTINGS == meter.prepare(SETTINGS)
        started = meter.start()
        assert started.sent_s <= started.written_s <= started.confirmed_s
        reading = meter.read()
        while reading.state is IntegrationState.START:
            reading = meter.read()
        assert IntegrationState.TIMEUP is meter.stop()
        assert meter.read().energy_wh == pytest.approx(5.0 / 3600, rel=1e-5)
    finally:
        meter.close()
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert ("open", "closed") == (events[0]["event"], events[-1]["event"])
    assert ":INTEGrate:STARt" in {event.get("text") for event in events}


def test_the_ready_line_is_all_that_is_printed(start_emulator: Callable[..., Any]) -> None:
    """The emulator prints its ready line and nothing else; SIGTERM ends it with code 0."""
    emulator = start_emulator()
    assert emulator.line.startswith("ready TCPIP::127.0.0.1,")
    assert emulator.line.endswith("::inst0::INSTR\n")
    emulator.process.send_signal(signal.SIGTERM)
    rest, _ = emulator.process.communicate(timeout=180)
    assert ("", 0) == (rest, emulator.process.returncode)


def test_a_second_client_is_told_that_the_meter_is_taken(emulator: Any) -> None:
    """A second client is refused, since the meter takes one connection (page 4-2)."""
    first, second = open_meter(emulator.resource), open_meter(emulator.resource)
    try:
        first.identify()
        with pytest.raises(MeterBusy, match="no free connection"):
            second.identify()
        first.identify()
    finally:
        first.close()
        second.close()


def test_a_closed_link_is_free_again(emulator: Any) -> None:
    """A second client may connect after the first has closed."""
    serials = []
    for _ in range(3):
        meter = open_meter(emulator.resource)
        serials.append(meter.identify().serial)
        meter.close()
    assert 3 * [serials[0]] == serials


def call(procedure: int, *words: int | bytes) -> bytes:
    """Return a call of VXI-11's core channel as one record of RPC (RFC 5531)."""
    numbers = (9, 0, 2, 0x0607AF, 1, procedure, 0, 0, 0, 0)
    body = b"".join(n.to_bytes(4, "big") for n in numbers)
    body += b"".join(w if isinstance(w, bytes) else w.to_bytes(4, "big") for w in words)
    return (0x80000000 | len(body)).to_bytes(4, "big") + body


@pytest.mark.parametrize("reads", [False, True], ids=["silent", "reading for a minute"])
def test_the_link_of_a_killed_client_is_free_at_once(emulator: Any, reads: bool) -> None:
    """Who comes after a client that was killed gets the link, whatever that one was waiting for."""
    address = ("127.0.0.1", int(emulator.resource.split(",")[1].split("::")[0]))
    for _ in range(100):
        with socket.create_connection(address) as killed:
            killed.sendall(call(10, 0, 0, 0, 5, b"inst0\0\0\0"))
            answer = killed.recv(1000)
            error, link = (int.from_bytes(answer[at : at + 4], "big") for at in (28, 32))
            assert 0 == error
            if reads:
                killed.sendall(call(12, link, 100, 60_000, 0, 0, 0))


def test_nobody_listens() -> None:
    """A refused connection gives one clear sentence."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    meter = open_meter(f"TCPIP::127.0.0.1,{port}::inst0::INSTR")
    with pytest.raises(MeterUnreachable, match="cannot be opened.*look at its cable"):
        meter.identify()


def test_a_word_that_is_no_resource_string() -> None:
    """The error for a malformed resource string shows a correct one."""
    with pytest.raises(MeterUnreachable, match="is not a resource string; examples are TCPIP::"):
        open_meter("meter").identify()


def test_an_emulator_that_is_ready_has_values(start_emulator: Callable[..., Any]) -> None:
    """Whoever connects at once finds a meter that has been on for a while, on settled ranges."""
    emulator = start_emulator("--watts", "5", "--profile-runs-on")
    meter = open_meter(emulator.resource)
    meter.arrange()
    reading = meter.read()
    assert {} == reading.missing
    assert (120.0, 5.0) == (reading.voltage_v, reading.power_w)
    meter.close()


def test_another_instrument_answers(start_emulator: Callable[..., Any]) -> None:
    """Another instrument is named and refused."""
    emulator = start_emulator("--identity", "GWINSTEK,GPM-8310,GEX1,V1.00")
    meter = open_meter(emulator.resource)
    with pytest.raises(MeterMismatch, match="GWINSTEK GPM-8310 is not supported"):
        meter.identify()


@pytest.mark.slow
def test_an_emulator_that_dies_is_a_lost_link(start_emulator: Callable[..., Any]) -> None:
    """After the emulator's death the next reading fails within a bounded time."""
    emulator = start_emulator()
    meter = open_meter(emulator.resource)
    meter.identify()
    emulator.process.kill()
    emulator.process.communicate()
    with pytest.raises(MeterUnreachable, match="has closed the link"):
        meter.stop()
    with pytest.raises(MeterUnreachable, match="cannot be opened"):
        meter.attach()
    meter.close()


@pytest.mark.slow
def test_somebody_who_takes_connections_and_says_nothing() -> None:
    """A silent port is recognised within seconds, and leaks no socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        meter = open_meter(f"TCPIP::127.0.0.1,{port}::inst0::INSTR")
        with pytest.raises(MeterSilent, match="takes connections but does not answer$") as caught:
            meter.identify()
    assert "switch the meter off and on" in caught.value.whole_text()


@pytest.mark.slow
def test_silence_is_a_time_out(start_emulator: Callable[..., Any]) -> None:
    """After the time-out of an unknown question the link works."""
    from power.transports.visa import VisaTransport

    transport = VisaTransport(start_emulator().resource)
    try:
        transport.write(":NO:SUCH?")
        with pytest.raises(MeterSilent, match="did not answer in time"):
            transport.read(0.1)
        transport.clear()
        transport.write(":STAT:ERR?")
        assert b'113,"Undefined header"\n' == transport.read(20.0)
    finally:
        transport.close()


@pytest.mark.slow
def test_the_emulator_ends_with_its_parent(tmp_path: Path) -> None:
    """The emulator ends when its parent is killed."""
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'power', 'emulate', '--exit-with-parent'],"
        " stdout=subprocess.PIPE, text=True)\n"
        "print(child.stdout.readline(), flush=True)\n"
        "time.sleep(60)\n"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    port = int(parent.stdout.readline().split(",")[1].split(":")[0])
    connection = socket.create_connection(("127.0.0.1", port), timeout=180)
    parent.kill()
    with connection:
        # The pipe ends when the emulator's process is gone.
        assert b"" == connection.recv(1)
    # The emulator holds the pipe's other end, so this read returns when it has ended.
    parent.communicate(timeout=180)


def test_importing_the_protocol_does_not_import_pyvisa() -> None:
    """Importing `power.meter` does not import PyVISA."""
    program = (
        "import sys, power.meter, power.energy.judge, power.connect; "
        "power.connect.open_meter('TCPIP::127.0.0.1::INSTR'); "
        "assert not {'pyvisa', 'serial', 'usb'} & set(sys.modules)"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=180)
