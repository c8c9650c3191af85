# SPDX-License-Identifier: Apache-2.0
"""Somebody who guesses one team's password keeps nobody else out of an event."""

from __future__ import annotations

import http.client
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from referee.service.entry.machine_turn import MachineTurn
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from tests.e2e.conftest import Material, make_event
from tests.support.running import PATIENCE_S, Program, eventually, get, program, request
from tests.support.teams import free_hashes, give_password

pytestmark = pytest.mark.slow

GUESSERS = 20
# Each has a password that no worker has seen. A right password is remembered after its first check.
VISITORS = [f"visitor {number}" for number in range(4)]
_PAUSE_S = 0.4
REFUSED = "Invalid username or password\n"


@pytest.fixture(scope="module")
def cheap_hashes() -> None:
    """Let hashes cost what they cost: that is what keeps a server busy with guesses."""


class Guesser(threading.Thread):
    """A connection that tries one wrong password after the other until it is stopped."""

    def __init__(self, address: str, number: int, team: str = "rocket", source: str = "") -> None:
        super().__init__(name=f"guesser-{number}", daemon=True)
        self.answers: list[tuple[int, str]] = []
        self._address = address
        self._number = number
        self._team = team
        self._source = source
        self._stopped = threading.Event()

    def run(self) -> None:
        """Guess."""
        with closing(
            http.client.HTTPConnection(
                self._address, timeout=PATIENCE_S, source_address=(self._source, 0)
            )
        ) as link:
            for guess in itertools.count():
                # Without the pause, these threads would slow down the honest ones beside them.
                if self._stopped.wait(_PAUSE_S):
                    return
                body = f"username={self._team}&password={self._number}-{guess}"
                self.answers.append(log_in(link, body))

    def stop(self) -> None:
        """Stop after the present guess."""
        self._stopped.set()
        self.join(PATIENCE_S)
        assert not self.is_alive()


def log_in(link: http.client.HTTPConnection, body: str) -> tuple[int, str]:
    """Try to log in over a connection and return status and text."""
    link.request("POST", "/login", body, {"Content-Type": "application/x-www-form-urlencoded"})
    response = link.getresponse()
    return response.status, response.read().decode()


def try_once(running: Program, team: str, password: str, source: str = "") -> tuple[int, str]:
    """Try to log in over a new connection, from this address of the machine."""
    place = running.contest.removeprefix("http://")
    with closing(
        http.client.HTTPConnection(place, timeout=PATIENCE_S, source_address=(source, 0))
    ) as link:
        return log_in(link, f"username={team}&password={password}")


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory, material: Material) -> Path:
    """Return the configuration of an event, which the tests share."""
    return make_event(tmp_path_factory.mktemp("event"), material)


@pytest.fixture(scope="module")
def passwords(event: Path) -> dict[str, str]:
    """Return the passwords of the guessed team, of the team whose turn it is, and of visitors.

    That of 'comet' costs nothing: its test is about turns alone, and has 78 guesses to be checked.
    """
    teams = load_config(event).teams
    costly = {team: give_password(teams, team) for team in ("rocket", "ants", *VISITORS)}
    with free_hashes():
        return costly | {"comet": give_password(teams, "comet")}


@pytest.fixture(scope="module")
def serving(event: Path, passwords: dict[str, str]) -> Iterator[Program]:
    """Return an event without a meter, which the tests share."""
    text = event.read_text().replace('resource = "emulated"', 'resource = "none"')
    event.write_text(text.replace("seconds = 5", "seconds = 600"))
    with program(["serve", "--config", str(event)], event.parent) as running:
        yield running


@pytest.fixture
def running(serving: Program) -> Iterator[Program]:
    """Return the event without a session, before the test and after it."""
    yield serving
    serving.stop_session()


@pytest.fixture
def guessers(running: Program) -> Iterator[list[Guesser]]:
    """Return connections that guess; each has had an answer."""
    address = running.contest.removeprefix("http://")
    started = [Guesser(address, number) for number in range(GUESSERS)]
    for guesser in started:
        guesser.start()
    try:
        eventually(lambda: all(guesser.answers for guesser in started), "an answer for each")
        yield started
    finally:
        for guesser in started:
            guesser.stop()


def arm(running: Program, team: str) -> None:
    """Make and arm a session, as the operators' page does."""
    key = json.loads(get(f"{running.console}/form-key")[1])["key"]
    headers = {"X-Form-Key": key, "Content-Type": "application/json"}
    body = json.dumps({"team": team}).encode()
    status, text = request(f"{running.console}/sessions", body, headers)
    assert status == 200, text
    number = json.loads(text)["session"]
    assert request(f"{running.console}/sessions/{number}/arm", b"{}", headers)[0] == 200


def test_guesses_at_one_team_keep_no_other_team_out(
    running: Program, passwords: dict[str, str], guessers: list[Guesser]
) -> None:
    """While twenty connections guess, every right login from the same address is accepted."""
    arm(running, "ants")
    for visitor in VISITORS:
        status, text = try_once(running, visitor, passwords[visitor])
        assert (status, text.startswith("It is not your turn yet")) == (401, True), text
    for _ in range(3):
        status, text = try_once(running, "ants", passwords["ants"])
        assert status == 200, text
    eventually(lambda: sum(len(guesser.answers) for guesser in guessers) > 100, "more guesses")
    texts = [text for guesser in guessers for _, text in guesser.answers]
    assert {401} == {status for guesser in guessers for status, _ in guesser.answers}
    # Only a guess that was checked is called wrong. The others are told to wait, and why.
    others = [text for text in texts if text != REFUSED]
    assert others
    # On a busy machine the line is full now and then, and the newest of this address leaves it.
    waits = ("Too many passwords for 'rocket' were tried", "Too many passwords are tried at the")
    assert [] == [text for text in others if not text.startswith(waits)]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of the loopback")
def test_the_guessed_team_itself_logs_in_from_its_own_address(
    running: Program, passwords: dict[str, str], guessers: list[Guesser]
) -> None:
    """Guesses at a team's password from one address do not keep the team out at another."""
    arm(running, "rocket")
    status, text = try_once(running, "rocket", passwords["rocket"], "127.0.0.2")
    assert status == 200, text
    assert all(guesser.is_alive() for guesser in guessers)


@pytest.mark.skipif(sys.platform != "linux", reason="needs other addresses of the loopback")
def test_a_team_passes_the_guesses_of_many_addresses_at_its_name(
    running: Program, passwords: dict[str, str], event: Path
) -> None:
    """The login of a team waits for no guess at its name, from however many addresses they come.

    The test holds the turn of all processes as a login without a guess does. So no guess is
    computed, and whoever had to wait for one would wait for ever.
    """
    arm(running, "comet")
    address = running.contest.removeprefix("http://")
    for number in range(39):  # From now on each of these addresses has guessed.
        try_once(running, "comet", f"first {number}", f"127.0.3.{number + 1}")
    guessers = [Guesser(address, n, "comet", f"127.0.3.{n + 1}") for n in range(39)]
    contest = open_contest(load_config(event), read_only=True)
    turn = MachineTurn(contest.config.storage.folder, contest.secrets.token_key)
    contest.database.close()
    eventually(lambda: turn.take(alone=False), "the turn")
    for guesser in guessers:
        guesser.start()
    try:
        status, text = try_once(running, "comet", passwords["comet"], "127.0.4.1")
        assert status == 200, text
        assert REFUSED not in [text for guesser in guessers for _, text in guesser.answers]
    finally:
        turn.give_back()
        for guesser in guessers:
            guesser.stop()
