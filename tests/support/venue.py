# SPDX-License-Identifier: Apache-2.0
"""The venue of a whole event: its folder, its programs, its teams and their clients."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from urllib.parse import urlencode

from referee.cli import main
from tests.e2e.conftest import Material, make_event
from tests.support.lane_console import PLACES
from tests.support.ports import free_address
from tests.support.running import Program, client, get, program, request

SECONDS = 6
LOAD_W = 6.0
NAMES = dict(PLACES)
LANES = {1: NAMES[1], 2: NAMES[2]}
PUBLIC = (
    "/",
    "/view",
    "/live",
    "/race",
    "/charts/energy.svg",
    "/charts/speed.svg",
    "/feed?stream=false",
)


class Venue:
    """An event of lanes, each with a meter of the same load, and its teams.

    `meters` are the resources of meters that run already, or "emulated", one a lane: two emulated
    ones, if it is left out. With a single one the event has no lanes.
    """

    def __init__(
        self,
        folder: Path,
        material: Material,
        teams: Sequence[str],
        meters: Sequence[str] = ("emulated", "emulated"),
        seconds: int = SECONDS,
    ) -> None:
        self.folder, self.teams = folder, teams
        self.config = make_event(folder, material)
        # Copies, because an image is touched.
        self.images = Path(shutil.copytree(material.images, folder / "images"))
        self.answers = material.answers
        self.truth = material.ground_truth
        # A restart must find its clients on the same ports.
        console, self.audience, *doors = [free_address() for _ in range(2 + len(meters))]
        text = self.config.read_text().replace(f'"{material.images}"', f'"{self.images}"')
        text = text.replace('console = "127.0.0.1:0"', f'console = "{console}"')
        text = text.replace('# scoreboard = ""', f'scoreboard = "{self.audience}"')
        text = text.replace("seconds = 5\n", f"seconds = {seconds}\n")
        if len(meters) == 1:
            text = text.replace('contest = "127.0.0.1:0"', f'contest = "{doors[0]}"')
            text = text.replace('resource = "emulated"', f'resource = "{meters[0]}"')
        else:
            text = text.replace('contest = "127.0.0.1:0"\n', "")
            text = text.replace('resource = "emulated"\n', "")
            for name, door, meter in zip(NAMES.values(), doors, meters):
                text += f'\n[[lane]]\nname = "{name}"\ncontest = "{door}"\nresource = "{meter}"\n'
                text += f'emulated_load = "{LOAD_W}"\n'
        self.config.write_text(text)
        self.doors = dict(zip(NAMES, doors))
        self.console = f"http://{console}"
        self.passwords: dict[str, str] = {}

    def referee(self, *arguments: str) -> int:
        """Run a command for this event, in this process."""
        return main([*arguments, "--config", str(self.config)])

    def import_teams(self) -> None:
        """Register the teams from a table, and read each one's password from its slip."""
        table, slips = self.folder / "teams.csv", self.folder / "slips.html"
        table.write_text("team,organisation\n" + "".join(f"{t},{t} Lab\n" for t in self.teams))
        assert 0 == self.referee("team", "import", str(table))
        assert 0 == self.referee("team", "slips", "--out", str(slips))
        slip = r'<h1 dir="auto">(.+?)</h1>.*?<dt>Password</dt><dd>(.+?)</dd>'
        found = re.findall(slip, slips.read_text(), re.DOTALL)
        self.passwords = {html.unescape(team): html.unescape(word) for team, word in found}
        assert set(self.teams) == set(self.passwords)

    def register_operator(self, name: str, role: str) -> str:
        """Register somebody at the console, and return the password."""
        with redirect_stdout(io.StringIO()) as said:
            assert 0 == self.referee("operator", "add", name, "--role", role)
        return said.getvalue().strip().removeprefix(f"{name}: ")

    def touch_an_image(self) -> None:
        """Give an image another time, as a copy has that somebody has put in its place."""
        os.utime(next(self.images.glob("*.jpg")))

    def propose(self, reason: str) -> int:
        """Propose new scores with a blacklist that takes out a class of the first images."""
        truth = json.loads(self.truth.read_text())
        class_id = truth["annotations"][0]["category_id"]
        path = self.folder / "blacklist.csv"
        path.write_text("".join(f"{image},{class_id}\n" for image in range(1, 4)))
        return self.referee("proposal", "make", "--reason", reason, "--blacklist", str(path))

    def serve(self) -> AbstractContextManager[Program]:
        """Run the event's programs until the block ends."""
        return program(["serve", "--config", str(self.config)], self.folder)

    def play(self, team: str, lane: int, answers: Path | None = None) -> threading.Thread:
        """Let a team's real client take part; the thread ends with it."""
        arguments = (f"http://{self.doors[lane]}", "--no-logout")
        arguments += ("--answers", str(answers or self.answers))
        known = {"user": team, "password": self.passwords[team]}
        player = threading.Thread(target=client, args=arguments, kwargs=known, name=team)
        player.start()
        return player

    def log_in(self, team: str, lane: int) -> str:
        """Try to log in at a lane's door, and return the answer."""
        body = urlencode({"username": team, "password": self.passwords[team]}).encode()
        return request(f"http://{self.doors[lane]}/login", body, {})[1].decode()

    def verify(self, token: str, lane: int) -> tuple[int, str]:
        """Ask a lane's server whether a token counts there."""
        status, body = request(f"http://{self.doors[lane]}/verify", f"token={token}".encode(), {})
        return status, body.decode()

    def fewer_answers(self) -> Path:
        """Return answers to the first images alone."""
        path = self.folder / "fewer.json"
        rows = json.loads(self.answers.read_text())
        path.write_text(json.dumps([row for row in rows if row["image_id"] <= 6]))
        return path

    def public_bytes(self) -> dict[str, bytes]:
        """Return every byte that the public gets."""
        pages = [f"/team/{team}" for team in self.teams]
        found = {path: get(f"http://{self.audience}{path}") for path in (*PUBLIC, *pages)}
        assert {200} == {status for status, _ in found.values()}
        return {path: body for path, (_, body) in found.items()}
