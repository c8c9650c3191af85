# SPDX-License-Identifier: Apache-2.0
"""State by action: what each button does in each state, and that a second press changes nothing."""

from __future__ import annotations

import pytest

from tests.support.doors import post

REASON = "the meter's plug was out"

# State before, action, the answers to both presses, state after. A press that is refused is 409.
TABLE = [
    ("READY", "arm", (200, 200), "ARMED"),
    ("READY", "stop", (409, 409), "READY"),
    ("READY", "void", (200, 200), "VOID"),
    ("ARMED", "arm", (200, 200), "ARMED"),
    ("ARMED", "stop", (409, 409), "ARMED"),
    ("ARMED", "void", (200, 200), "VOID"),
    ("RUNNING", "arm", (409, 409), "RUNNING"),
    ("RUNNING", "stop", (200, 200), "ENDED"),
    ("RUNNING", "void", (200, 200), "VOID"),
    ("SCORED", "arm", (409, 409), "SCORED"),
    ("SCORED", "stop", (409, 409), "SCORED"),
    ("SCORED", "void", (200, 200), "VOID"),
    ("VOID", "arm", (409, 409), "VOID"),
    ("VOID", "stop", (409, 409), "VOID"),
    ("VOID", "void", (200, 200), "VOID"),
]


def bring(event, state):
    """Make session 1 and bring it into a state."""
    if state == "SCORED":
        event.play("ants")
        return
    event.desk.new_session("ants", "Kim")
    if state == "VOID":
        event.desk.void(1, "Kim", "before")
    if state in ("ARMED", "RUNNING"):
        event.desk.arm(1, "Kim")
    if state == "RUNNING":
        event.desk.begin("ants", "10.0.0.2")


def facts(door):
    """Return every fact of the sessions that an action could change."""
    connection = door.contest.database.connection
    rows = connection.execute("select session_id, kind, cause, actor from session_events")
    done = connection.execute("select count(*) from audit where refusal is null").fetchone()[0]
    return [tuple(row) for row in rows], done


@pytest.mark.parametrize(("before", "action", "answers", "after"), TABLE)
def test_state_by_action(door, before, action, answers, after):
    """A button does in each state what the table says, and pressed again it changes nothing."""
    bring(door.event, before)
    kim = door.visitor("Kim")
    path = f"/sessions/1/{action}"
    first = post(kim, path, reason=REASON)
    once = facts(door)
    second = post(kim, path, reason=REASON)
    assert answers == (first.status_code, second.status_code)
    assert once == facts(door)
    assert after == door.event.desk.state(1).value
    for answer in (first, second):
        assert answer.status_code == 200 or answer.get_json()["text"].endswith(".")


def seen(client):
    """Return what the pages of teams and results show, without the numbers of rows."""
    return client.get("/teams/now").get_json(), client.get("/results/now").get_json()


# In this order each action changes something at its first press.
CHANGES = [
    ("/teams/lottery", {"seed": "noon", "reason": "drawn"}),
    ("/teams/order", {"teams": ["bees", "ants"], "reason": "has a train to catch"}),
    ("/teams/rename", {"team": "ants", "new_name": "Ants II"}),
    ("/teams/withdraw", {"team": "bees", "reason": "ill"}),
    ("/teams/return", {"team": "bees", "reason": "well again"}),
    ("/teams/withdraw", {"team": "bees", "reason": "ill again"}),
    ("/sessions/1/review", {"reason": "the gap lies before the load"}),
    ("/results/finalize", {"names": ["Ada", "Grace"]}),
    ("/results/reopen", {"reason": "forgot a team"}),
]


def test_every_change_of_teams_and_results_twice(door):
    """Each change made twice ends as if it was made once."""
    door.event.play("ants", verdict="SUSPECT")
    kim = door.visitor("Kim")
    before = seen(kim)
    for path, body in CHANGES:
        first = post(kim, path, **body)
        assert 200 == first.status_code, (path, first.get_json())
        once = seen(kim)
        assert once != before, path
        post(kim, path, **body)
        assert once == seen(kim), path
        before = once
