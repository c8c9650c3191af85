# SPDX-License-Identifier: Apache-2.0
"""The scene of a drill: what stands in the room, and what hands can do with it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import RefereeError
from referee.extras.drill.play.contestants import SimulatedTeams
from referee.extras.drill.play.host import DrillHost
from referee.extras.drill.play.meters import DrillMeter
from referee.extras.drill.rules.faults import (
    CABLE,
    COPY,
    DEVICE,
    HANDS,
    POWER,
    RESET,
    ROOM,
    START,
    TEAM,
)
from referee.service.setup.contest import Contest


@dataclass
class Images:
    """The folder of the pictures, from which a fault takes files away."""

    folder: Path
    aside: Path
    taken: list[Path] = field(default_factory=list)

    def take(self, path: Path) -> None:
        """Take a file away."""
        self.aside.mkdir(exist_ok=True)
        shutil.move(path, self.aside / path.name)
        self.taken.append(path)

    def put_back(self) -> None:
        """Put all files back."""
        while self.taken:
            path = self.taken.pop()
            shutil.move(self.aside / path.name, path)


@dataclass
class DrillScene:
    """The referee, the meters by their lanes, the teams and the pictures of a drill."""

    contest: Contest
    host: DrillHost
    meters: Mapping[int, DrillMeter]
    teams: SimulatedTeams
    images: Images
    disk_is_full: bool = False

    def do(self, hand: str, lane: int | None) -> str:
        """Let hands act in the room, at the table of a lane; return what they say about it."""
        meters = [self.meters[lane]] if lane is not None else list(self.meters.values())
        try:
            for meter in meters:
                _at_meter(hand, meter)
        except RefereeError as error:
            return str(error)
        if hand == TEAM:
            self.teams.calm()
        elif hand == ROOM:
            self.free_disk()
        elif hand == COPY:
            self.images.put_back()
        elif hand == START:
            if self.host.is_up:
                return "The laptop is on, and the referee runs."
            self.host.start()
        return f"Done: {HANDS[hand]}."

    def close(self) -> None:
        """Stop the teams and the referee; a repeat changes nothing."""
        self.teams.close()
        self.free_disk()
        self.host.stop()

    def fill_disk(self) -> None:
        """Let the disk of the referee be full."""
        self.disk_is_full = True
        self.host.fill_disk()

    def free_disk(self) -> None:
        """Make room on the disk of the referee."""
        self.disk_is_full = False
        self.host.free_disk()


def _at_meter(hand: str, meter: DrillMeter) -> None:
    if hand == CABLE:
        meter.put_cable_back()
    elif hand == POWER:
        meter.switch_on()
    elif hand == RESET:
        meter.press("RESET")
    elif hand == DEVICE:
        meter.load()
