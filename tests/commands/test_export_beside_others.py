# SPDX-License-Identifier: Apache-2.0
"""`referee export` beside files that are there: another session's evidence is never replaced."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.cli import main
from referee.programs.practice_folder import config_in
from referee.service.evidence.bundle import MEMBERS
from referee.service.evidence.signing import add_signature
from referee.service.setup.config_file import dump_config
from referee.service.setup.opened import opened_contest
from referee.service.setup.signing_key import PUBLIC
from referee.store.notices import insert_notice
from tests.commands.test_export import ended, export, export_all, judge_and_score, member
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def twice(tmp_path):
    """Return a folder and its restored backup; in each another session 2 ran after session 1."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)
    judge_and_score(contest, ended(contest))
    contest.database.close()
    data = contest.config.storage.folder
    (data / "contest.toml").write_text(dump_config(contest.config))
    shutil.copy(tmp_path / PUBLIC, data / PUBLIC)
    backup = shutil.copytree(data, data.with_name("backup"))
    for folder, team in ((data, "ants"), (backup, "bees")):
        with opened_contest(config_in(folder)) as contest:
            judge_and_score(contest, ended(contest, team))
    return data, backup


def test_a_restored_folder_replaces_no_other_teams_evidence(twice, capsys):
    """The first team's file stays as it is; the second one's has a name of its own, also later."""
    data, backup = twice
    first = export_all(data)[1]
    capsys.readouterr()
    code, both = export_all(backup)
    said = capsys.readouterr().err
    (own,) = both.keys() - first.keys()
    assert 0 == code and first == {name: both[name] for name in first}
    assert re.fullmatch("session2-[0-9a-f]{8}.zip", own)
    assert (
        f"{own} is written. session2.zip stays: it is another session: session 2 of 'ants'" in said
    )
    out = data.parent / "bundles"
    assert ["ants", "bees"] == [
        member(out / name, "session.json")["team"] for name in ("session2.zip", own)
    ]
    assert both == export_all(backup)[1] == export_all(data)[1]
    assert f"{own} is there and whole." in capsys.readouterr().err


def test_the_single_export_replaces_nothing_but_its_own_session(twice, capsys):
    """Another session's bundle, and a file of any other kind, stay unless --force is given."""
    data, backup = twice
    _, path = export(data, 2)
    for content in (path.read_bytes(), b"my notes", b""):
        path.write_bytes(content)
        assert (1, content) == (export(backup, 2)[0], path.read_bytes())
        said = capsys.readouterr().err
        assert f"{path} is there, and stays: " in said and "--force to replace it" in said
    assert 0 == export(backup, 2, "--force")[0]
    assert "bees" == member(path, "session.json")["team"]
    assert 2 == main(["export", "--all", "--force", "--out", str(path.parent), "--data", str(data)])


def test_a_session_brings_its_own_file_up_to_date(twice, capsys):
    """The same bytes are left alone, and an earlier state of the session is written again."""
    data, _ = twice
    _, path = export(data, 2)
    before = path.stat()
    assert (0, before.st_ino) == (export(data, 2)[0], path.stat().st_ino)
    assert "already exists, and is what session 2 gives" in capsys.readouterr().err
    with opened_contest(config_in(data)) as contest, contest.database.write() as connection:
        insert_notice(connection, 2, "then", "alarm", "a later note")
    assert 0 == export(data, 2)[0]
    assert "a later note" in json.dumps(member(path, "session.json"))


def test_a_bundle_that_knows_more_than_the_folder_stays(twice, capsys):
    """A backup of before the last facts of a session gives no bundle that lacks them."""
    data, backup = twice
    with opened_contest(config_in(data)) as contest, contest.database.write() as connection:
        insert_notice(connection, 1, "then", "alarm", "a later note")
    first = export_all(data)[1]
    capsys.readouterr()
    code, both = export_all(backup)
    said = capsys.readouterr().err
    assert (1, first["session1.zip"]) == (code, both["session1.zip"])
    stays = "session 1: FAILED: session1.zip stays: it has facts that this folder lacks, "
    assert re.search(stays + r"\d+ of session 1 of 'me'", said)
    (path,) = [data.parent / "bundles/session1.zip"]
    assert 1 == main(["export", "1", "--out", str(path), "--data", str(backup)])
    assert first["session1.zip"][0] == path.read_bytes()


def test_a_judges_signature_of_an_earlier_state_stays(twice, capsys):
    """What a judge has signed is not written again: the newer state has a name of its own."""
    data, _ = twice
    export_all(data)
    bundle = data.parent / "bundles/session2.zip"
    assert add_signature(bundle, Ed25519PrivateKey.generate(), MEMBERS)
    signed = bundle.read_bytes()
    with opened_contest(config_in(data)) as contest, contest.database.write() as connection:
        insert_notice(connection, 2, "then", "alarm", "a later note")
    code, files = export_all(data)
    assert (0, signed, 3) == (code, files["session2.zip"][0], len(files))
    assert "there are newer facts, and key " in capsys.readouterr().err
    assert files == export_all(data)[1]


def test_a_torn_file_is_made_again_only_if_it_says_that_it_is_this_sessions(twice, capsys):
    """Of a torn file the facts are looked for from its beginning; without them it stays."""
    data, backup = twice
    first = export_all(data)[1]
    path = data.parent / "bundles/session2.zip"
    torn = first["session2.zip"][0][:-100]
    path.write_bytes(torn)
    assert torn == export_all(backup)[1]["session2.zip"][0]
    assert first["session2.zip"][0] == export_all(data)[1]["session2.zip"][0]
    path.write_bytes(torn[:200])
    capsys.readouterr()
    code, files = export_all(data)
    assert (0, torn[:200]) == (code, files["session2.zip"][0])
    assert "session2.zip stays: nothing in it says whose it is" in capsys.readouterr().err


def test_a_folder_takes_one_session_too(twice):
    """With a folder as --out the file has the name that --all gives it."""
    data, backup = twice
    out = data.parent / "bundles"
    out.mkdir()
    for folder in (data, backup):
        assert 0 == main(["export", "2", "--out", str(out), "--data", str(folder)])
    assert 2 == len(list(out.glob("session2*.zip")))


def test_a_restored_folder_is_told(twice, capsys):
    """The export warns at its start, and names the bundle that has what the folder lacks."""
    data, backup = twice
    export_all(data)
    assert "This folder was restored" not in capsys.readouterr().err
    export(backup, 1)
    said = capsys.readouterr().err
    assert "This folder was restored from an older copy: it lacks facts that " in said
    assert f"{data.parent}/bundles/session2.zip (session 2) has." in said
