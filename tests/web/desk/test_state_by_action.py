# SPDX-License-Identifier: Apache-2.0
"""State by action: what each button does in each state of a session, once and once more."""

from __future__ import annotations

import re

import pytest

from referee.core.states import EndCause, SessionState
from referee.store.readings import energy_of
from referee.store.sessions import record_event
from referee.web.desk.roles import ROUTES
from tests.support.doors import post
from tests.support.fakes import eventually
from tests.support.shown import as_json

# What an action answers at its first and at its second press, and the state after both. A refusal
# is its code. 'again' makes another session, which is READY.
TABLE = {
    "READY": {
        "arm": ("done", "done", "ARMED"),
        "stop": ("state_conflict", "state_conflict", "READY"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        "extra": ("done", "length_moved", "READY"),
        "seen": ("state_conflict", "state_conflict", "READY"),
        "note": ("done", "done", "READY"),
        "rehearsal": ("done", "done", "READY"),
        "counts": ("done", "done", "READY"),
        "review": ("state_conflict", "state_conflict", "READY"),
    },
    "ARMED": {
        "arm": ("done", "done", "ARMED"),
        "stop": ("state_conflict", "state_conflict", "ARMED"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        "extra": ("done", "length_moved", "ARMED"),
        "seen": ("state_conflict", "state_conflict", "ARMED"),
        "note": ("done", "done", "ARMED"),
        "rehearsal": ("done", "done", "ARMED"),
        "counts": ("done", "done", "ARMED"),
        "review": ("state_conflict", "state_conflict", "ARMED"),
    },
    "RUNNING": {
        "arm": ("state_conflict", "state_conflict", "RUNNING"),
        "stop": ("done", "done", "ENDED"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        # The meter's timer runs already, so its end cannot be moved.
        "extra": ("timer_runs", "timer_runs", "RUNNING"),
        "seen": ("state_conflict", "state_conflict", "RUNNING"),
        "note": ("done", "done", "RUNNING"),
        "rehearsal": ("done", "done", "RUNNING"),
        "counts": ("done", "done", "RUNNING"),
        "review": ("state_conflict", "state_conflict", "RUNNING"),
    },
    "ENDED": {
        "arm": ("state_conflict", "state_conflict", "ENDED"),
        "stop": ("done", "done", "ENDED"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        "extra": ("state_conflict", "state_conflict", "ENDED"),
        "seen": ("done", "done", "ENDED"),
        "note": ("done", "done", "ENDED"),
        "rehearsal": ("done", "done", "ENDED"),
        "counts": ("done", "done", "ENDED"),
        "review": ("done", "done", "ENDED"),
    },
    "SCORED": {
        "arm": ("state_conflict", "state_conflict", "SCORED"),
        "stop": ("state_conflict", "state_conflict", "SCORED"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        "extra": ("state_conflict", "state_conflict", "SCORED"),
        "seen": ("done", "done", "SCORED"),
        "note": ("done", "done", "SCORED"),
        "rehearsal": ("done", "done", "SCORED"),
        "counts": ("done", "done", "SCORED"),
        "review": ("done", "done", "SCORED"),
    },
    "SEALED": {
        "arm": ("state_conflict", "state_conflict", "SEALED"),
        "stop": ("state_conflict", "state_conflict", "SEALED"),
        "void": ("state_conflict", "state_conflict", "SEALED"),
        "rerun": ("state_conflict", "state_conflict", "SEALED"),
        "extra": ("state_conflict", "state_conflict", "SEALED"),
        "seen": ("done", "done", "SEALED"),
        "note": ("done", "done", "SEALED"),
        "rehearsal": ("state_conflict", "state_conflict", "SEALED"),
        "counts": ("state_conflict", "state_conflict", "SEALED"),
        "review": ("done", "done", "SEALED"),
    },
    "VOID": {
        "arm": ("state_conflict", "state_conflict", "VOID"),
        "stop": ("state_conflict", "state_conflict", "VOID"),
        "void": ("done", "done", "VOID"),
        "rerun": ("done", "done", "VOID"),
        "extra": ("state_conflict", "state_conflict", "VOID"),
        "seen": ("done", "done", "VOID"),
        "note": ("done", "done", "VOID"),
        "rehearsal": ("done", "done", "VOID"),
        "counts": ("done", "done", "VOID"),
        "review": ("state_conflict", "state_conflict", "VOID"),
    },
}
# These grow by themselves, whether somebody acts or not.
GROWING = (
    "readings",
    "notices",
    "notice_subjects",
    "audit",
    "chain",
    "public_changes",
    "operator_logins",
)
GROWING += ("sqlite_sequence",)


def test_the_table_is_whole():
    """It has every state, and every action on a session that the console has a route for."""
    on_sessions = [route for route in ROUTES if route.startswith("POST /sessions/<number>/")]
    words = [route.rpartition("/")[2] for route in on_sessions]
    actions = {name for word in words for name in re.findall(r"\w+", word.partition(":")[0])}
    actions -= {"any"}
    actions = {name.strip("<>") for name in actions}
    assert {state.value for state in SessionState} == set(TABLE)
    for state, row in TABLE.items():
        assert actions == set(row), state


def bring(event, state):
    """Make a session of the team 'ants', bring it into a state, and return its number."""
    connection, desk = event.contest.database.connection, event.desk
    if state in ("SCORED", "SEALED"):
        number = event.play("ants", verdict="SUSPECT")
    else:
        number = desk.new_session("ants", "Kim")
    if state in ("ARMED", "RUNNING", "ENDED"):
        desk.steps_of(number).arm(number, "Kim")
    if state in ("RUNNING", "ENDED"):
        desk.begin("ants", "10.0.0.2")
    if state == "ENDED":
        event.clock.advance(60)  # With this gap its energy is SUSPECT, and can be reviewed.
        desk.steps_of(number).end(number, EndCause.STOP, "Kim")
        eventually(lambda: energy_of(connection, number))
    if state == "VOID":
        desk.steps_of(number).void(number, "Kim", "wrong device")
    if state == "SEALED":
        with event.contest.database.write() as writing:
            record_event(writing, number, "sealed", event.clock.now(), actor="Kim")
    assert state == desk.state(number).value
    return number


def facts(contest):
    """Return every row that an action could have written."""
    connection = contest.database.connection
    tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    found = {
        name: [tuple(row) for row in connection.execute(f"select * from {name}")]
        for (name,) in tables
        if name not in GROWING
    }
    done = connection.execute("select count(*) from audit where refusal is null")
    return found | {"audit": done.fetchone()[0]}


def said(answer):
    """Return 'done', or the code of a refusal that has a sentence for the operator."""
    told = answer.get_json()
    assert answer.status_code == 200 or (answer.status_code == 409 and told["text"].endswith("."))
    return "done" if answer.status_code == 200 else told["code"]


@pytest.mark.parametrize("state", TABLE)
def test_state_by_action(door, state):
    """Each button does what the table says, a refusal changes nothing, and nor does a repeat."""
    kim = door.visitor("Kim")
    for action, expected in TABLE[state].items():
        number = bring(door.event, state)
        before = facts(door.contest)
        answers = []
        for press in (1, 2):
            body = {"reason": "the plug was out", "seconds": 60, "seen_length_s": 600.0}
            answers.append(said(post(kim, f"/sessions/{number}/{action}", **body)))
            if press == 1:
                once = facts(door.contest)
        assert expected == (*answers, door.event.desk.state(number).value), action
        assert once == facts(door.contest), action
        if answers[0] != "done":
            assert before == once, action
        for row in as_json(door.board.show())["sessions"]:
            if row["state"] in ("READY", "ARMED", "RUNNING"):
                door.event.desk.steps_of(row["id"]).void(row["id"], "Kim", "the next case")
