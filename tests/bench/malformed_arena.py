# SPDX-License-Identifier: Apache-2.0
"""The three running servers of an event that are asked, and the state of its session."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import psutil

from referee.extras.ovic.submission.team_tokens import token_of_team
from referee.programs.hosting import Host, claimed, hosted
from referee.service.entry.admission import token_of_session
from referee.service.observation.processes import processes_under
from referee.service.people.logins import Logins
from referee.service.people.operators import add_operator
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest, open_contest
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import new_passwords
from referee.store.nonces import NONCE_BYTES, nonce_of
from referee.store.teams import Registration
from tests.bench.malformed_requests import Keys
from tests.support.contests import RESOURCE
from tests.support.ovic_contests import make_ovic_contest
from tests.support.running import eventually, request

State = Literal["before", "running", "after"]

_SERVERS = """
[server]
contest = "127.0.0.1:0"
console = "127.0.0.1:0"
scoreboard = "127.0.0.1:0"
"""
# What a refused request may add to, the records of requests and refusals, and what runs by itself.
_MAY_GROW = set(
    "requests refused_answers audit notices public_changes chain sqlite_sequence".split()
)
_MAY_GROW |= {"readings", "session_meters", "energies", "score_snapshots", "scoring_runs"}
_MAY_GROW |= {
    "ovic_events",
    "fetched_images",
    "check_findings",
    "session_events",
    "frozen_publications",
}

_OF_CONTESTANTS = {"answers", "answers_of_tracks", "shows", "ovic_entries", "inputs"}


class Arena:
    """An event with the teams 'ants' and 'bees' and the operator 'Kim'."""

    def __init__(
        self, host: Host, contest: Contest, keys: dict[str, str], left_out: Collection[str]
    ) -> None:
        self.left_out = left_out
        self._host, self._contest = host, contest
        self._password, self._seal = keys["ants"], keys["seal"]
        supervisor = host.supervisor
        self.urls = {
            "contest": supervisor.contest_url,
            "console": supervisor.console_url,
            "scoreboard": str(supervisor.scoreboard_url),
        }
        self.hosts = {name: url.removeprefix("http://") for name, url in self.urls.items()}
        self.session = 0
        key = json.loads(request(f"{self.urls['console']}/form-key", None, {})[1])["key"]
        self._form_key = str(key)
        tables = host.database.connection.execute(
            "select name from sqlite_master where type = 'table'"
        )
        self._tables = sorted({row[0] for row in tables} - _MAY_GROW)

    def address(self, server: str) -> tuple[str, int]:
        """Return a server's host and port."""
        host, _, port = self.hosts[server].partition(":")
        return host, int(port)

    def keys(self) -> Keys:
        """Return what a client knows, tokens of other sessions and of OVIC among it."""
        sessions = (self.session, self.session, self.session, self.session + 1, 1)
        tokens = [self._token(number) for number in sessions]
        team = token_of_team(self._contest, "ants")
        cookie = f"{Logins(self._contest).cookie}={self._seal}"
        return Keys((*tokens, team, team), "ants", self._password, cookie, self._form_key)

    def _token(self, session: int) -> str:
        """Return a session's token, and a well-signed one where there is no such session."""
        nonce = nonce_of(self._host.database.connection, "session", session) or bytes(NONCE_BYTES)
        return token_of_session(self._contest.secrets.token_key, session, nonce)

    def enter(self, state: State) -> None:
        """Bring the event into a state: no session yet, one that runs, or one that is over."""
        if state == "running":
            eventually(self._runs, "a session to run")
        elif state == "after":
            self._act(f"sessions/{self.session}/stop")
        else:
            self._void_all()

    def is_well(self, state: State) -> list[str]:
        """Return what a normal client and an operator find wrong now."""
        wrong = []
        if request(f"{self.urls['contest']}/help", None, {})[0] != 200:
            wrong.append("the contest server gives no help")
        if self._board() is None:
            wrong.append("the console shows no board")
        view = f"{self.urls['scoreboard']}/view"
        if "scoreboard" not in self.left_out and request(view, None, {})[0] != 200:
            wrong.append("the scoreboard shows nothing")
        if state == "running":
            self.enter(state)  # A request of this run may have ended the session: it could.
        return wrong

    def facts(self, server: str) -> dict[str, int]:
        """Return how much is in each table that a server writes, and no other server meanwhile."""
        tables = [
            name for name in self._tables if (name in _OF_CONTESTANTS) == (server == "contest")
        ]
        counts = ", ".join(f"(select count(*) from {name})" for name in tables)
        row = self._host.database.connection.execute(f"select {counts}").fetchone()
        return {} if server == "scoreboard" else dict(zip(tables, row, strict=True))

    def memory_mb(self) -> dict[str, float]:
        """Return the memory of each program, its workers together, without what they share."""
        found: dict[str, float] = {}
        for it in processes_under(os.getpid()):
            if it.pid != os.getpid():
                used = psutil.Process(it.pid).memory_full_info().uss / 2**20
                found[it.program] = found.get(it.program, 0.0) + used
        return found

    def _runs(self) -> bool:
        headers = {"Authorization": f"Bearer {self.keys().tokens[0]}"}
        status, told = request(f"{self.urls['contest']}/status", None, headers)
        if status == 200 and json.loads(told)["state"] == "RUNNING":
            return True
        self._void_all()
        self._act("results/reopen", reason="again")
        self._act("teams/return", team="ants", reason="again")
        status, told = self._act("sessions", team="ants", lane=1)
        if status == 200:
            self.session = int(json.loads(told)["session"])
            self._act(f"sessions/{self.session}/arm")
            form = f"username=ants&password={self._password}".encode()
            request(f"{self.urls['contest']}/login", form, {})
        return False

    def _void_all(self) -> None:
        for row in (self._board() or {}).get("sessions", ()):
            if row["state"] in ("READY", "ARMED", "RUNNING", "ENDED", "SCORED"):
                self._act(f"sessions/{row['id']}/void", reason="another one")

    def _board(self) -> dict[str, Any] | None:
        status, told = request(f"{self.urls['console']}/board", None, self._headers())
        found: dict[str, Any] | None = json.loads(told) if status == 200 else None
        return found

    def _act(self, path: str, **arguments: object) -> tuple[int, bytes]:
        headers = self._headers() | {"Content-Type": "application/json"}
        headers["X-Form-Key"] = self._form_key
        return request(f"{self.urls['console']}/{path}", json.dumps(arguments).encode(), headers)

    def _headers(self) -> dict[str, str]:
        """Return an operator's cookie; a login that a request has ended begins again."""
        logins = Logins(self._contest)
        if logins.look(self._seal) is None:
            self._seal = logins.begin("Kim", _SECRET, "")
        return {"Cookie": f"{logins.cookie}={self._seal}"}


_SECRET = "a long password of Kim"


@contextmanager
def arena(left_out: Collection[str] = ()) -> Iterator[Arena]:
    """Run the event's servers for the block; nobody asks those that are left out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Sessions are as long as may be, so that they end by requests alone.
        contest = make_ovic_contest(folder, mode="event", entries_a_day=20)
        contest.database.close()
        path = contest.config.path
        text = path.read_text().replace(RESOURCE, "none") + _SERVERS
        text = text.replace("[contest]", "[contest]\nseconds = 7200")
        path.write_text(text)
        config = load_config(path)
        with claimed(config.storage.folder):
            contest = open_contest(config)
            add_operator(contest, "Kim", "operator", "boss", _SECRET)
            for team in ("ants", "bees"):
                add_team(contest, team, Registration(), "Kim")
            keys = new_passwords(contest, ["ants", "bees"], "Kim")
            keys["seal"] = Logins(contest).begin("Kim", _SECRET, "")
            with hosted(config) as host:
                yield Arena(host, contest, keys, left_out)
            contest.database.close()
