# SPDX-License-Identifier: Apache-2.0
"""A station whose pictures are taken: an event with emulated meters on the table, and its teams."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver

from referee.core.turns import draw_lots
from referee.demo.imperfect_answers import write_answers
from referee.extras.drill.play.meters import DrillMeter, load_profile
from referee.service.setup.lane_config import MeterSection
from tests.e2e.conftest import Material
from tests.support.browsing import press
from tests.support.emulators import Emulator
from tests.support.operators import Operator, answer
from tests.support.ports import free_address
from tests.support.running import PATIENCE_S
from tests.support.venue import Venue

IMAGES = 120
SECONDS = 50
PACE_S = 0.4  # A team is busy for nearly the whole session.
_LOAD_W = 6.0
_SEED = "7 June, noon"


class TableMeter(DrillMeter):
    """An emulated meter on the table, with one fault more."""

    def show_nothing(self) -> None:
        """Show dashes in the place of values for two seconds."""
        self._send("no_data updates=8")


@contextmanager
def meter_on_the_table(folder: Path, number: int) -> Iterator[TableMeter]:
    """Run an emulated meter whose load moves as that of a device at work; faults are on request."""
    profile = folder / f"load{number}.csv"
    profile.write_text(load_profile(_LOAD_W, number))
    control = free_address()
    port = control.rpartition(":")[2]
    emulator = Emulator("--profile", str(profile), "--profile-runs-on", "--control", port)
    try:
        yield TableMeter(emulator.resource, int(port), MeterSection())
    finally:
        emulator.end()


def device(url: str, user: str, password: str, answers: Path) -> subprocess.Popen[bytes]:
    """Let the sample client take part at the pace of a small board."""
    command = [sys.executable, "-m", "referee.demo.device", "--url", url, "--user", user]
    command += ["--password", password, "--answers", str(answers)]
    command += ["--seconds-per-image", str(PACE_S)]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2])


class Station(Venue):
    """An event with a meter for each lane, where Kim works at the console."""

    def __init__(
        self, folder: Path, material: Material, teams: Sequence[str], meters: Sequence[TableMeter]
    ) -> None:
        folder.mkdir()
        drawn = [lot.name for lot in draw_lots(teams, _SEED)]
        super().__init__(folder, material, drawn, [one.resource for one in meters], SECONDS)
        text = self.config.read_text()
        text = text.replace('name = "LPIRC"', f'name = "LPIRC {folder.name}"', 1)
        # Ranges that fit the load, so that the energies are as certain as those of an event.
        text = text.replace("voltage_range_v = 300.0", "voltage_range_v = 150.0")
        text = text.replace("current_range_a = 1.0", "current_range_a = 0.1")
        text = text.replace("pictures = []", f"pictures = {drawn}")
        self.config.write_text(text)
        self.meters = meters
        self.import_teams()
        self._password = self.register_operator("Kim", "operator")

    def kim(self, browser: webdriver.Chrome) -> Operator:
        """Log Kim in at the console, who draws the order of the teams."""
        kim = Operator(browser, self.console)
        kim.log_in("Kim", self._password)
        kim.goes_to("Teams")
        press(browser, "lottery")
        answer(browser, "Draw", seed=_SEED)
        kim.sees("order-text", _SEED)
        kim.goes_to("Session")
        return kim

    @contextmanager
    def playing(self, team: str, lane: int = 1) -> Iterator[None]:
        """Let a team take part, with a detector of its own, and wait for its end."""
        answers = self.folder / f"{team}.json"
        write_answers(self.truth, answers, seed=sum(team.encode()))
        player = device(f"http://{self.doors[lane]}", team, self.passwords[team], answers)
        yield
        assert 0 == player.wait(PATIENCE_S)
