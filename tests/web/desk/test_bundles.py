# SPDX-License-Identifier: Apache-2.0
"""Bundles from the page: what the command writes, for operators, by names that the desk knows."""

from __future__ import annotations

import contextlib
import io
import zipfile

import pytest

from referee.cli import main
from referee.service.evidence.bundle import write_bundle
from referee.web.desk.console import console_app
from tests.support.doors import post


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


def test_what_is_missing_is_said_in_the_commands_words(door, kim):
    """A session that has not run, or is not there, has no bundle."""
    number = door.event.desk.new_session("bees", "Kim")
    status, answer = make(kim, number)
    assert (409, "bundle_missing") == (status, answer["code"])
    assert answer["text"].startswith(f"Session {number} of 'bees' is READY: it has not run yet.")
    assert 409 == make(kim, 99)[0]
    assert 409 == make(kim, "1")[0]
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
