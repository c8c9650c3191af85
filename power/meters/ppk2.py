# SPDX-License-Identifier: Apache-2.0
"""Nordic's Power Profiler Kit II on its USB serial port; it measures current, never the voltage.

Nordic publishes no protocol. Its open application pc-nrfconnect-ppk shows it: commands are single
bytes, and a sample has four (`src/device`): bits 0 to 13 are the converter's value, 14 to 16 the
range, 18 to 23 a counter, 24 to 31 the digital inputs. The unit's calibration makes it amperes.

The driver is our own: the library ppk2-api stands still since 2023, is under the GPL, and tells no
losses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from power.errors import MeterMismatch, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, Seen, sampled
from power.resource import Resource
from power.sampled.source import DeviceTime, Sample, Tools

_MODES = {"ampere": 1, "source": 2}
_LEAST_MV, _MOST_MV = 800, 5000

_START, _STOP, _DEVICE_POWER = 0x06, 0x07, 0x0C
_VOLTAGE, _MODE, _ABOUT = 0x0D, 0x11, 0x19

_ABOUT_S = 2.0
_MOST_ABOUT_BYTES = 100_000
_POLL_S = 0.05
_LONGEST_GAP_S = 0.5
# A unit whose samples arrive later than this by its own count has lost whole turns of its counter.
_BEHIND_S = 0.25
_SILENT_S = 1.0
# A step of the converter in the largest range, whose shunt has 43 mΩ.
_OFFSET_A = 1e-3

SAMPLES_A_SECOND = 100_000
"""The rate of the PPK2; nothing changes it."""

BYTES = 4
"""The size of a sample."""

MOST_A = 1.0
"""The largest current that the PPK2 is specified for."""

_RANGES = 5
_COUNTS = 64
_FULL = (1 << 14) - 1
# One step of the converter in volts.
_STEP_V = 1.8 / 163840
# After a change of range so many samples show the change itself.
_SETTLING = 3
_DEFAULTS = {"R": (1031.64, 101.65, 10.15, 0.94, 0.043), "GS": (1.0,), "GI": (1.0,), "UG": (1.0,)}


@dataclass(frozen=True)
class Calibration:
    """A unit's constants, five each: shunts in Ω, offsets, gains, and their drifts by voltage."""

    shunt_ohm: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    gain_square: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    drift_a_v: npt.NDArray[np.float64]
    offset_a: npt.NDArray[np.float64]
    user_gain: npt.NDArray[np.float64]

    @staticmethod
    def parse(text: str) -> Calibration:
        """Return the constants in what a unit says of itself; one that is missing is Nordic's own.

        A shunt of 0 Ω, as some units have it, counts as missing. No shunt at all is a ValueError,
        and so is a constant that is no number.
        """
        given = dict(re.findall(r"^([A-Z]+\d): *(\S+)$", text, re.MULTILINE))
        if not any(name.startswith("R") for name in given):
            raise ValueError("there is no calibration")
        names = ("R", "O", "GS", "GI", "S", "I", "UG")
        return Calibration(*(_five(name, given) for name in names))

    def amperes(
        self, raw: npt.NDArray[np.uint32], volts: float
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return the current of each sample, and whether it is settled in its range."""
        scale = np.minimum(raw >> 14 & 7, _RANGES - 1)
        value = (raw & _FULL).astype(np.float64) * 4
        plain = (value - self.offset[scale]) * (_STEP_V / self.shunt_ohm[scale])
        curved = plain * (self.gain_square[scale] * plain + self.gain[scale])
        drift = self.drift_a_v[scale] * volts + self.offset_a[scale]
        settled = np.ones(len(raw), dtype=np.bool_)
        changes = np.flatnonzero(np.diff(scale)) + 1
        for later in range(_SETTLING):
            settled[np.minimum(changes + later, len(raw) - 1)] = False
        return self.user_gain[scale] * (curved + drift), settled


def _five(name: str, given: dict[str, str]) -> npt.NDArray[np.float64]:
    usual = _DEFAULTS.get(name, (0.0,))
    usual = usual if len(usual) == _RANGES else usual * _RANGES
    factors = [float(given.get(f"{name}{index}", usual[index])) for index in range(_RANGES)]
    if not np.isfinite(factors).all():
        raise ValueError(f"a constant {name} is no number")
    if name == "R":
        factors = [value or usual[index] for index, value in enumerate(factors)]
    return np.array(factors, dtype=np.float64)


@dataclass(frozen=True)
class SampleBlock:
    """The mean current of samples in a row, how many were lost, and whether it was too much."""

    mean_a: float
    samples: int
    lost: int
    over_range: bool


class Decoder:
    """The bytes of a unit as they come, cut into samples."""

    def __init__(self, calibration: Calibration, volts: float) -> None:
        self._calibration = calibration
        self._volts = volts
        self._rest = b""
        self._count: int | None = None

    def take(self, content: bytes) -> SampleBlock | None:
        """Return the mean of the whole samples in the next bytes, or None if there is none."""
        whole = self._rest + content
        cut = len(whole) - len(whole) % BYTES
        self._rest = whole[cut:]
        if not cut:
            return None
        raw = np.frombuffer(whole[:cut], dtype="<u4")
        amperes, settled = self._calibration.amperes(raw, self._volts)
        used = amperes[settled] if settled.any() else amperes
        cut_off = (raw >> 14 & 7 >= _RANGES - 1) & (raw & _FULL == _FULL)
        return SampleBlock(
            mean_a=float(used.mean()),
            samples=len(raw),
            lost=self._lost(raw),
            over_range=bool(cut_off.any() or used.max() > MOST_A),
        )

    def _lost(self, raw: npt.NDArray[np.uint32]) -> int:
        """Return how many samples are missing by the counter of six bits."""
        counts = (raw >> 18 & (_COUNTS - 1)).astype(np.int64)
        before = counts[0] - 1 if self._count is None else self._count
        self._count = int(counts[-1])
        steps = np.diff(counts, prepend=before) % _COUNTS
        # A whole turn of the counter looks like none; the clock shows that.
        return int((steps - 1).clip(min=0).sum())


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
        hardware = dict(line.split(": ", 1) for line in about.splitlines() if ": " in line)
        self.identity = Identity("Nordic", f"PPK2 {mode}", resource.address, hardware.get("HW", ""))
        self.sampling = Sampling("ppk2", None, offset_a=_OFFSET_A, longest_gap_s=_LONGEST_GAP_S)

    def read(self) -> Sequence[Sample]:
        """Return the mean of what has arrived since the last call."""
        content = self._received()
        arrived_s = self._clock()
        block = self._decoder.take(content)
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
        self._taken += block.samples + block.lost
        device_s = self._taken / SAMPLES_A_SECOND
        at_s = self._time.host_s(device_s, arrived_s)
        if arrived_s - at_s > _BEHIND_S:
            self._time = DeviceTime()
            at_s = self._time.host_s(device_s, arrived_s)
        return Sample(
            at_s,
            block.mean_a * self._volts,
            self._volts,
            block.mean_a,
            span_s=block.samples / SAMPLES_A_SECOND,
            over_range=block.over_range,
        )

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
        try:
            content: bytes = self._port.read(self._port.in_waiting)
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
    """Return the serial ports that name themselves PPK2."""
    from serial.tools.list_ports import comports

    ports = [port.device for port in comports() if port.product == "PPK2"]
    return Seen([f"ppk2:{port}" for port in ports])


KIND = MeterKind(
    summary="Nordic's Power Profiler Kit II: current at a known voltage, to 1 A",
    syntax="ppk2:PORT?mode=source|ampere&mv=MILLIVOLTS[&accuracy=PERCENT]",
    open=sampled(Ppk2, _checked),
    find=find,
)
