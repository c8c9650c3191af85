# SPDX-License-Identifier: Apache-2.0
"""`referee export` writes complete evidence, and names what is missing."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import zipfile

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.cli import main
from referee.programs.practice_folder import config_in
from referee.service.evidence.bundle import MEMBERS
from referee.service.evidence.signing import add_signature
from referee.service.results.final_score import score_session
from referee.service.setup.config_file import dump_config
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.opened import opened_contest
from referee.service.setup.signing_key import PRIVATE
from referee.store.notices import insert_notice
from referee.store.readings import energy_of, insert_energy
from referee.store.sessions import create_session, load_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def data(tmp_path):
    """Return the folder of a rehearsal: session 1 is scored, session 2 has no energy yet."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)
    ended(contest)
    ended(contest)
    judge_and_score(contest, 1)
    contest.database.close()
    folder = contest.config.storage.folder
    # As in a rehearsal, the configuration lies in the folder and names it by its absolute path.
    (folder / "contest.toml").write_text(dump_config(contest.config))
    return folder


def ended(contest, team="me"):
    """Make a session that has ended; return its number."""
    with contest.database.write() as connection:
        now = contest.clock.now()
        number = create_session(connection, team=team, length_s=600.0, order_seed=None, now=now)
        for kind, cause in (("armed", None), ("started", None), ("ended", "logout")):
            record_event(connection, number, kind, now, actor="x", cause=cause)
    return number


def judge_and_score(contest, number):
    """Give a session its energy and its score."""
    with contest.database.write() as connection:
        insert_energy(
            connection,
            number,
            utc="",
            energy_wh=0.5,
            uncertainty_wh=0.001,
            verdict="SUSPECT",
            detail={"reasons": []},
        )
    session = load_session(contest.database.connection, number)
    energy = energy_of(contest.database.connection, number)
    score_session(contest, read_contest_truth(contest), session, energy)


def export(data, session, *options):
    """Run the command and return its exit code and the bundle's path."""
    bundle = data.parent / "bundle.zip"
    command = ["export", str(session), "--out", str(bundle), "--data", str(data), *options]
    return main(command), bundle


def member(bundle, name):
    """Return a JSON member of a bundle."""
    with zipfile.ZipFile(bundle) as members:
        return json.loads(members.read(name))


def test_a_scored_session_is_written_and_its_result_told(data, capsys):
    """A scored session is written with score and verdict: exit code 0, and a line about both."""
    code, bundle = export(data, 1)
    assert 0 == code
    verdict = member(bundle, "verdict.json")
    assert ("SUSPECT", 0.5) == (verdict["verdict"], verdict["energy_wh"])
    assert 0.0 == member(bundle, "score.json")["score"]
    assert "Session 1: 0 mAP/Wh, SUSPECT.\n" in capsys.readouterr().err


def test_what_is_missing_is_named_and_nothing_is_written(data, capsys):
    """Without servers nobody scores: export names the missing parts at once, and writes no file."""
    code, bundle = export(data, 2)
    assert (1, False) == (code, bundle.exists())
    said = capsys.readouterr()
    assert "Session 2 of 'me' has no energy and no score yet. Nobody is scoring" in said.err
    assert "" == said.out


def test_partial_writes_what_there_is(data, capsys):
    """--partial writes a bundle with nulls, and a line that explains them."""
    code, bundle = export(data, 2, "--partial")
    assert (0, None) == (code, member(bundle, "score.json"))
    assert "The bundle is not complete. Session 2 of 'me' has no energy" in capsys.readouterr().err


def test_unknown_session(data, capsys):
    """A number without a session is refused by name, with --partial too."""
    for options in ((), ("--partial",)):
        code, bundle = export(data, 7, *options)
        assert (1, False) == (code, bundle.exists())
        assert "7" in capsys.readouterr().err


def test_a_copied_folder_is_read_and_not_the_original(data, capsys):
    """Export reads a copied folder itself, although its configuration names the original."""
    copy = data.rename(data.with_name("copy"))
    code, bundle = export(copy, 1)
    assert (0, 1) == (code, member(bundle, "session.json")["session"])
    assert not data.exists()


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon"])
def test_a_wait_that_is_none_is_refused(data, seconds):
    """A negative --wait is refused."""
    with pytest.raises(SystemExit, match="2"):
        export(data, 1, "--wait", seconds)


@pytest.fixture
def many(data):
    """Return a folder with sessions 1 to 4: all are scored; 3 is void then, and 5 has not run."""
    with opened_contest(config_in(data)) as contest:
        judge_and_score(contest, 2)
        for number in (ended(contest), ended(contest)):
            judge_and_score(contest, number)
        with contest.database.write() as connection:
            now = contest.clock.now()
            record_event(connection, 3, "voided", now, actor="x", cause="the lamp fell")
            create_session(connection, team="me", length_s=600.0, order_seed=None, now=now)
    return data


def export_all(data, *options):
    """Export all sessions; return the exit code and each file's bytes and number on the disk."""
    out = data.parent / "bundles"
    code = main(["export", "--all", "--out", str(out), "--data", str(data), *options])
    return code, {path.name: (path.read_bytes(), path.stat().st_ino) for path in out.iterdir()}


def test_all_sessions_with_a_verdict_are_written(many, capsys):
    """Each has the bytes that it would have alone, a void one too; one that never ran has none."""
    code, files = export_all(many)
    assert (0, [f"session{number}.zip" for number in (1, 2, 3, 4)]) == (code, sorted(files))
    export(many, 2)
    assert files["session2.zip"][0] == (many.parent / "bundle.zip").read_bytes()
    said = capsys.readouterr()
    assert "" == said.out
    assert "1 of 5: session 1: session1.zip is written.\n" in said.err
    assert "5 of 5: session 5: no bundle. Session 5 of 'me' is READY" in said.err
    assert "bundles: written 4, there already 0, none yet 1, failed 0\n" in said.err


def test_a_bundle_that_holds_stays_and_others_are_made_again(many, capsys):
    """A second export leaves whole files alone; a torn, a changed and an old one are made again."""
    _, first = export_all(many)
    assert (0, first) == export_all(many)
    out = many.parent / "bundles"
    torn, changed, whole = (out / f"session{number}.zip" for number in (1, 2, 4))
    torn.write_bytes(first["session1.zip"][0][:-100])
    text = bytearray(first["session2.zip"][0])
    text[text.index(b"PK", 10) - 40] ^= 1
    changed.write_bytes(bytes(text))
    with opened_contest(config_in(many)) as contest, contest.database.write() as connection:
        insert_notice(connection, 3, "then", "alarm", "a later note")
    capsys.readouterr()
    code, again = export_all(many)
    said = capsys.readouterr().err
    assert 0 == code
    for name in ("session1.zip", "session2.zip"):
        assert first[name][0] == again[name][0]
        assert f"{name} is written again: " in said
    assert "session3.zip is written again: " in said
    assert "session.json: there are newer facts." in said
    assert first[whole.name] == again[whole.name]
    assert "written 3, there already 1" in said


def test_a_bundle_with_bytes_behind_its_end_is_made_again(many, capsys):
    """No reader of zip files sees them, but the file is not the one that was written."""
    _, first = export_all(many)
    path = many.parent / "bundles" / "session1.zip"
    path.write_bytes(first["session1.zip"][0] + b"x\n")
    capsys.readouterr()
    code, again = export_all(many)
    assert (0, first["session1.zip"][0]) == (code, again["session1.zip"][0])
    said = capsys.readouterr().err
    assert "session1.zip is written again: the file: bytes were added at its end" in said


def test_a_judges_signature_stays(many):
    """A bundle that a judge has signed as well is whole, and is not made again."""
    export_all(many)
    bundle = many.parent / "bundles/session1.zip"
    assert add_signature(bundle, Ed25519PrivateKey.generate(), MEMBERS)
    signed = bundle.read_bytes()
    assert signed == export_all(many)[1]["session1.zip"][0]


def test_a_bundle_without_the_events_signature_is_made_again(many, capsys):
    """What a copy without the key has written is made again where the key is."""
    key = many / PRIVATE
    away = key.rename(many.parent / PRIVATE)
    export_all(many)
    assert f"warning: {key} is not there, so no new bundle is signed." in capsys.readouterr().err
    assert "envelope" not in member(many.parent / "bundles/session1.zip", "manifest.json")
    away.rename(key)
    export_all(many)
    said = capsys.readouterr().err
    assert "written again: the event's key has not signed it." in said and "warning" not in said
    assert "envelope" in member(many.parent / "bundles/session1.zip", "manifest.json")


_KILLED = """
import os, signal, sys
from referee.cli import main

replace, calls = os.replace, []

def killed(*paths):
    calls.append(paths)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*paths)

os.replace = killed
main(sys.argv[1:])
"""


def test_an_export_that_was_killed_goes_on(many):
    """kill -9 before the second bundle has its name: the next export keeps the first one."""
    out = many.parent / "bundles"
    command = ["export", "--all", "--out", str(out), "--data", str(many)]
    done = subprocess.run([sys.executable, "-c", _KILLED, *command], check=False)
    assert -signal.SIGKILL == done.returncode
    assert ["session1.zip"] == [path.name for path in out.glob("*.zip")]
    first = (out / "session1.zip").stat().st_ino
    assert 1 == len(list(out.glob("session2.zip.*.part")))
    code, files = export_all(many)
    assert (0, [f"session{number}.zip" for number in (1, 2, 3, 4)]) == (code, sorted(files))
    assert first == files["session1.zip"][1]


def test_a_changed_row_stops_one_bundle_and_no_other(many, capsys):
    """The session with the changed row fails by name; the others are written, and the code is 1."""
    with opened_contest(config_in(many)) as contest:
        path = contest.config.database
    connection = sqlite3.connect(path)
    connection.execute("drop trigger energies_no_update")
    connection.execute("update energies set energy_wh = 0.1 where session_id = 2")
    connection.commit()
    connection.close()
    code, files = export_all(many)
    assert (1, ["session1.zip", "session3.zip", "session4.zip"]) == (code, sorted(files))
    assert "2 of 5: session 2: FAILED: " in capsys.readouterr().err


def test_a_session_whose_energy_does_not_come_is_told(data, capsys):
    """A session that has run and has no verdict is no silent gap: the code is 1."""
    code, files = export_all(data)
    assert (1, ["session1.zip"]) == (code, sorted(files))
    assert "session 2: FAILED: Session 2 of 'me' has no energy" in capsys.readouterr().err
    assert (0, 2) == (export_all(data, "--partial")[0], len(export_all(data, "--partial")[1]))


@pytest.mark.parametrize("what", [[], ["1", "--all"]])
def test_one_session_or_all(data, what):
    """Neither a session nor --all, or both, are wrong use."""
    with pytest.raises(SystemExit, match="2"):
        main(["export", *what, "--out", str(data.parent / "b.zip"), "--data", str(data)])
