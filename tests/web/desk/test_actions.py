# SPDX-License-Identifier: Apache-2.0
"""The operators' actions on a session, one by one; `test_state_by_action.py` has the table."""

from __future__ import annotations

import pytest

from referee.core.states import EndCause
from referee.service.teams.roster import read_roster
from referee.store.annotations import annotations_of
from referee.store.notices import audit_of
from referee.store.readings import energy_of
from tests.support.fakes import eventually
from tests.web.desk.test_console import Console, console, teams  # noqa: F401


def session_in(console: Console, state: str) -> int:  # noqa: F811
    """Make a session of the team 'ants' in a state; the contest has no meter."""
    desk = console.desk
    number = desk.new_session("ants", "Kim")
    if state != "READY":
        desk.steps_of(number).arm(number, "Kim")
    if state in ("RUNNING", "ENDED"):
        desk.begin("ants", "10.0.0.2")
    if state == "ENDED":
        desk.steps_of(number).end(number, EndCause.STOP, "Kim")
        eventually(lambda: energy_of(console.contest.database.connection, number))
    if state == "VOID":
        desk.steps_of(number).void(number, "Kim", "wrong device")
    assert desk.state(number).value == state
    return number


def test_extra_time_is_given_once(console: Console) -> None:  # noqa: F811
    """The deadline moves by the seconds; a repeat with the old length is refused in words."""
    number = session_in(console, "RUNNING")
    arguments = {"seconds": 60, "reason": "the switch failed", "seen_length_s": 600.0}
    console.done(f"/sessions/{number}/extra", **arguments)
    again = console.post(f"/sessions/{number}/extra", **arguments)
    assert (again.status_code, again.get_json()["code"]) == (409, "length_moved")
    card = console.client.get(f"/sessions/{number}").get_json()
    assert (card["length_s"], card["remaining_s"]) == (660.0, 660.0)
    audit = audit_of(console.contest.database.connection, number)
    assert ("extra time", "the switch failed") in [(a["action"], a["detail"]) for a in audit]


@pytest.mark.parametrize("seconds", [0, -5, 1.5, "60", None, True, 10**9, 85801])
def test_seconds_that_make_no_sense(console: Console, seconds: object) -> None:  # noqa: F811
    """Extra time is a whole number of seconds, and a session stays below a day."""
    number = session_in(console, "READY")
    answer = console.post(
        f"/sessions/{number}/extra", seconds=seconds, reason="because", seen_length_s=600.0
    )
    whole = type(seconds) is int and 0 <= seconds < 10**9
    assert answer.status_code == (409 if whole else 400)
    assert console.client.get(f"/sessions/{number}").get_json()["length_s"] == 600.0


@pytest.mark.parametrize("action", ["void", "rerun", "extra", "note", "rehearsal", "counts"])
def test_a_reason_is_required(console: Console, action: str) -> None:  # noqa: F811
    """Blanks are no reason."""
    number = session_in(console, "READY")
    arguments = {"seconds": 60, "seen_length_s": 600.0, "reason": "  "}
    answer = console.post(f"/sessions/{number}/{action}", **arguments)
    assert (answer.status_code, answer.get_json()["code"]) == (409, "reason_missing")


def test_a_result_is_unseen_until_somebody_has_seen_it(console: Console) -> None:  # noqa: F811
    """The board names it, across the next session, until the record says who has seen it."""
    first = session_in(console, "ENDED")
    second = session_in(console, "RUNNING")
    lane = console.client.get("/board").get_json()["lanes"][0]
    assert (second, [first]) == (lane["current"]["id"], [row["id"] for row in lane["unseen"]])
    console.done(f"/sessions/{first}/seen")
    lane = console.client.get("/board").get_json()["lanes"][0]
    assert (first, "operator", []) == (lane["last"]["id"], lane["last"]["seen"], lane["unseen"])


def test_a_rehearsal_is_no_attempt(console: Console) -> None:  # noqa: F811
    """Its team waits again; a session that counts after all is an attempt again."""
    number = session_in(console, "ENDED")

    def place() -> tuple[int, str]:
        team = read_roster(console.contest).find("ants")
        assert team is not None
        return team.attempt_count, team.turn.value

    assert (1, "ran") == place()
    console.done(f"/sessions/{number}/rehearsal", reason="the projector was dark")
    assert (0, "waiting") == place()
    console.done(f"/sessions/{number}/counts", reason="a mistake")
    assert (1, "ran") == place()
    kinds = [
        annotation.kind
        for annotation in annotations_of(console.contest.database.connection, number)
    ]
    assert ["rehearsal", "counts"] == kinds


def test_a_rerun_is_in_the_same_lane_and_made_once(console: Console) -> None:  # noqa: F811
    """The old session is void with the reason; the new one is READY."""
    number = session_in(console, "RUNNING")
    answer = console.done(f"/sessions/{number}/rerun", reason="the switch failed")
    assert {"session": number + 1, "state": "READY"} == answer
    rows = console.client.get("/board").get_json()["sessions"]
    assert [("READY", None), ("VOID", "the switch failed")] == [
        (row["state"], row["void_reason"]) for row in rows
    ]


def test_notes_stand_on_the_card(console: Console) -> None:  # noqa: F811
    """Each note has its writer; the same words once more are one note."""
    number = session_in(console, "ENDED")
    for text in ("fan was loud", "fan was loud", "device was warm"):
        console.done(f"/sessions/{number}/note", reason=text)
    notes = console.client.get(f"/sessions/{number}").get_json()["notes"]
    assert ["fan was loud", "device was warm"] == [note["text"] for note in notes]


def test_an_alarm_is_seen_by_its_lane_and_text(console: Console) -> None:  # noqa: F811
    """The board names who has seen it first; alarms that nobody shows are refused."""
    console.desk.logbook.alarm("The disk is nearly full.")
    console.desk.logbook.flush()
    shown = console.client.get("/board").get_json()["alarms"]
    assert [None] == [one["seen"] for one in shown]
    seen = [{"lane": one["lane"], "text": one["text"]} for one in shown]
    for name in ("Kim", "Ada"):
        console.done("/alarms/seen", alarms=seen, operator=name)
        assert ["Kim"] == [one["seen"] for one in console.client.get("/board").get_json()["alarms"]]
    unknown = [{"lane": "", "text": "another"}]
    for wrong in ([], unknown, ["text"], "text", [{"text": 7}]):
        status = console.post("/alarms/seen", alarms=wrong).status_code
        assert status == 400 or (status == 409 and wrong in (unknown, ["text"])), wrong


def test_a_result_is_replaced_by_nobody_who_has_not_seen_it(console: Console) -> None:  # noqa: F811
    """A new session is refused if another session of the team counts than the page showed."""
    ended = session_in(console, "ENDED")
    choice = console.client.get("/board").get_json()["choices"]["ants"]
    assert ("has run", ended) == (choice["turn"], choice["counted"])
    assert f"Session {ended} of 'ants' is over, and its result counts." in choice["replaces"]
    refused = console.post("/sessions", team="ants", seen_counted=None)
    assert (409, "state_moved") == (refused.status_code, refused.get_json()["code"])
    assert f"session {ended} counts now" in refused.get_json()["text"]
    made = console.post("/sessions", team="ants", seen_counted=ended)
    assert (200, ended + 1) == (made.status_code, made.get_json()["session"])
