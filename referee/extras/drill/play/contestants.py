# SPDX-License-Identifier: Apache-2.0
"""The generated teams of a drill: each comes when its session is armed, and runs its client."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.core.states import SessionState, state_of
from referee.extras.drill.play.folder import DrillPictures, Teams
from referee.extras.drill.rules.record import ClientStop
from referee.service.setup.contest import Contest
from referee.service.setup.session_images import order_of
from referee.store.requests import count_fetched_images
from referee.store.sessions import SessionRecord
from referee.tracks.track import Delivery

# A team takes so long to start its client when it is armed, and when its client has failed.
_FIRST_S, _AGAIN_S = (2.0, 5.0), 4.0
# The client is slow enough that its images last for this part of the session.
_PACE = 0.9
_END_S = 5.0
_SAID_MOST = 160


@dataclass
class _Client:
    """The client of a team in a session: its process, and when to start the next one."""

    session: SessionRecord
    due_s: float
    process: subprocess.Popen[bytes] | None = None
    disturbers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    first: int = 0
    said: str = ""


class SimulatedTeams:
    """The teams' programs; `say` gets what the teams say at the table."""

    def __init__(
        self,
        contest: Contest,
        pictures: DrillPictures,
        passwords: Teams,
        urls: Mapping[int, str],
        folder: Path,
        seed: int,
        say: Callable[[str], None],
    ) -> None:
        self._contest = contest
        self._answers = json.loads(pictures.answers.read_text(encoding="utf-8"))
        self._passwords = passwords
        self._urls = urls
        self._folder = folder
        self._options = ["--shown"] if contest.track.delivery is Delivery.SHOWN else []
        tls = contest.config.server.contest_tls
        if tls is not None:
            self._options += ["--ca-file", str(tls.ca)]
        self._chance = random.Random(f"teams {seed}")
        self._say = say
        self._clients: dict[int, _Client] = {}
        self.stops: list[ClientStop] = []
        folder.mkdir(parents=True, exist_ok=True)

    def look(self, sessions: Sequence[SessionRecord]) -> None:
        """Start the clients of armed and running sessions, and end those of the others."""
        now = self._contest.clock.now()
        live = {
            session.session_id: session
            for session in sessions
            if state_of(session.facts, now) in (SessionState.ARMED, SessionState.RUNNING)
        }
        for session_id, session in live.items():
            if session_id not in self._clients:
                self._say(f"{session.team} stands at the table, ready to log in.")
                wait_s = self._chance.uniform(*_FIRST_S)
                self._clients[session_id] = _Client(session, time.monotonic() + wait_s)
            self._look_after(self._clients[session_id])
        for session_id in self._clients.keys() - live.keys():
            self._end(self._clients.pop(session_id))

    def drop(self, session_id: int, seconds: float) -> None:
        """Let a team's client lose the network, and come back after some seconds."""
        client = self._clients.get(session_id)
        if client is not None and client.process is not None:
            client.process.kill()
            client.process.wait()
            client.process = None
            client.due_s = time.monotonic() + seconds

    def disturb(self, session_id: int, how: str, seconds: float, team: str = "") -> None:
        """Start a program that disturbs a session: its own team's, or that of another team."""
        client = self._clients.get(session_id)
        if client is None:
            return
        user = team or client.session.team
        command = ["referee.demo.disturber", how, "--seconds", f"{seconds:g}"]
        client.disturbers.append(self._start(client.session, user, command))

    def is_disturbed(self, session_id: int) -> bool:
        """Tell whether a disturbing program of the session runs."""
        client = self._clients.get(session_id)
        return client is not None and any(one.poll() is None for one in client.disturbers)

    def calm(self, session_id: int | None = None) -> None:
        """End the disturbing programs of a session, or of all."""
        for number, client in self._clients.items():
            if session_id in (None, number):
                for disturber in client.disturbers:
                    _stop(disturber)

    def other_than(self, team: str) -> str:
        """Return the name of another team."""
        others = sorted(self._passwords.keys() - {team})
        return self._chance.choice(others) if others else team

    def close(self) -> None:
        """End every program of every team."""
        for client in self._clients.values():
            self._end(client)
        self._clients.clear()

    def _look_after(self, client: _Client) -> None:
        process = client.process
        if process is not None and process.poll() not in (None, 0):
            client.process = None
            client.due_s = time.monotonic() + _AGAIN_S
            self.stops.append(ClientStop(time.time(), client.session.session_id))
            said = _last_words(self._log(client.session))
            if said != client.said:  # A team that cannot connect does not say so every time.
                self._say(f"{client.session.team}: “{said}” We start our client again.")
            client.said = said
        if client.process is None and time.monotonic() >= client.due_s:
            client.process = self._begin(client)

    def _begin(self, client: _Client) -> subprocess.Popen[bytes]:
        """Start a client where the one before stopped; an image that failed twice is left out."""
        session = client.session
        fetched = count_fetched_images(self._contest.database.connection, session.session_id)
        again = fetched + 1
        client.first = again if again > client.first or not fetched else client.first + 1
        pace_s = _PACE * session.facts.length_s / max(1, self._contest.image_count)
        command = ["referee.demo.device", "--answers", str(self._answers_for(session))]
        command += ["--seconds-per-image", f"{pace_s:.3f}", "--first", str(client.first)]
        return self._start(session, session.team, command)

    def _start(
        self, session: SessionRecord, user: str, command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        with self._log(session).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *command, *self._options, "--url", self._urls[session.lane]]
                + ["--user", user, "--password", self._passwords[user]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _answers_for(self, session: SessionRecord) -> Path:
        """Write the answers under the numbers that the images have in this session."""
        path = self._folder / f"answers{session.session_id}.json"
        if not path.exists():
            order = order_of(self._contest.image_count, session.order_seed)
            numbers = {int(image): number for number, image in enumerate(order, 1)}
            rows = [row | {"image_id": numbers[row["image_id"]]} for row in self._answers]
            path.write_text(json.dumps(rows), encoding="utf-8")
        return path

    def _log(self, session: SessionRecord) -> Path:
        return self._folder / f"client{session.session_id}.log"

    def _end(self, client: _Client) -> None:
        for process in (client.process, *client.disturbers):
            if process is not None:
                _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("client: ")[:_SAID_MOST] if lines else "Our client has stopped."
