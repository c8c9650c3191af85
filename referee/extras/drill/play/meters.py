# SPDX-License-Identifier: Apache-2.0
"""The meters of a drill: emulators that the referee takes for real ones, with faults on request."""

from __future__ import annotations

import itertools
import math
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.errors import Unavailable
from referee.programs.child import Child
from referee.programs.emulator import emulator
from referee.service.setup.lane_config import LaneSection, MeterSection, lane_suffix
from referee.service.setup.lane_words import of_lane

_ANSWER_S = 5.0
_FOR_EVER_S = 86_400.0
_RESTART_S = 3.0
# The mains of the emulated device, and what it takes where the current range does not say.
_VOLTS, _WATTS = 120.0, 6.0
# The device fills this part of the ranges, so that no reading is near an end of them.
_OF_VOLTS, _OF_AMPERES = 0.8, 0.35
# Its load moves as that of a device at work: each step for so long, this far around the mean.
_STEP_S, _STEPS = (2.0, 9.0), 600
_RESTLESS = 0.2
# The system gives any port from 32768 on to connections (Linux, ip_local_port_range). Such a port
# could be somebody's before the drill's program listens on it.
_PORTS = range(20_000, 32_768)
_TRIES = 100
_places = itertools.count(random.SystemRandom().randrange(len(_PORTS)))


class DrillMeter:
    """An emulated meter on the table: its cable, its mains, its panel and its load."""

    def __init__(self, resource: str, control: int, section: MeterSection) -> None:
        self.resource = resource
        self.cable_out = self.is_off = self.unloaded = False
        self._control = control
        self._section = section

    def pull_cable(self) -> None:
        """Take the cable out; the meter integrates on."""
        self.cable_out = True
        self._send(f"unplug seconds={_FOR_EVER_S:g}")

    def put_cable_back(self) -> None:
        """Put the cable back, if it is out."""
        self.cable_out = False
        if not self.is_off:
            self._send("unplug seconds=0")

    def cut_mains(self) -> None:
        """Switch the meter off; an integration ends in the state ERROR."""
        self.is_off = True
        self._send(f"power seconds={_FOR_EVER_S:g}")

    def switch_on(self) -> None:
        """Switch the meter on; one that is on is switched off and on again."""
        if self.is_off:
            self.is_off = False
            if not self.cable_out:
                self._send("unplug seconds=0")
        else:
            self._send(f"power seconds={_FOR_EVER_S if self.cable_out else _RESTART_S:g}")

    def press(self, key: str) -> None:
        """Press START, STOP or RESET at the panel."""
        self._send(f"panel key={key}")

    def unload(self) -> None:
        """Let the device run without the meter."""
        self.unloaded = True
        self._send("load watts=0")

    def load(self) -> None:
        """Plug the device into the meter, if it is not."""
        if self.unloaded:
            self.unloaded = False
            self._send(f"load watts={watts_of(self._section):g}")

    def go_over_range(self, seconds: float) -> None:
        """Show over range for a while."""
        self._send(f"over updates={math.ceil(seconds / self._section.update_interval_s)}")

    def _send(self, line: str) -> None:
        """Switch a fault on; raise `Unavailable` if the emulator is gone."""
        try:
            with (
                socket.create_connection(("127.0.0.1", self._control), timeout=_ANSWER_S) as sock,
                sock.makefile("rw", encoding="utf-8") as stream,
            ):
                stream.write(f"{line}\n")
                stream.flush()
                answer = stream.readline().strip()
        except OSError as error:
            raise Unavailable(f"The drill's emulated meter does not answer: {error}.") from error
        if answer != "ok":
            raise Unavailable(f"The drill's emulated meter refused '{line}': {answer}")


@contextmanager
def drill_meter(lane: LaneSection, number: int, logs: Path) -> Iterator[tuple[DrillMeter, Child]]:
    """Run the emulator of a lane until the block ends; its process is for the caller to watch."""
    control = free_port()
    logs.mkdir(parents=True, exist_ok=True)
    profile = logs / f"load{lane_suffix(number)}.csv"
    profile.write_text(load_profile(watts_of(lane.meter), number), encoding="utf-8")
    # A load that began anew with each session would repeat what a fault has changed in it.
    options = [*load_options(lane.meter), "--profile", str(profile), "--profile-runs-on"]
    options += ["--control", str(control), "--seed", str(number)]
    title = of_lane("emulated meter", lane.name)
    with emulator(title, options, logs / f"meter{lane_suffix(number)}.log") as made:
        yield DrillMeter(made.resource, control, lane.meter), made.child


def free_port(host: str = "127.0.0.1") -> int:
    """Return a TCP port on which nobody listens, another one at each call.

    Raises `Unavailable` if none is found.
    """
    for place in itertools.islice(_places, _TRIES):
        port = _PORTS[place % len(_PORTS)]
        with suppress(OSError), socket.create_server((host.strip("[]") or "127.0.0.1", port)):
            return port
    raise Unavailable(f"No port of {host} is free for the drill.")


def load_options(section: MeterSection) -> list[str]:
    """Return the options of an emulator whose circuit fits what a lane configures."""
    options = ["--volts", f"{volts_of(section):g}"]
    if section.mode == "DC":
        options += ["--hertz", "0", "--crest", "1"]
    if section.element != "1":
        options += ["--model", "WT333E", "--shares", "0.5,0.3,0.2"]
    return options


def load_profile(watts: float, seed: int) -> str:
    """Return a load around a mean, as CSV of seconds and watts; the seed decides it."""
    chance = random.Random(f"load {seed}")
    rows, at_s = [], 0.0
    for _ in range(_STEPS):
        rows.append(f"{at_s:.1f},{watts * chance.uniform(1 - _RESTLESS, 1 + _RESTLESS):.3f}")
        at_s += chance.uniform(*_STEP_S)
    return "\n".join(rows) + "\n"


def volts_of(section: MeterSection) -> float:
    """Return the emulated voltage: that of the mains, or less where the range is smaller."""
    if section.voltage_range_v is None:
        return _VOLTS
    return min(_VOLTS, _OF_VOLTS * section.voltage_range_v)


def watts_of(section: MeterSection) -> float:
    """Return the emulated load, well inside the current range."""
    if section.current_range_a is None:
        return _WATTS
    return round(_OF_AMPERES * section.current_range_a * volts_of(section), 3)
