# SPDX-License-Identifier: Apache-2.0
"""The audit log on the console: what was done and what was refused, by whom, and nothing secret."""

from __future__ import annotations

import sqlite3

import pytest

from tests.support.doors import AWAY, post


def actions(client, **filters):
    """Return (who, role, action, about, reason, refused) of the page's rows, the newest first."""
    rows = client.get("/audit/now", query_string=filters).get_json()["rows"]
    keys = ("who", "role", "action", "about", "reason")
    return [(*(row[key] for key in keys), row["refusal"] is not None) for row in rows]


@pytest.fixture
def kim(door):
    """Return the browser of an operator who is logged in."""
    return door.visitor("Kim")


def test_done_and_refused_actions_are_there(door, kim):
    """A row says who did what to what and why, and whether it was refused."""
    post(kim, "/sessions", team="ants")
    post(kim, "/sessions/1/void", reason="meter unplugged")
    post(kim, "/sessions/1/arm")
    post(kim, "/teams/withdraw", team="bees", reason="ill")
    kinds = [
        ("Kim", "operator", "team withdrawn", "bees", "ill", False),
        ("Kim", "operator", "arm", "session 1, ants", "", True),
        ("Kim", "operator", "void", "session 1, ants", "meter unplugged", False),
        ("Kim", "operator", "new session", "session 1, ants", "", False),
        ("Kim", "operator", "log in", "from 127.0.0.1", "", False),
    ]
    assert kinds == actions(kim)[:5]
    first = kim.get("/audit/now").get_json()["rows"][1]
    assert first["result"].startswith("refused: ") and "VOID" in first["refusal"]


def test_what_a_role_forbids_is_there(door, kim):
    """An assistant who tries to act is on record, and what strangers try is not."""
    sam = door.visitor("Sam")
    assert 403 == post(sam, "/sessions/7/void", reason="bored").status_code
    assert 401 == post(door.visitor(**AWAY), "/sessions/7/void", reason="bored").status_code
    void = ("Sam", "assistant", "void", "session 7", "bored", True)
    assert [void] == actions(kim, action="void")


def test_filters(door, kim):
    """The log can be filtered by person, by action and by team, in any capitals."""
    post(door.visitor("Sam"), "/sessions", team="ants")
    post(kim, "/sessions", team="ants")
    post(kim, "/sessions", team="bees")
    assert {"Sam"} == {row[0] for row in actions(kim, person="SAM")}
    assert [("Kim", "session 1, ants"), ("Sam", "ants")] == [
        (row[0], row[3]) for row in actions(kim, action="new session", team="Ants")
    ]
    assert [] == actions(kim, team="wasps")


def test_the_newest_rows_come_first_and_older_ones_on_demand(door, kim):
    """The page shows so many rows as it asks for, and knows whether there are more."""
    page = kim.get("/audit/now?count=1").get_json()
    assert (1, True, "log in") == (len(page["rows"]), page["more"], page["rows"][0]["action"])
    assert kim.get("/audit/now").get_json()["more"] is False


def test_times_have_their_zone(door, kim):
    """A time is stored in UTC, and shown in the laptop's zone with its offset."""
    row = kim.get("/audit/now").get_json()["rows"][0]
    assert row["utc"].endswith("+00:00")
    assert row["time"][-6] in "+-" and row["time"][-3] == ":"


def test_passwords_are_never_in_the_database(door):
    """A wrong password is no part of the log, nor is one that stands in the field of the name."""
    client = door.visitor()
    for _ in range(3):
        door.log_in(client, "Kim", "a wrong secret")
        door.log_in(client, "secret as name", "x")
    whole = "\n".join(door.contest.database.connection.iterdump())
    assert "wrong secret" not in whole and "secret as name" not in whole
    assert all(secret not in whole for secret in door.secrets.values())
    refused = [row[0] for row in actions(door.visitor("Kim"), action="log in") if row[5]]
    assert {"Kim", "unknown name"} == set(refused)


def test_a_guessing_program_does_not_fill_the_disk(door):
    """Of many refused logins of an address only the first of each minute are recorded."""
    client = door.visitor()
    for number in range(30):
        door.log_in(client, f"guess {number}", "x")
    assert 5 == sum(row[5] for row in actions(door.visitor("Kim"), action="log in"))


@pytest.mark.parametrize("statement", ["update audit set operator = 'me'", "delete from audit"])
def test_the_log_cannot_be_changed(door, statement):
    """Not even the referee itself can change or delete a row."""
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        with door.contest.database.write() as connection:
            connection.execute(statement)


def test_without_operators_the_typed_name_is_on_record(empty):
    """While nobody is registered, the log has the name that somebody typed."""
    client = empty.visitor()
    post(client, "/teams/withdraw", team="wasps", reason="ill", operator="Ada")
    found = ("Ada", "no login", "withdraw team", "wasps", "ill", True)
    assert [found] == actions(client, action="withdraw team")
