# SPDX-License-Identifier: Apache-2.0
"""The admission of contestants: logins, tokens and their sessions, and who may still answer.

A token is a session's number and its nonce with a signature, so the check of the signature needs
no disk. The nonce is the session's own: one that was lost with the days after a backup had another.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from referee.core.blocking import BlockingRunner, run_here
from referee.core.instant import Instant
from referee.core.logins import TeamWords
from referee.core.states import Arrival, SessionFacts, SessionState, arrival_of, state_of
from referee.errors import Refusal
from referee.service.entry.devices import OneDevice
from referee.service.entry.hash_turns import HashTurns
from referee.service.entry.machine_turn import MachineTurn
from referee.service.entry.passwords import stays
from referee.service.entry.teams import EventTeams, PracticeTeams
from referee.service.setup.contest import Contest
from referee.service.setup.lane_words import other_lane
from referee.store.answers import count_late_answers
from referee.store.database import Connection, Database
from referee.store.nonces import NONCE_BYTES, nonce_of
from referee.store.rehearsals import teams_at
from referee.store.sessions import FIRST_LANE, SessionRecord, load_session, session_version
from referee.store.team_words import other_words
from referee.store.teams import present_names

# The most logins that wait for the check of their password in one process.
_LOGINS_WAITING = 200

LATE_ANSWERS = 1000
"""The largest number of late answers that are stored for one session."""

MAX_TOKEN = 200
"""The most characters of a token; the clients of 2015-2019 had no room for more."""


class Desk(Protocol):
    """The control desk as the contest server sees it: it begins and ends sessions."""

    def ask(self, action: str, **arguments: object) -> Mapping[str, Any]:
        """Ask the desk for an action and return its answer; raise `Refusal` or `Unavailable`."""


@dataclass(frozen=True)
class SessionLogin:
    """The result of a good login: the token and its session."""

    token: str
    session: SessionRecord


class SessionCache:
    """A cache of parsed sessions; safe to use from many threads.

    Each look asks the database, in one small query, whether there is a newer event or a scoring
    run. So the result is always up to date.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, tuple[tuple[int, int, int], SessionRecord]] = {}

    def get(self, session_id: int, connection: Connection | None = None) -> SessionRecord:
        """Return the present session; raise `Refusal` (code `session_unknown`).

        A caller inside a transaction gives its `connection` to read the session within it.
        """
        connection = connection or self._database.connection
        # Read the version first: an event between the two reads makes the next look read again.
        version = session_version(connection, session_id)
        known = self._known.get(session_id)
        if known is not None and known[0] == version:
            return known[1]
        session = load_session(connection, session_id)
        self._known[session_id] = (version, session)
        return session


def answer_arrival(
    connection: Connection, session_id: int, facts: SessionFacts, received: Instant
) -> Arrival:
    """Tell whether an answer received at this instant counts, is stored as late, or is refused.

    A session that has all its late answers refuses more.
    """
    arrival = arrival_of(facts, received)
    full = arrival is Arrival.LATE and count_late_answers(connection, session_id) >= LATE_ANSWERS
    return Arrival.REFUSED if full else arrival


class Admission:
    """The admission of teams at a lane's port: it checks logins and tokens, in any worker."""

    def __init__(
        self,
        contest: Contest,
        sessions: SessionCache,
        desk: Desk,
        devices: OneDevice,
        run_hashing: BlockingRunner = run_here,
        lane: int = FIRST_LANE,
    ) -> None:
        self._contest = contest
        self._lane = lane
        self._sessions = sessions
        self._desk = desk
        self._devices = devices
        # Only signed tokens are kept. There is one for each session, so the memory is bounded.
        self._known: dict[str, SessionToken] = {}
        self._teams: EventTeams | PracticeTeams = PracticeTeams()
        if not contest.config.admits_anybody:
            machine = MachineTurn(contest.config.storage.folder, contest.secrets.token_key)
            turns = HashTurns(machine=machine, most=_LOGINS_WAITING)
            self._teams = EventTeams(
                contest.config.teams,
                run_hashing,
                turns=turns,
                others=self._other_words,
            )

    def login(
        self, username: str, password: str, address: str, waits: Callable[[], bool] = stays
    ) -> SessionLogin:
        """Check the password, ask the desk to begin the session, and return its token.

        A repeat while the session runs returns the same token and changes nothing. Raises
        `Refusal` (`login_invalid`, `login_busy`, `not_armed`, `session_over`,
        `other_session_live`, `other_lane`, `other_device`). Raises `Unavailable` if the meter or
        the control desk fails.
        """
        team = self.require_team(username, password, address, waits)
        answer = self._desk.ask("begin", team=team, address=address, lane=self._lane)
        session = load_session(self._contest.database.connection, int(answer["session"]))
        self._devices.require(session, address)
        return SessionLogin(given_token(self._contest, session.session_id), session)

    def require_team(
        self, username: str, password: str, address: str, waits: Callable[[], bool] = stays
    ) -> str:
        """Check a team's password, begin nothing, and return the team's name as it is stored.

        `waits` tells whether the client still waits for the answer. Raises `Refusal`
        (`login_invalid`, `login_busy`).
        """
        team = self._teams.admitted(username, password, address, waits)
        if team is None:
            raise Refusal(
                "login_invalid",
                self._teams.advice,
            )
        if self._contest.config.admits_anybody:
            # Nobody has registered, so a team is the one that has logged in under this name.
            present = present_names(self._contest.database.connection)
            return TeamWords(present, self._other_words()).find(team) or team
        return team

    def _other_words(self) -> Sequence[tuple[str, str]]:
        """Return the logins and earlier names; an event's rehearsal has those of the event."""
        event = self._contest.config.event_database
        if event is not None:
            return teams_at(event).words
        return other_words(self._contest.database.connection)

    def gave_out(self, token: str) -> bool:
        """Tell whether a token is one of this contest; this costs no look at the database."""
        return self._read(token) is not None

    def known_session(self, token: str, address: str) -> SessionRecord:
        """Return the session of a valid token; the session may be in any state.

        Raises `Refusal`: code `token_invalid`, `other_lane` for a session of another lane, and
        `other_device` where the rules allow the session one address.
        """
        session = self._session_behind(token)
        self._devices.require(session, address)
        return session

    def _session_behind(self, token: str) -> SessionRecord:
        read = self._read(token)
        if read is None:
            raise Refusal("token_invalid", "This token was not given out here: log in first.")
        known = nonce_of(self._contest.database.connection, "session", read.session_id)
        if known != read.nonce:  # Before a backup was restored another session had the number.
            raise Refusal(
                "token_invalid", "This token's session does not exist here: log in again."
            )
        session = self._sessions.get(read.session_id)
        if session.lane != self._lane:
            raise other_lane(self._contest.config, session.lane, self._lane)
        return session

    def _read(self, token: str) -> SessionToken | None:
        read = self._known.get(token)
        if read is None:
            read = session_of_token(self._contest.secrets.token_key, token)
            if read is not None:
                self._known[token] = read
        return read

    def running_session(self, token: str, address: str) -> SessionRecord:
        """Return the running session of a token.

        Raises `Refusal` as `known_session` does, and with code `token_invalid` if the session does
        not run.
        """
        session = self.known_session(token, address)
        state = state_of(session.facts, self._contest.clock.now())
        if state is not SessionState.RUNNING:
            raise Refusal(
                "token_invalid", f"The session of this token does not run: it is {state.value}."
            )
        return session

    def answering_session(self, token: str, address: str) -> SessionRecord:
        """Return the session of a token if its answers are still stored, late ones included.

        This check comes before the parsing of an answer, so a client that never stops sending
        costs little. Raises `Refusal` as `known_session` does, and with code `token_invalid` if
        the session takes no answers.
        """
        session = self.known_session(token, address)
        connection, now = self._contest.database.connection, self._contest.clock.now()
        arrival = answer_arrival(connection, session.session_id, session.facts, now)
        if arrival is Arrival.REFUSED:
            raise Refusal(
                "token_invalid", "The session of this token takes no answers; nothing was stored."
            )
        return session

    def in_time(self, token: str, received: Instant) -> bool:
        """Tell whether an answer received at this instant counts for the token's session."""
        return arrival_of(self._session_behind(token).facts, received) is Arrival.IN_TIME

    def show(self, session: SessionRecord, number: int, received: Instant) -> None:
        """Show an image on the session's screen; return when the screen has painted it.

        `received` is the instant of the request's last byte. Raises `Refusal` (`display_failed`,
        `image_missing`, `token_invalid`). Raises `Unavailable` if the control desk does not answer.
        """
        self._desk.ask(
            "show",
            session=session.session_id,
            image=number,
            monotonic_s=received.monotonic_s,
            utc=received.utc.isoformat(),
            boot_id=received.boot_id,
        )

    def logout(self, session: SessionRecord) -> None:
        """End the session for its contestant; return when the meter has been told to stop."""
        self._desk.ask("logout", session=session.session_id)


class SessionToken(NamedTuple):
    """What a token says: the number of a session, and its nonce."""

    session_id: int
    nonce: bytes


def given_token(contest: Contest, session_id: int) -> str:
    """Return the token of a session of a contest; raise `Refusal` (code `session_unknown`)."""
    nonce = nonce_of(contest.database.connection, "session", session_id)
    if nonce is None:
        raise Refusal("session_unknown", f"There is no session {session_id}.")
    return token_of_session(contest.secrets.token_key, session_id, nonce)


def token_of_session(key: bytes, session_id: int, nonce: bytes) -> str:
    """Return the session's token: ASCII `[A-Za-z0-9_.-]`, under 200 characters, no newline.

    The token is the nonce and an HMAC-SHA256 of number and nonce under the contest's key. It is the
    same at every login of the session, contains no secret of the team, and is not stored. No other
    session ever has it, also where a database that was restored gives the number again.
    """
    digest = hmac.digest(key, f"session {session_id} ".encode("ascii") + nonce, "sha256")
    return f"{session_id}.{base64.urlsafe_b64encode(nonce + digest).decode('ascii')}"


def session_of_token(key: bytes, token: str) -> SessionToken | None:
    """Return what a token says, or None if this key has not signed it.

    Invalid tokens are not remembered. The check takes two microseconds.
    """
    if len(token) > MAX_TOKEN:
        return None
    number, _, rest = token.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        return None
    try:
        nonce = base64.urlsafe_b64decode(rest.encode("ascii"))[:NONCE_BYTES]
    except (UnicodeEncodeError, binascii.Error):
        return None
    expected = token_of_session(key, int(number), nonce)
    if not hmac.compare_digest(expected.encode("ascii"), token.encode("ascii")):
        return None
    return SessionToken(int(number), nonce)
