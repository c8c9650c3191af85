# SPDX-License-Identifier: Apache-2.0
"""Proposals from the page: the command's own, under the operator's name and role, and once."""

from __future__ import annotations

import contextlib
import io

import pytest

from referee.cli import main
from referee.service.people.audit import read_audit
from referee.web.desk.console import console_app
from tests.support.doors import post


def run(words):
    """Run a command in this process, as the desk runs it in another one."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        return main(words), said.getvalue()


@pytest.fixture
def kim(door):
    """Return the browser of an operator of an event with two scored sessions."""
    door.event.play("ants")
    door.event.play("bees")
    door.app = console_app(door.contest, door.event.desk, door.board, door.broadcast, run=run)
    return door.visitor("Kim")


def make(client, **said):
    """Press the button; return the status and the answer."""
    done = post(client, "/proposals", **{"session": 0, "reason": "another look"} | said)
    return done.status_code, done.get_json()


def shown(client):
    """Return the proposals that the page shows."""
    return client.get("/results/now").get_json()["proposals"]


def audit(door):
    """Return who did what in which role, the newest first, without logins."""
    rows = read_audit(door.contest, action="proposal")
    return [(row.who, row.role, row.action, row.refusal) for row in rows]


def test_a_proposal_is_made_in_the_operators_name(door, kim):
    """All sessions are scored again with the new file, and a second press makes no second one."""
    (door.contest.config.path.parent / "new.csv").write_text("5,1\n6,1\n")
    assert (200, {}) == make(kim, blacklist="new.csv", reason="--json of a new blacklist")
    (one,) = shown(kim)
    assert ("Kim", "open", [1, 2]) == (
        *(one["operator"], one["state"]),
        [row["session"] for row in one["scores"]],
    )
    assert any(row["changed"] for row in one["scores"])
    assert [("Kim", "operator", "proposal 1", None)] == audit(door)
    status, answer = make(kim)
    text = "Proposal 1 is open. Apply it or cancel it first."
    assert (409, text) == (status, answer["text"])
    assert [one] == shown(kim)
    assert ("Kim", "operator", "make proposal", text) == audit(door)[0] and 2 == len(audit(door))


def test_one_session_is_scored_again(kim):
    """A number chooses a session."""
    assert 200 == make(kim, session=2)[0]
    assert [2] == [row["session"] for row in shown(kim)[0]["scores"]]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"reason": " "}, "needs a reason"),
        ({"session": 7}, "There is no session 7"),
        ({"session": "1"}, "must be a whole number"),
        ({"blacklist": "no.csv"}, "There is no 'no.csv' beside"),
        ({"blacklist": "../secret"}, "There is no '../secret' beside"),
        ({"truth": "/etc/passwd"}, "There is no '/etc/passwd' beside"),
        ({"blacklist": "link.csv"}, "There is no 'link.csv' beside"),
        ({"blacklist": "wrong.csv"}, "wrong.csv"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(door, kim, said, words):
    """A file outside the event's folder is not read, and the command's own words are told."""
    folder = door.contest.config.path.parent
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "wrong.csv").write_text("seven\n")
    status, answer = make(kim, **said)
    assert (409, True) == (status, words in answer["text"]), answer
    assert [] == shown(kim)
    assert ["make proposal"] == [action for _, _, action, _ in audit(door)]


def test_an_assistant_makes_none(door, kim):
    """The action is the operators'."""
    assert 403 == make(door.visitor("Sam"))[0]
    assert [] == shown(kim)


def test_a_refused_command_is_in_the_audit(door, kim):
    """A decision in the terminal that is refused is on record, with its reason."""
    config = str(door.contest.config.path)
    words = ["proposal", "apply", "7", "--reason", "agreed", "--by", "Ada", "--config", config]
    assert 1 == run(words)[0]
    assert [("Ada", "command line", "proposal apply", "There is no proposal 7.")] == audit(door)
