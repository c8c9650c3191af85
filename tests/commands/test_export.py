# SPDX-License-Identifier: Apache-2.0
"""`referee export` writes complete evidence, and names what is missing."""

from __future__ import annotations

import json
import zipfile

import pytest

from referee.cli import main
from referee.service.results.final_score import score_session
from referee.service.setup.config_file import dump_config
from referee.service.setup.contest import read_contest_truth
from referee.store.readings import energy_of, insert_energy
from referee.store.sessions import create_session, load_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def data(tmp_path):
    """Return the folder of a rehearsal: session 1 is scored, session 2 has no energy yet."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)
    with contest.database.write() as connection:
        for _ in range(2):
            now = contest.clock.now()
            number = create_session(connection, team="me", length_s=600.0, order_seed=None, now=now)
            for kind, cause in (("armed", None), ("started", None), ("ended", "logout")):
                record_event(connection, number, kind, now, actor="x", cause=cause)
        insert_energy(
            connection,
            1,
            utc="",
            energy_wh=0.5,
            uncertainty_wh=0.001,
            verdict="SUSPECT",
            detail={"reasons": []},
        )
    session = load_session(contest.database.connection, 1)
    energy = energy_of(contest.database.connection, 1)
    score_session(contest, read_contest_truth(contest), session, energy)
    contest.database.close()
    folder = contest.config.storage.folder
    # As in a rehearsal, the configuration lies in the folder and names it by its absolute path.
    (folder / "contest.toml").write_text(dump_config(contest.config))
    return folder


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
    assert "Session 1: 0.000 mAP/Wh, SUSPECT.\n" in capsys.readouterr().err


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
