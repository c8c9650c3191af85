# SPDX-License-Identifier: Apache-2.0
"""`referee explain` leads from a session's number to pictures of its mistakes."""

from __future__ import annotations

import pytest

from referee.cli import main
from referee.core.detections import Detections, pack
from referee.store.answers import Answer, insert_answer
from referee.store.sessions import create_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock

RIGHT, WRONG = (1, 1, 0.9, 1, 2, 10, 11), (2, 2, 0.8, 2, 2, 11, 11)


@pytest.fixture
def data(tmp_path):
    """Return the folder of a rehearsal with one session of a hit and a box of a wrong class."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)
    now = contest.clock.now()
    sent = Detections.from_rows([RIGHT, WRONG])
    with contest.database.write() as connection:
        session = create_session(connection, team="me", length_s=600.0, order_seed=None, now=now)
        for kind in ("armed", "started"):
            record_event(connection, session, kind, now, actor="me")
        answer = Answer(session, 6.0, "then", False, "csv", "", 2, 0, pack(sent))
        insert_answer(connection, answer)
    contest.database.close()
    return contest.config.path


def test_a_session_is_explained_by_one_command(data, tmp_path, capsys):
    """The page shows the wrong class on the image itself, and the missed boxes."""
    out = tmp_path / "why"
    assert 0 == main(["explain", "1", "--config", str(data), "--out", str(out)])
    assert f"Open {out / 'index.html'}" in capsys.readouterr().err
    page = (out / "index.html").read_text()
    assert "image 2: dog 0.800: wrong class, IoU 1.000 with cat" in page
    assert "cat: missed" in page
    assert 3 == len((out / "fates.csv").read_text().splitlines())


def test_what_cannot_be_explained_is_said(data, tmp_path, capsys, monkeypatch):
    """An unknown session, and a folder without a rehearsal, get one sentence."""
    assert 1 == main(["explain", "7", "--config", str(data), "--out", str(tmp_path / "why")])
    assert "7" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path / "images")
    assert 2 == main(["explain", "1"])
    assert "practice-data" in capsys.readouterr().err
    assert not (tmp_path / "why").exists()
