# SPDX-License-Identifier: Apache-2.0
"""Who may come in: logins, and the sessions that tokens stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from referee.core.instant import Instant
from referee.core.states import Arrival, SessionState, arrival_of, state_of
from referee.errors import Refusal
from referee.service.entry.answers import LATE_ANSWERS
from referee.service.entry.session_cache import SessionCache
from referee.service.entry.teams import EventTeams, PracticeTeams
from referee.service.entry.tokens import session_of_token, token_of_session
from referee.service.setup.contest import Contest
from referee.store.answers import count_late_answers
from referee.store.database import Aside, here
from referee.store.sessions import SessionRecord, load_session


class Desk(Protocol):
    """The control desk, which begins and ends sessions."""

    def ask(self, action: str, **arguments: object) -> Mapping[str, Any]:
        """Have it do something; raises `Refusal` and `Unavailable`."""


@dataclass(frozen=True)
class Login:
    """Hold what a contestant gets for a good login."""

    token: str
    session: SessionRecord


class Admission:
    """Let teams log in and recognise their tokens; any worker can do it for any team."""

    def __init__(
        self, contest: Contest, sessions: SessionCache, desk: Desk, hash_aside: Aside = here
    ) -> None:
        self._contest = contest
        self._sessions = sessions
        self._desk = desk
        # Good tokens only, of which there are no more than sessions.
        self._known: dict[str, int] = {}
        self._teams: EventTeams | PracticeTeams = (
            PracticeTeams()
            if contest.config.contest.mode == "practice"
            else EventTeams(contest.config.teams, hash_aside)
        )

    def login(self, username: str, password: str, address: str) -> Login:
        """Check the password, have the session begun, and return its token.

        While the session runs, the same token comes back and nothing else happens. Raises
        `Refusal` (`login_invalid`, `not_armed`, `session_over`, `other_session_live`) and
        `Unavailable` when the meter or the control desk does not do its share.
        """
        if not self._teams.admits(username, password, address):
            raise Refusal(
                "login_invalid",
                "User name or password is wrong; look for typing errors, and for the event whose "
                "password it is.",
            )
        answer = self._desk.ask("begin", team=username, address=address)
        session = load_session(self._contest.database.connection, int(answer["session"]))
        token = token_of_session(self._contest.secrets.token_key, session.session_id)
        return Login(token, session)

    def known_session(self, token: str) -> SessionRecord:
        """Return the session of a token that was signed here, whatever its state.

        Raises `Refusal` with code `token_invalid`.
        """
        session_id = self._known.get(token)
        if session_id is None:
            session_id = session_of_token(self._contest.secrets.token_key, token)
            if session_id is None:
                raise Refusal("token_invalid", "This token was not given out here: log in first.")
            self._known[token] = session_id
        try:
            return self._sessions.get(session_id)
        except Refusal:
            raise Refusal(
                "token_invalid", "This token's session does not exist here: log in again."
            ) from None

    def running_session(self, token: str) -> SessionRecord:
        """Return the session of a token while it runs.

        Raises `Refusal` with code `token_invalid` for a token that is not ours, and for a session
        that is over.
        """
        session = self.known_session(token)
        state = state_of(session.facts, self._contest.clock.now())
        if state is not SessionState.RUNNING:
            raise Refusal(
                "token_invalid", f"The session of this token does not run: it is {state.value}."
            )
        return session

    def answering_session(self, token: str) -> SessionRecord:
        """Return the session of a token while answers to it are stored, late ones too.

        It is judged before the answer is parsed, so that a client that goes on for ever after
        the end costs little. Raises `Refusal` with code `token_invalid`.
        """
        session = self.known_session(token)
        arrival = arrival_of(session.facts, self._contest.clock.now())
        if arrival is Arrival.REFUSED or (
            arrival is Arrival.LATE
            and count_late_answers(self._contest.database.connection, session.session_id)
            >= LATE_ANSWERS
        ):
            raise Refusal(
                "token_invalid", "The session of this token takes no answers; nothing was stored."
            )
        return session

    def in_time(self, token: str, received: Instant) -> bool:
        """Tell whether what was received then counts for the session of a token."""
        return arrival_of(self.known_session(token).facts, received) is Arrival.IN_TIME

    def logout(self, session: SessionRecord) -> None:
        """End the session at its contestant's wish; returns when the meter has been stopped."""
        self._desk.ask("logout", session=session.session_id)
