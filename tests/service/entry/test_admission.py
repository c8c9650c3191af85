# SPDX-License-Identifier: Apache-2.0
"""Admission: passwords first, then the desk; and the meaning of a token afterwards."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.states import EndCause
from referee.errors import Refusal, Unavailable
from referee.service.desk.requests import serve_request
from referee.service.entry.admission import (
    Admission,
    SessionCache,
    given_token,
    session_of_token,
    token_of_session,
)
from referee.service.entry.devices import OneDevice
from referee.service.entry.teams import PRACTICE_PASSWORD
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import new_passwords, remove, rename
from referee.store.sessions import load_session
from referee.store.teams import Registration
from tests.support.backups import backup_of
from tests.support.fakes import FakeMeter, running_desk
from tests.support.prompt_journal import PromptJournal
from tests.support.teams import give_password

ADDRESS = "10.0.0.2"
KEY = bytes(range(32))
NONCE = bytes(range(200, 216))
SESSIONS = st.integers(1, 10**18 - 1)


class DirectDesk:
    """A desk in this process, in place of the socket."""

    def __init__(self, desk):
        self.desk = desk
        self.asked = []

    def ask(self, action, **arguments):
        """Pass the question on."""
        self.asked.append(action)
        return serve_request(self.desk, {"action": action, **arguments})


@pytest.fixture
def link(practice, meter):
    """Return a link to the running desk of a rehearsal."""
    with running_desk(practice, meter) as desk:
        yield DirectDesk(desk)


@pytest.fixture
def admission(practice, link):
    """Return the admission of a rehearsal."""
    return admission_of(practice, link)


def admission_of(contest, link, **options):
    """Return the admission of a contest; second addresses are written at once."""
    devices = OneDevice(contest, PromptJournal(contest.database))
    return Admission(contest, SessionCache(contest.database), link, devices, **options)


def refusal(call, *arguments):
    """Return the code of a call's refusal."""
    with pytest.raises(Refusal) as refused:
        call(*arguments)
    return refused.value.code


def test_login_gives_the_sessions_token(admission, practice):
    """The token is the session's own, and the next login gets the same one."""
    first = admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2")
    assert given_token(practice, 1) == first.token
    assert first == admission.login("ants", PRACTICE_PASSWORD, "10.0.0.3")
    assert first.session == admission.running_session(first.token, ADDRESS)


def test_wrong_password_never_reaches_the_desk(admission, link):
    """A wrong password never reaches the desk or the meter."""
    assert "login_invalid" == refusal(admission.login, "ants", "guess", "10.0.0.2")
    assert [] == link.asked


def test_token_is_good_until_the_end(admission, practice):
    """At the deadline the token stops by itself, and the session stays known."""
    login = admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2")
    practice.clock.advance(599.999)
    assert 1 == admission.running_session(login.token, ADDRESS).session_id
    practice.clock.advance(0.001)
    assert "token_invalid" == refusal(admission.running_session, login.token, ADDRESS)
    assert 1 == admission.known_session(login.token, ADDRESS).session_id


def test_logout_ends_the_token(admission, practice):
    """After a logout the session does not run, and a second logout is refused."""
    login = admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2")
    admission.logout(login.session)
    assert "token_invalid" == refusal(admission.running_session, login.token, ADDRESS)
    facts = load_session(practice.database.connection, 1).facts
    assert EndCause.LOGOUT is facts.end_cause


@pytest.mark.parametrize("token", ["", "1", "1.x", "nonsense", "9" * 500])
def test_foreign_tokens(admission, token):
    """A token that this contest did not give stands for nothing."""
    assert "token_invalid" == refusal(admission.known_session, token, ADDRESS)


def test_token_of_a_session_that_does_not_exist(admission, practice):
    """A well-signed token of a missing session is refused like any other."""
    token = token_of_session(practice.secrets.token_key, 77, NONCE)
    assert "token_invalid" == refusal(admission.known_session, token, ADDRESS)


def test_no_token_is_given_twice(practice, meter):
    """After a backup the number comes again, at the same second, and the lost token is refused."""
    restored = backup_of(practice)
    with running_desk(practice, meter) as desk:
        lost = admission_of(practice, DirectDesk(desk)).login("ants", PRACTICE_PASSWORD, ADDRESS)
    contest = restored()
    with running_desk(contest, FakeMeter(contest.clock)) as desk:
        admission = admission_of(contest, DirectDesk(desk))
        given = admission.login("bees", PRACTICE_PASSWORD, ADDRESS)
        assert (lost.session.session_id, True) == (given.session.session_id, bool(given.token))
        assert lost.session.created_utc == given.session.created_utc
        assert "token_invalid" == refusal(admission.known_session, lost.token, ADDRESS)
        assert "bees" == admission.running_session(given.token, ADDRESS).team
    contest.database.close()


def test_lost_meter_is_unavailable(admission, meter):
    """A lost meter is a refusal that lets the contestant try again."""
    meter.lost = True
    with pytest.raises(Unavailable):
        admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2")


def test_event_asks_for_the_teams_own_password(contest, meter):
    """In an event the practice password is refused, and a team must wait its turn."""
    password = give_password(contest.config.teams, "ants")
    with running_desk(contest, meter) as desk:
        admission = admission_of(contest, DirectDesk(desk))
        assert "login_invalid" == refusal(admission.login, "ants", PRACTICE_PASSWORD, "")
        assert "not_armed" == refusal(admission.login, "ants", password, "")
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        assert 1 == admission.login("ants", password, "10.0.0.2").session.session_id


def test_cached_session_is_never_stale(contest, meter):
    """Each look at a session shows its latest state."""
    cache = SessionCache(contest.database)
    with running_desk(contest, meter) as desk:
        session_id = desk.new_session("ants", "Kim")
        steps = [
            lambda: desk.steps_of(session_id).arm(session_id, "Kim"),
            lambda: desk.begin("ants", "10.0.0.2"),
            lambda: desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim"),
            lambda: desk.steps_of(session_id).void(session_id, "Kim", "a reason"),
        ]
        for step in steps:
            before = cache.get(session_id)
            assert before is cache.get(session_id)
            step()
            assert before != cache.get(session_id)
            assert load_session(contest.database.connection, session_id) == cache.get(session_id)
    assert "session_unknown" == refusal(cache.get, 99)


def test_a_rehearsal_tells_its_password(admission):
    """Whoever types another password in a rehearsal learns that it is 'practice'."""
    with pytest.raises(Refusal, match="the password is 'practice', with any user name"):
        admission.login("ants", "guess", "10.0.0.2")


def test_another_user_learns_how_to_end_a_running_session(admission):
    """Where a killed client's session holds the lane, the refusal names Stop and /logout."""
    admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2")
    with pytest.raises(Refusal, match="press Stop on the console, or log in as 'ants'.* /logout"):
        admission.login("bees", PRACTICE_PASSWORD, "10.0.0.3")


def test_a_token_at_the_port_of_another_lane_is_sent_to_its_own(admission, practice, link):
    """Every question with a token is refused there, and the refusal names both lanes and ports."""
    token = admission.login("ants", PRACTICE_PASSWORD, "10.0.0.2").token
    second = admission_of(practice, link, lane=2)
    for ask in (second.known_session, second.running_session, second.answering_session):
        told = "in lane '', and this is the port of lane '2'. Connect to port 8000"
        with pytest.raises(Refusal, match=told) as refused:
            ask(token, ADDRESS)
        assert "other_lane" == refused.value.code
    assert 1 == admission.running_session(token, ADDRESS).session_id


@given(SESSIONS)
def test_round_trip(session_id):
    """A token stands for its session, has only harmless characters, and is always short."""
    token = token_of_session(KEY, session_id, NONCE)
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", token)
    assert (session_id, NONCE) == session_of_token(KEY, token)


def test_same_session_same_token():
    """A second login gets the same token; other sessions have other tokens."""
    tokens = [token_of_session(KEY, session_id, NONCE) for session_id in (1, 1, 2, 11)]
    assert tokens[0] == tokens[1]
    assert 3 == len(set(tokens))


def test_foreign_key():
    """A token with another contest's key is refused."""
    assert session_of_token(bytes(32), token_of_session(KEY, 7, NONCE)) is None


@given(SESSIONS, SESSIONS)
def test_signature_belongs_to_its_number(session_id, other):
    """A signature moved to another session number is refused."""
    signature = token_of_session(KEY, session_id, NONCE).partition(".")[2]
    expected = (session_id, NONCE) if session_id == other else None
    assert expected == session_of_token(KEY, f"{other}.{signature}")


@given(SESSIONS, st.data())
def test_one_changed_character_is_noticed(session_id, data):
    """A change of any one character makes a token invalid."""
    token = token_of_session(KEY, session_id, NONCE)
    place = data.draw(st.integers(0, len(token) - 1))
    changed = token[:place] + data.draw(st.characters()) + token[place + 1 :]
    expected = (session_id, NONCE) if changed == token else None
    assert expected == session_of_token(KEY, changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda token: "",
        lambda token: "." + token,
        lambda token: "0" + token,
        lambda token: " " + token,
        lambda token: token + "\n",
        lambda token: token + "=",
        lambda token: token + ".x",
        lambda token: token[:-1],
        lambda token: token.upper(),
        lambda token: "-" + token,
        lambda token: "+" + token,
        lambda token: token.replace("7", "٧", 1),
        lambda token: "9" * 5000 + token,
        lambda token: token + "A" * 200,
        lambda token: "7." + "A" * 8_000_000,
        lambda token: "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VybmFtZSI6ImEifQ.c2lnbmF0dXJl",
        lambda token: "7.",
        lambda token: "7",
        lambda token: "\ud800",
    ],
)
def test_what_is_no_token(change):
    """A forged, cut, padded or foreign token gives None, and never an error."""
    assert session_of_token(KEY, change(token_of_session(KEY, 7, NONCE))) is None


@given(st.text())
def test_no_text_breaks_the_check(text):
    """Any text of a client is judged without an error."""
    assert session_of_token(KEY, text) is None


def test_a_name_in_another_writing_goes_on_with_its_session(admission, practice):
    """In a rehearsal too, NFC, capitals and a joiner are the team that has logged in before."""
    first = admission.login("Cafe\u0301", PRACTICE_PASSWORD, "10.0.0.1")
    for written in ("Caf\u00e9", "CAFE\u0301", " caf\u00e9 "):
        again = admission.login(written, PRACTICE_PASSWORD, "10.0.0.1")
        assert (first.token, "Cafe\u0301") == (again.token, again.session.team)


def test_a_team_logs_in_by_login_by_name_and_by_every_earlier_name(contest, meter):
    """All words of a team lead to its one session, in any writing, and to no other team's."""
    for name in ("Äntz 東京", "bees"):
        add_team(contest, name, Registration(), "Kim")
    passwords = new_passwords(contest, [], "Kim")
    assert "Termites" == rename(contest, "Äntz 東京", "Termites", "Kim")
    with running_desk(contest, meter) as desk:
        admission = admission_of(contest, DirectDesk(desk))
        number = desk.new_session("Termites", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        for word in ("antz", "ANTZ ", "Termites", "termites", "Äntz 東京", "a\u0308NTZ  東京"):
            session = admission.login(word, passwords["Äntz 東京"], ADDRESS).session
            assert (1, "Termites") == (session.session_id, session.team)
            assert "login_invalid" == refusal(admission.login, word, passwords["bees"], ADDRESS)
        for word in ("bees", "termite", "antz-2", "", "\ud800"):
            wrong = passwords["Äntz 東京"]
            assert "login_invalid" == refusal(admission.login, word, wrong, ADDRESS)


def test_a_removed_team_leaves_no_word_that_logs_in(contest, link):
    """Its login and names are nobody's, and hide no team of the same name."""
    add_team(contest, "ants", Registration(), "Kim")
    gone = new_passwords(contest, [], "Kim")["ants"]
    remove(contest, "ants", "Kim")
    add_team(contest, "ANTS", Registration(), "Kim")
    password = new_passwords(contest, [], "Kim")["ANTS"]
    admission = admission_of(contest, link)
    assert "login_invalid" == refusal(admission.require_team, "ants", gone, ADDRESS)
    assert ["ANTS", "ANTS"] == [
        admission.require_team(word, password, ADDRESS) for word in ("ants", "ants-2")
    ]


def test_a_rehearsal_knows_its_teams_by_their_logins(admission):
    """Who rehearsed by name goes on by login, as one team."""
    first = admission.login("Caf\u00e9 M\u00fcller", PRACTICE_PASSWORD, ADDRESS)
    again = admission.login("cafe-muller", PRACTICE_PASSWORD, ADDRESS)
    assert (first.token, "Caf\u00e9 M\u00fcller") == (again.token, again.session.team)
