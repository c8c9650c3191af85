# SPDX-License-Identifier: Apache-2.0
"""The page of the checks: the list, an override and its end, and slow checks.

It plays the list, its overrides and the slow checks through the routes, whose rules lie below.
"""

from __future__ import annotations

import threading

import pytest

from referee.service.board.board import board_of
from referee.service.desk.readiness import Outside
from referee.service.event.finalizing import finalize
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.contests import make_contest, no_room
from tests.support.events import Event
from tests.support.fakes import BOUND_S, FakeClock, FakeMeter, eventually, running_desk


class Outsider:
    """Slow checks that last until the test lets them end."""

    def __init__(self):
        self.begun, self.end = threading.Event(), threading.Event()
        self.fault = "the disk was full"

    def __call__(self, stopping):
        self.begun.set()
        self.end.wait(BOUND_S)
        return self.fault


@pytest.fixture
def slow():
    """Return slow checks in the hands of the test."""
    return Outsider()


@pytest.fixture
def event(tmp_path, slow):
    """Return a console of an event, its desk and its meter."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter, outside=Outside(run=slow)) as desk:
        board = board_of(contest, desk, [])
        app = console_app(contest, desk, board, Broadcast(board.show, 4))
        yield app.test_client(), desk, meter
        slow.end.set()
    contest.database.close()


def post(client, path, **arguments):
    """Post an action of an operator."""
    key = client.get("/form-key").json["key"]
    return client.post(path, json={"operator": "Kim"} | arguments, headers={"X-Form-Key": key})


def rows(client, level):
    """Return the findings of one level."""
    return [it for it in client.get("/check/now").json["findings"] if it["level"] == level]


def test_a_fail_is_overridden_and_taken_back(event, monkeypatch):
    """Arming is refused, allowed, and refused again; an action without a reason changes nothing."""
    client, desk, _ = event
    no_room(monkeypatch)
    number = desk.new_session("ants", "Kim")
    assert "not_ready" == post(client, f"/sessions/{number}/arm").json["code"]
    (bad,) = rows(client, "FAIL")
    finding = {key: bad[key] for key in ("group", "item", "text")}
    assert "reason_missing" == post(client, "/check/override", **finding).json["code"]
    moved = finding | {"text": "something else"}
    assert "finding_moved" == post(client, "/check/override", **moved, reason="x").json["code"]
    assert 200 == post(client, "/check/override", **finding, reason="short event").status_code
    assert client.get("/check/now").json["ready"]
    by = rows(client, "FAIL")[0]["override"]
    assert ("Kim", "short event") == (by["operator"], by["reason"])
    ended = post(client, f"/check/overrides/{by['number']}/end", reason="room made")
    assert 200 == ended.status_code
    assert "not_ready" == post(client, f"/sessions/{number}/arm").json["code"]
    assert 200 == post(client, "/check/override", **finding, reason="again").status_code
    assert "ARMED" == post(client, f"/sessions/{number}/arm").json["state"]


def test_a_warning_is_acknowledged_and_taken_back(event):
    """The list then has nobody's warning but a known one; a FAIL is never acknowledged."""
    client, _, _ = event
    finding = {key: rows(client, "WARN")[0][key] for key in ("group", "item", "text")}
    body = finding | {"reason": "a show"}
    assert "finding_moved" == post(client, "/check/override", **body).json["code"]
    assert "level_wrong" == post(client, "/check/override", **body, level="OK").json["code"]
    assert 200 == post(client, "/check/override", **body, level="WARN").status_code

    def known():
        return [it["override"] for it in rows(client, "WARN") if it["override"]]

    (by,) = known()
    assert ("Kim", "a show") == (by["operator"], by["reason"])
    ended = post(client, f"/check/overrides/{by['number']}/end", reason="no show")
    assert (200, []) == (ended.status_code, known())


def test_slow_checks_and_sessions_keep_apart(event, slow):
    """No session is armed while slow checks run, and none begin while a session is armed."""
    client, desk, meter = event
    number = desk.new_session("ants", "Kim")
    calls = len(meter.calls)
    assert 200 == post(client, "/check/again").status_code
    assert slow.begun.wait(BOUND_S)
    assert "identify" in meter.calls[calls:]
    shown = client.get("/check/now").json
    assert (shown["running"], shown["ready"]) == (True, False)
    # The meter has been looked at, so the first check that needs none runs.
    assert ("truth boxes", 3) == (shown["progress"]["item"], shown["progress"]["done"])
    assert 200 == post(client, "/check/again").status_code  # A repeat changes nothing.
    assert "checks_running" == post(client, f"/sessions/{number}/arm").json["code"]
    slow.end.set()
    eventually(lambda: not client.get("/check/now").json["running"])
    (bad,) = rows(client, "FAIL")
    assert ("golden client", "the disk was full") == (bad["item"], bad["text"])
    finding = {key: bad[key] for key in ("group", "item", "text")}
    post(client, "/check/override", **finding, reason="known")
    assert "ARMED" == post(client, f"/sessions/{number}/arm").json["state"]
    calls = len(meter.calls)
    assert "session_live" == post(client, "/check/again").json["code"]
    assert "identify" not in meter.calls[calls:]


@pytest.mark.slow
def test_checks_that_end_take_no_list_from_who_reads_it(event, slow, monkeypatch):
    """A page that asks in that moment gets the list, and then the new one."""
    client, desk, _ = event
    assert 200 == post(client, "/check/again").status_code
    assert slow.begun.wait(BOUND_S)
    client.get("/check/now")
    real = desk.readiness._kept_s

    def ends_meanwhile():
        slow.end.set()
        threading.Event().wait(0.5)
        return real()

    with monkeypatch.context() as patched:
        patched.setattr(desk.readiness, "_kept_s", ends_meanwhile)
        assert client.get("/check/now").json["running"]
    eventually(lambda: not client.get("/check/now").json["running"])
    assert ["golden client"] == [row["item"] for row in rows(client, "FAIL")]


def test_the_meter_that_was_looked_at_is_told(event, slow):
    """Identity, error queue and clock come with the time of the look."""
    client, _, _ = event
    slow.end.set()
    post(client, "/check/again")
    eventually(lambda: not client.get("/check/now").json["running"])
    found = {it["item"]: it for it in client.get("/check/now").json["findings"]}
    assert "WT310E" in found["identity"]["text"]
    assert 0 == found["identity"]["age_s"]
    assert {"OK"} == {found[item]["level"] for item in ("identity", "error queue", "clock")}


def test_a_session_that_must_be_over_first_is_told(event):
    """The list says which session a lane waits for, so nobody reads that another can be armed."""
    client, desk, _ = event
    assert [""] == [lane["waits"] for lane in client.get("/check/now").json["lanes"]]
    number = desk.new_session("ants", "Kim")
    post(client, f"/sessions/{number}/arm")
    (lane,) = client.get("/check/now").json["lanes"]
    assert f"Session {number} is ARMED" == lane["waits"]


def test_final_results_are_not_ready(event):
    """When the results are final no session can be armed, whatever the checks find."""
    client, desk, meter = event
    contest = desk.lanes[0]._contest
    played = Event(contest, desk, meter)
    played.register("ants")
    played.play("ants")
    finalize(contest, ["Ada"])
    shown = client.get("/check/now").json
    assert (shown["ready"], shown["final"], rows(client, "FAIL")) == (False, True, [])


def test_the_page_is_served(event):
    """The page comes with its script."""
    client, _, _ = event
    with client.get("/check") as page:
        assert b"static/event/check.js" in page.data
    with client.get("/static/event/check.js") as script:
        assert 200 == script.status_code


def test_slow_checks_that_find_no_fault_add_none(event, slow):
    """A golden client that is in order leaves what it stored itself, and no FAIL of the desk."""
    client, desk, _ = event
    slow.fault = ""
    slow.end.set()
    post(client, "/check/again")
    eventually(lambda: not client.get("/check/now").json["running"])
    assert [] == rows(client, "FAIL")
    number = desk.new_session("ants", "Kim")
    assert "ARMED" == post(client, f"/sessions/{number}/arm").json["state"]


def test_a_changed_ground_truth_is_no_ok(event):
    """The list says it as the alarm does, with the way out, and sessions may go on."""
    client, desk, _ = event
    number = desk.new_session("ants", "Kim")
    truth = desk._contest.config.images.ground_truth
    truth.write_bytes(truth.read_bytes() + b"\n")
    for _ in range(2):  # What changes from look to look is not judged.
        desk.readiness._inputs.look()
    found = {it["item"]: it for it in client.get("/check/now").json["findings"]}
    changed = found["images and ground truth"]
    assert "WARN" == changed["level"] and "truth.json: has changed" in changed["text"]
    assert "Put the old file back" in changed["remedy"]
    assert "ARMED" == post(client, f"/sessions/{number}/arm").json["state"]
