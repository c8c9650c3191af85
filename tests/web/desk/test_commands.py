# SPDX-License-Identifier: Apache-2.0
"""Bundles from the page: what the command writes, for operators, by names that the desk knows."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import zipfile

import pytest

from referee.cli import main
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.encoding import json_bytes
from referee.service.people.audit import read_audit
from referee.web.desk.console import console_app
from tests.support.doors import post
from tests.support.forged_containers import archive, parts_of
from tests.support.packed_bundles import unpack
from tests.support.played_sessions import bundle_of


def run(words):
    """Run a command in this process, as the desk runs it in another one."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        return main(words), said.getvalue()


@pytest.fixture
def kim(door):
    """Return the browser of an operator of an event with one scored session."""
    door.event.play("ants")
    door.app = console_app(door.contest, door.event.desk, door.board, door.broadcast, run=run)
    return door.visitor("Kim")


def make(client, session):
    """Press a button; return the status and the answer."""
    done = post(client, "/bundles", session=session)
    return done.status_code, done.get_json()


def test_a_bundle_is_the_one_that_the_command_writes(door, kim, tmp_path):
    """The page lists the session, and the browser saves the very bytes."""
    assert [1] == kim.get("/results/now").get_json()["judged"]
    assert (200, {"file": "bundles/session1.zip"}) == make(kim, 1)
    with kim.get("/bundles/session1.zip") as answer:
        assert "attachment; filename=session1.zip" == answer.headers["Content-Disposition"]
        content = answer.data
    write_bundle(door.contest, 1, tmp_path / "same.zip")
    assert (tmp_path / "same.zip").read_bytes() == content


def test_all_bundles_are_one_file(door, kim):
    """Number 0 means all; pressed twice, each bundle is written once."""
    door.event.play("bees")
    assert (200, {"file": "bundles/all.zip"}) == make(kim, 0)
    folder = door.contest.config.storage.folder / "bundles"
    first = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert 200 == make(kim, 0)[0]
    assert first == {path.name: path.stat().st_ino for path in folder.iterdir()}
    with kim.get("/bundles/all.zip") as answer:
        content = answer.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert ["session1.zip", "session2.zip"] == archive.namelist()
        assert (folder / "session2.zip").read_bytes() == archive.read("session2.zip")


def test_another_sessions_bundle_in_the_folder_is_neither_replaced_nor_handed_out(
    door, kim, tmp_path
):
    """A folder that was restored may hold it: the page gives the session's own, by its own name."""
    (tmp_path / "other").mkdir()
    other = bundle_of(tmp_path / "other") / "bundle.zip"
    folder = door.contest.config.storage.folder / "bundles"
    folder.mkdir()
    shutil.copy(other, folder / "session1.zip")
    status, answer = make(kim, 1)
    name = answer["file"].removeprefix("bundles/")
    assert (200, True) == (status, name.startswith("session1-"))
    assert other.read_bytes() == (folder / "session1.zip").read_bytes()
    make(kim, 0)
    with kim.get("/bundles/all.zip") as answer, zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert [name] == archive.namelist()


@pytest.mark.parametrize("signed", ["by another event", "by this one", "by nobody", "not whole"])
def test_a_file_in_a_bundles_place_is_not_handed_out_by_its_address(door, kim, tmp_path, signed):
    """Else a 404 says whose it is, and `all` lacks it too."""
    folder = door.contest.config.storage.folder / "bundles"
    folder.mkdir()
    path = folder / "session1.zip"
    if signed == "by another event":
        (tmp_path / "other").mkdir()
        shutil.copy(bundle_of(tmp_path / "other") / "bundle.zip", path)
    elif signed == "by this one":  # As a session that was lost when a backup was restored.
        door.event.play("bees")
        write_bundle(door.contest, 2, path)
    elif signed == "by nobody":
        write_bundle(door.contest, 1, path)
        members = unpack(path)
        told = json.loads(members["manifest.json"])
        told["envelope"]["signatures"] = []
        path.write_bytes(archive(parts_of(members | {"manifest.json": json_bytes(told)})))
    else:
        write_bundle(door.contest, 1, path)
        path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    with kim.get("/bundles/session1.zip") as answer:
        status, told = answer.status_code, answer.get_json()
    assert (404, "bundle_unknown") == (status, told["code"])
    assert "is no bundle of session 1 of this event" in told["text"]
    assert (404, before) == (kim.get("/bundles/all.zip").status_code, path.read_bytes())


def test_what_is_missing_is_said_in_the_commands_words(door, kim):
    """A session that has not run, or is not there, has no bundle."""
    number = door.event.desk.new_session("bees", "Kim")
    status, answer = make(kim, number)
    assert (409, "bundle_missing") == (status, answer["code"])
    assert answer["text"].startswith(f"Session {number} of 'bees' is READY: it has not run yet.")
    assert 409 == make(kim, 99)[0]
    assert 400 == make(kim, "1")[0]
    assert 200 == make(kim, 0)[0]


def test_only_operators_get_bundles(door, kim):
    """An assistant watches the results, and gets no evidence."""
    make(kim, 1)
    sam = door.visitor("Sam")
    assert 403 == make(sam, 1)[0]
    assert 403 == sam.get("/bundles/session1.zip").status_code


@pytest.mark.parametrize("name", ["session2.zip", "session01.zip", "..%2Fcontest.toml", "x"])
def test_no_other_file_is_handed_out(door, kim, name):
    """A name that the desk does not make itself leads to no file."""
    make(kim, 1)
    folder = door.contest.config.storage.folder / "bundles"
    (folder / "x").write_text("something else")
    (folder / "session2.zip").write_text("of no session")
    assert kim.get(f"/bundles/{name}").status_code in (404, 409)


def test_a_desk_that_runs_nothing_says_where_to_do_it(door):
    """Without its programs a desk names the command."""
    assert "run 'referee export' in a terminal" in make(door.visitor("Kim"), 1)[1]["text"]


@pytest.fixture
def kim_of_two(door):
    """Return the browser of an operator of an event with two scored sessions."""
    door.event.play("ants")
    door.event.play("bees")
    door.app = console_app(door.contest, door.event.desk, door.board, door.broadcast, run=run)
    return door.visitor("Kim")


def propose(client, **said):
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


def test_a_proposal_is_made_in_the_operators_name(door, kim_of_two):
    """All sessions are scored again with the new file, and a second press makes no second one."""
    (door.contest.config.path.parent / "new.csv").write_text("5,1\n6,1\n")
    assert (200, {}) == propose(kim_of_two, blacklist="new.csv", reason="--json of a new blacklist")
    (one,) = shown(kim_of_two)
    assert ("Kim", "open", [1, 2]) == (
        *(one["operator"], one["state"]),
        [row["session"] for row in one["scores"]],
    )
    assert any(row["changed"] for row in one["scores"])
    assert [("Kim", "operator", "proposal 1", None)] == audit(door)
    status, answer = propose(kim_of_two)
    text = "Proposal 1 is open. Apply it or cancel it first."
    assert (409, text) == (status, answer["text"])
    assert [one] == shown(kim_of_two)
    assert ("Kim", "operator", "make proposal", text) == audit(door)[0] and 2 == len(audit(door))


def test_one_session_is_scored_again(kim_of_two):
    """A number chooses a session."""
    assert 200 == propose(kim_of_two, session=2)[0]
    assert [2] == [row["session"] for row in shown(kim_of_two)[0]["scores"]]


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
def test_what_is_wrong_is_said_and_changes_nothing(door, kim_of_two, said, words):
    """A file outside the event's folder is not read, and the command's own words are told."""
    folder = door.contest.config.path.parent
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "wrong.csv").write_text("seven\n")
    status, answer = propose(kim_of_two, **said)
    expected = 400 if words == "must be a whole number" else 409
    assert (expected, True) == (status, words in answer["text"]), answer
    assert [] == shown(kim_of_two)
    assert ["make proposal"] == [action for _, _, action, _ in audit(door)]


def test_an_assistant_makes_none(door, kim_of_two):
    """The action is the operators'."""
    assert 403 == propose(door.visitor("Sam"))[0]
    assert [] == shown(kim_of_two)


def test_a_refused_command_is_in_the_audit(door, kim_of_two):
    """A decision in the terminal that is refused is on record, with its reason."""
    config = str(door.contest.config.path)
    words = ["proposal", "apply", "7", "--reason", "agreed", "--by", "Ada", "--config", config]
    assert 1 == run(words)[0]
    assert [("Ada", "command line", "proposal apply", "There is no proposal 7.")] == audit(door)
