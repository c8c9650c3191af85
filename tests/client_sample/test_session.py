# SPDX-License-Identifier: Apache-2.0
"""A session reconnects by itself, and stores each answer once."""

from __future__ import annotations

import socket

import pytest

from client_sample.client import ClientError, Unauthorised
from client_sample.session import ContestSession, LostConnection, SessionConnection

ROWS = [(3, 0.1, 1, 2, 3.5, 4), (4, 1 / 3, -1, 0, 1e-05, 2)]


@pytest.fixture
def link(referee):
    """Log in at the small referee and open a link."""
    session = ContestSession(referee.url, patience_s=180)
    session.login("me", "secret")
    link = SessionConnection(session)
    yield link
    link.close()


def test_login_tells_images_and_time(referee):
    """One login request returns token, count, length and remaining time."""
    session = ContestSession(referee.url)
    session.login("me", "secret")
    assert (5, 600, 599.5) == (session.images, session.seconds, session.remaining_s)
    assert ["/login"] == referee.paths


def test_images_come_one_by_one_or_by_the_hundred(referee, link):
    """Single images and archives give the same bytes, over one connection."""
    assert b"jpeg 3" == link.image(3)
    assert {k: b"jpeg %d" % k for k in range(1, 6)} == link.archive(1)
    assert 2 == referee.connections


def test_an_answer_carries_images_and_every_digit(referee, link):
    """Rows of several images go in one post, and every number arrives exactly."""
    receipt = link.post([(1, ROWS), (5, ROWS[:1])])
    assert [(1, *ROWS[0]), (1, *ROWS[1]), (5, *ROWS[0])] == referee.posted
    assert 1 == receipt["answer"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("path", ["/image/2", "/status", "/result"])
def test_a_broken_connection_costs_no_image_and_doubles_no_answer(referee, link, path, when):
    """Each answer is stored exactly once, wherever the connection breaks."""
    link.post([(1, ROWS)])
    referee.break_at = [(path, when)]
    assert b"jpeg 2" == link.image(2)
    link.post([(2, ROWS)])
    link.post([(3, ROWS)])
    assert [1, 1, 2, 2, 3, 3] == [row[0] for row in referee.posted]


def test_a_connection_may_break_again_while_it_is_repaired(referee, link):
    """The client repeats the question whether an answer arrived."""
    referee.break_at = [("/result", "after"), ("/status", "before"), ("/result", "before")]
    referee.break_at += [("/status", "after"), ("/result", "before")]
    link.post([(1, ROWS)])
    link.post([(2, ROWS)])
    assert [1, 1, 2, 2] == [row[0] for row in referee.posted]


def test_a_session_that_is_resumed_counts_the_answers_of_before(referee, link):
    """A new link after a crash knows the number of answers that the referee has."""
    link.post([(1, ROWS)])
    again = SessionConnection(link._session)
    referee.break_at = [("/result", "after")]
    again.post([(2, ROWS)])
    again.close()
    assert [1, 2] == [answer[0][0] for answer in referee.answers]


def test_an_answer_that_never_gets_through_is_given_up(referee, link):
    """After some attempts the client gives an answer up, and calls the connection lost."""
    referee.break_at = [("/result", "before")] * 9
    with pytest.raises(LostConnection):
        link.post([(1, ROWS)])
    assert 5 == referee.paths.count("/result")


def test_patience_ends(referee, link):
    """A referee that stays away beyond the patience is given up."""
    link._session.patience_s = 0
    referee.break_at = [("/image/1", "before")] * 9
    with pytest.raises(LostConnection, match="No answer from 127.0.0.1"):
        link.image(1)


def test_stopping_ends_the_search_for_a_lost_referee(referee, link):
    """A client that is told to stop does not wait for the end of its patience."""
    link._session.stopped.set()
    referee.break_at = [("/image/1", "before")] * 9
    with pytest.raises(LostConnection):
        link.image(1)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        ((401, b'{"detail": "The session has ended."}'), Unauthorised, "The session has ended."),
        ((401, b"Invalid Token\n"), Unauthorised, "Invalid Token"),
        ((500, b"Image not found\n"), ClientError, "status 500: Image not found"),
    ],
)
def test_a_refusal_is_told_in_the_referees_words(referee, link, reply, error, words):
    """A refusal shows the referee's own sentence, from problem details or a plain line, once."""
    referee.replies = {"/image/1": reply}
    with pytest.raises(error, match=words):
        link.image(1)
    assert 1 == referee.paths.count("/image/1")


@pytest.mark.parametrize("body", [b"plain token", b"{}", b"[1]"])
def test_a_login_without_facts_is_no_login(referee, body):
    """A login answer without a session's facts is an error."""
    referee.replies = {"/login": (200, body)}
    with pytest.raises(ClientError, match="The login was answered by"):
        ContestSession(referee.url).login("me", "secret")


def test_a_damaged_archive_is_an_error(referee, link):
    """An archive that is no zip is an error."""
    referee.replies = {"/zipimages": (200, b"no zip")}
    with pytest.raises(ClientError, match="archive of image 1 is damaged"):
        link.archive(1)


def test_a_login_nobody_answers_is_not_repeated():
    """A login without an answer is not repeated."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        session = ContestSession(f"127.0.0.1:{unused.getsockname()[1]}", patience_s=100)
        with pytest.raises(LostConnection, match="No answer from"):
            session.login("me", "secret")
