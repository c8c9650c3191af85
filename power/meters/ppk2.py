# SPDX-License-Identifier: Apache-2.0
"""Nordic's Power Profiler Kit II on its USB serial port; it measures current, never the voltage.

Nordic publishes no protocol. Its open application pc-nrfconnect-ppk shows it: commands are single
bytes, and a sample has four (`ppk2_stream.py`).

The driver is our own: the library ppk2-api stands still since 2023, is under the GPL, and tells no
losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from power.errors import MeterMismatch, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, Seen, sampled
from power.meters.ppk2_stream import MOST_A, SAMPLES_A_SECOND, SampleBlock
from power.meters.ppk2_stream import Calibration as Calibration
from power.meters.ppk2_stream import Decoder as Decoder
from power.resource import Resource
from power.sampled.source import DeviceTime, Sample, Tools

_MODES = {"ampere": 1, "source": 2}
_LEAST_MV, _MOST_MV = 800, 5000

_START, _STOP, _DEVICE_POWER = 0x06, 0x07, 0x0C
_VOLTAGE, _MODE, _ABOUT = 0x0D, 0x11, 0x19

_ABOUT_S = 2.0
_MOST_ABOUT_BYTES = 100_000
_POLL_S = 0.02
# A second of the stream, and more than the port can keep.
_MOST_BYTES_AT_ONCE = 400_000
_LONGEST_GAP_S = 0.5
# A unit whose samples arrive later than this by its own count has lost whole turns of its counter.
_BEHIND_S = 0.25
# Without any loss the samples may only be late, and those behind them come faster: so long is
# waited. Two clocks may differ by this share.
_CATCHING_UP_S, _DRIFT_SHARE = 2.0, 1e-3
_SILENT_S = 1.0
_MOST_SHARE = 2.0
# A step of the converter in the largest range, whose shunt has 43 mΩ.
_OFFSET_A = 1e-3


class Ppk2:
    """One unit: it supplies the device (`mode=source`), or stands in its supply line (`ampere`).

    It takes 100,000 samples a second; a sample here is the mean of those that arrived together.
    """

    poll_s = _POLL_S
    counter_lag_s = 0.0
    counter_step_wh = 0.0

    def __init__(
        self, resource: Resource, tools: Tools, open_port: Callable[[str], Any] | None = None
    ) -> None:
        mode, millivolts = _checked(resource)
        self._clock, self._tools = tools.clock, tools
        self._volts = millivolts / 1000
        self._port = (open_port or _open_port)(resource.address)
        try:
            about = self._introduce(tools)
            self._decoder = Decoder(_calibration(about, resource.address), self._volts)
            self._tell(_MODE, _MODES[mode])
            self._tell(_VOLTAGE, *millivolts.to_bytes(2, "big"))
            self._tell(_DEVICE_POWER, 1)
            self._tell(_START)
        except BaseException:
            self._port.close()
            raise
        self._time, self._taken, self._heard_s = DeviceTime(), 0, tools.clock()
        self._first, self._begun_s = DeviceTime(), self._heard_s
        self._looked_s, self._least_behind_s = self._heard_s, math.inf
        hardware = dict(line.split(": ", 1) for line in about.splitlines() if ": " in line)
        self.identity = Identity("Nordic", f"PPK2 {mode}", resource.address, hardware.get("HW", ""))
        self.sampling = Sampling(
            "ppk2",
            None,
            offset_a=_OFFSET_A,
            longest_gap_s=_LONGEST_GAP_S,
            # What is over the specified current is over range, and far more cannot be.
            most_w=_MOST_SHARE * MOST_A * self._volts,
            volt_amperes="same",
        )

    def read(self) -> Sequence[Sample]:
        """Return the mean of what has arrived since the last call."""
        content = self._received()
        arrived_s = self._clock()
        block = self._decoder.take(content)
        if self._decoder.astray:
            raise MeterReplyError(
                f"the stream of the PPK2 at {self._port.port} cannot be read any more: its samples "
                "have no counter. Does another program read this port, too?"
            )
        if block is not None:
            self._heard_s = arrived_s
            return [self._sample(block, arrived_s)]
        if arrived_s - self._heard_s > _SILENT_S:
            raise MeterUnreachable(f"the PPK2 at {self._port.port} sends no samples")
        return []

    def close(self) -> None:
        """End the stream and release the port; the device keeps its power."""
        try:
            self._tell(_STOP)
        except MeterUnreachable:
            pass  # it is gone already
        finally:
            self._port.close()

    def _sample(self, block: SampleBlock, arrived_s: float) -> Sample:
        lost = block.lost
        self._taken += block.samples + lost
        missing = self._missing(arrived_s)
        self._taken += missing
        device_s = self._taken / SAMPLES_A_SECOND
        at_s = self._time.host_s(device_s, arrived_s)
        if arrived_s - at_s > _BEHIND_S:
            # The counter has only six bits, so of a loss it does not show whole turns. Without
            # any loss the samples may only be late, and those behind them come faster.
            if lost:
                lost += round((arrived_s - at_s) * SAMPLES_A_SECOND)
                self._first, self._begun_s = DeviceTime(), arrived_s
            self._time = DeviceTime()
            at_s = self._time.host_s(device_s, arrived_s)
        return Sample(
            at_s,
            block.mean_a * self._volts,
            self._volts,
            block.mean_a,
            span_s=block.samples / SAMPLES_A_SECOND,
            over_range=block.over_range,
            lost=lost + missing,
        )

    def _missing(self, arrived_s: float) -> int:
        """Return how many samples are late for so long that they will never come."""
        device_s = self._taken / SAMPLES_A_SECOND
        behind_s = arrived_s - self._first.host_s(device_s, arrived_s)
        self._least_behind_s = min(self._least_behind_s, behind_s)
        if arrived_s - self._looked_s < _CATCHING_UP_S:
            return 0
        least_s, self._least_behind_s = self._least_behind_s, math.inf
        self._looked_s = arrived_s
        drift_s = _DRIFT_SHARE * (arrived_s - self._begun_s)
        return round(least_s * SAMPLES_A_SECOND) if least_s > max(_BEHIND_S, drift_s) else 0

    def _introduce(self, tools: Tools) -> str:
        """Return what the unit says of itself; a stream that a killed program left is ended."""
        self._tell(_STOP)
        self._received()
        self._tell(_ABOUT)
        about, end_s = b"", tools.clock() + _ABOUT_S
        while b"END" not in about:
            if tools.clock() > end_s or len(about) > _MOST_ABOUT_BYTES:
                raise MeterMismatch(
                    f"{self._port.port} does not answer as a PPK2; a unit has two ports, so try the"
                    " other one"
                )
            tools.sleep(0.01)
            about += self._received()
        return about.partition(b"END")[0].decode("latin-1")

    def _received(self) -> bytes:
        content = b""
        try:
            # Linux hands out 4 KiB of a port at a time, a hundredth of a second.
            while (waiting := self._port.in_waiting) and len(content) < _MOST_BYTES_AT_ONCE:
                content += self._port.read(waiting)
        except OSError as error:  # pyserial's own errors are OSErrors
            self._tools.note("failed", str(error))
            raise MeterUnreachable(f"{self._port.port} is gone: {error}") from error
        if content:
            self._tools.note_stream("received", content)
        return content

    def _tell(self, *command: int) -> None:
        self._tools.note("sent", bytes(command).hex())
        try:
            self._port.write(bytes(command))
        except OSError as error:
            raise MeterUnreachable(f"{self._port.port} is gone: {error}") from error


def _open_port(path: str) -> Any:
    import serial

    try:
        return serial.Serial(path, timeout=0, write_timeout=1.0, exclusive=True)
    except OSError as error:
        raise MeterUnreachable(
            f"{path} cannot be opened ({error}). Is the PPK2 plugged in, is another program using "
            "it, and is this user in the group dialout?"
        ) from error


def _calibration(about: str, port: str) -> Calibration:
    try:
        return Calibration.parse(about)
    except ValueError as error:
        raise MeterReplyError(f"the PPK2 at {port} sent {about[:60]!r}: {error}") from None


def _checked(resource: Resource) -> tuple[str, int]:
    """Return mode and millivolts; ValueError says what is wrong."""
    resource.known_options(("mode", "mv"))
    mode = resource.options.get("mode", "")
    if not resource.address or mode not in _MODES:
        raise ValueError(
            f"write ppk2:PORT?mode=source&mv=MILLIVOLTS to supply the device, or mode=ampere to "
            f"stand in its supply line; {mode!r} at {resource.address!r} is neither"
        )
    millivolts = resource.number("mv", None, least=_LEAST_MV, most=_MOST_MV)
    return mode, round(millivolts)


def find() -> Seen:
    """Return each unit by the serial port of its samples; a newer firmware has a second port."""
    from serial.tools.list_ports import comports

    ports = [port for port in comports() if port.product == "PPK2"]
    first: dict[str, str] = {}
    # The one of the lower USB interface has the samples, the other is a console.
    for port in sorted(ports, key=lambda port: (port.location or "", port.device)):
        first.setdefault(port.serial_number or port.device, port.device)
    return Seen([f"ppk2:{device}" for device in sorted(first.values())])


KIND = MeterKind(
    summary="Nordic's Power Profiler Kit II: current at a known voltage, to 1 A",
    syntax="ppk2:PORT?mode=source|ampere&mv=MILLIVOLTS[&accuracy=PERCENT]",
    open=sampled(Ppk2, _checked),
    find=find,
)
