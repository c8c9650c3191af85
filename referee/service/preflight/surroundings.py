# SPDX-License-Identifier: Apache-2.0
"""What the checks are told from outside the database: servers, meters, displays, laptop."""

from __future__ import annotations

from dataclasses import dataclass

from power.meter import Identity
from referee.core.restored import NewerEvidence
from referee.service.preflight.clock_jumps import Jump
from referee.service.preflight.clock_rule import DateFacts
from referee.service.preflight.machine_facts import MachineFacts
from referee.service.setup.input_rule import InputFault
from referee.service.setup.lane_config import MeterSection


@dataclass(frozen=True)
class PortFacts:
    """A port of the servers; `fault` is '' if it answers, or is free while no server runs."""

    name: str
    address: str
    fault: str


@dataclass(frozen=True)
class DisplayState:
    """What a display says of itself; `fault` is '' while it can show frames."""

    fault: str
    text: str


@dataclass(frozen=True)
class LaneFacts:
    """A lane: how its meter is set, how its link is, and what its display says.

    `name` is '' for a lane that is the only one. `address` is where its contestants connect, `urls`
    what that is on each network of the laptop. `link` is 'none', 'connecting', 'ok' or 'lost', and
    '' while no server runs. `display` holds the display's facts, and is None where no page can be
    asked.
    """

    lane: int
    meter: MeterSection
    address: str = "127.0.0.1:8000"
    urls: tuple[str, ...] = ()
    link: str = ""
    link_text: str = ""
    identity: Identity | None = None
    display: DisplayState | None = None
    name: str = ""


@dataclass(frozen=True)
class Surroundings:
    """All of it; `machine` is None while nobody has looked at the laptop.

    `jumps` is None while nobody watches its clock, and `dates` while nobody compares its date.
    `changed` names what differs by now from what the servers were started with. `newer` are files
    beside the folder that know more than it. `console_urls` is where operators on the network find
    the console. `inputs` are the faults of files that scores rest on, as far as somebody watches.
    """

    runs: bool
    lanes: tuple[LaneFacts, ...]
    ports: tuple[PortFacts, ...] = ()
    machine: MachineFacts | None = None
    jumps: tuple[Jump, ...] | None = None
    changed: tuple[str, ...] = ()
    newer: tuple[NewerEvidence, ...] = ()
    console_urls: tuple[str, ...] = ()
    dates: DateFacts | None = None
    inputs: tuple[InputFault, ...] = ()
