# SPDX-License-Identifier: Apache-2.0
"""The emulated meter of a contest, which runs in its own process."""

from __future__ import annotations

import os
import re
import selectors
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from power.emulator.load import Load
from power.emulator.profile import LoadProfile, constant, parse_steps, read_csv
from power.wt310.models import MODELS
from referee.errors import InputError, Unavailable
from referee.programs.child import Child
from referee.programs.forked import Forked
from referee.service.setup.config import Config
from referee.service.setup.lane_config import lane_suffix
from referee.service.setup.lane_words import of_lane

_READY_S = 30.0
_STOP_S = 5.0
# Finds the port in the resource that the emulator prints: TCPIP::127.0.0.1,40123::inst0::INSTR.
_PORT = re.compile(r"TCPIP\d*::[^:,]+,(\d+)::")


@dataclass(frozen=True)
class EmulatedMeter:
    """A running emulator: its process, which the caller must watch, and its VISA resource."""

    child: Child
    resource: str


@contextmanager
def emulated_meter(
    config: Config, lane: int, forked: Forked | None = None
) -> Iterator[EmulatedMeter]:
    """Run a lane's emulated meter, with the load of the configuration, until the block ends."""
    log = config.storage.folder / "logs" / f"emulator{lane_suffix(lane)}.log"
    title = of_lane("emulated meter", config.lane(lane).name)
    options = _load_options(config.lane(lane).meter.emulated_load)
    with emulator(title, options, log, forked) as meter:
        yield meter


@contextmanager
def emulator(
    title: str, options: Sequence[str], log: Path, forked: Forked | None = None
) -> Iterator[EmulatedMeter]:
    """Run an emulated meter with these options of `power emulate` until the block ends.

    The first start chooses a port. Each restart uses the same port, so the VISA resource stays
    valid. A restarted emulator has lost its energy.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "power", "emulate", "--exit-with-parent", *options]
    child = Child(title, [*command, "--port", "0"], log)
    stdout = child.start_with_pipe(forked)
    try:
        resource = _ready_resource(stdout, log)
        child.command = [*command, "--port", _port_of(resource)]
        yield EmulatedMeter(child, resource)
    finally:
        child.terminate()
        child.wait(_STOP_S)
        stdout.close()


def range_for(load: str) -> float:
    """Return the smallest current range, in A, that holds an emulated load at all times.

    A range that is too large for a load makes its energy uncertain, as with a real meter. Raises
    `InputError` for a text that is no load.
    """
    try:
        profile = _profile(load)
    except (OSError, ValueError) as error:
        raise InputError(f"--load {load}: {error}") from None
    most_a = max(map(abs, profile.watts)) / Load(profile).volts
    ranges = MODELS["WT310"].current_ranges(3)
    return next((range_a for range_a in ranges if most_a <= range_a), ranges[-1])


def _profile(load: str) -> LoadProfile:
    kind, value = _load_options(load)
    if kind == "--steps":
        return parse_steps(value)
    return read_csv(Path(value)) if kind == "--profile" else constant(float(value))


def _load_options(load: str) -> list[str]:
    if ":" in load:
        return ["--steps", load]
    if load.endswith(".csv"):
        return ["--profile", load]
    return ["--watts", load]


def _port_of(resource: str) -> str:
    port = _PORT.match(resource)
    if port is None:
        raise Unavailable(f"The emulated meter printed '{resource}', which names no port.")
    return port.group(1)


def _ready_resource(stdout: IO[bytes], log: Path) -> str:
    """Wait for the line `ready RESOURCE` on the emulator's standard output."""
    line = b""
    deadline = time.monotonic() + _READY_S
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n") and selector.select(deadline - time.monotonic()):
            part = os.read(stdout.fileno(), 4096)
            if not part:
                break
            line += part
    word, _, resource = line.decode("utf-8", "replace").strip().partition(" ")
    if word != "ready" or not resource:
        lines = log.read_text("utf-8", "replace").split("\n")
        said = next((text for text in reversed(lines) if text.strip()), f"see {log}")
        raise InputError(f"The emulated meter did not start: {said.strip()}")
    return resource
