# SPDX-License-Identifier: Apache-2.0
"""`referee coach` tells of sessions and of bundles, and refuses with one sentence."""

from __future__ import annotations

import json
import sys

import pytest

from referee.cli import main
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


def coach(rehearsal, *words):
    """Run the command on the rehearsal."""
    return main(["coach", *words, "--config", str(rehearsal / "contest.toml")])


def test_a_session_and_its_bundle_are_told_alike(rehearsal, capsys):
    """All parts stand there, and a bundle gives the same figures as the rows it was made of."""
    assert 0 == coach(rehearsal, "1", "--json")
    of_rows = json.loads(capsys.readouterr().out)
    truth = rehearsal / "truth.json"
    assert 0 == main(["coach", str(rehearsal / "1.zip"), "--ground-truth", str(truth), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert of_rows == told
    assert (1, "ants, é", ["EMULATED"]) == (told["session"], told["team"], told["marks"])
    phases = [part["phase"] for part in told["where_it_went"]["parts"]]
    assert ["before_first_image", "waiting", "working", "after_last_answer"] == phases
    joules = 3600 * sum(part["energy_wh"] for part in told["where_it_went"]["parts"])
    assert pytest.approx(100, rel=0.01) == joules


def test_json_has_the_names_that_scripts_read(rehearsal, capsys):
    """One session is one object, with the headlines first; two are a list, and what differs."""
    assert 0 == coach(rehearsal, "1", "--idle-w", "1", "--json")
    told = json.loads(capsys.readouterr().out)
    best, went = told["best_moment"], told["where_it_went"]
    assert best["best"]["at_s"] == told["best_stop_s"]
    for name in ("gain", "gain_low", "gain_high"):
        assert best[name] == told[name]
    parts = [part["energy_wh"] for part in went["parts"]]
    names = ("before", "waiting", "working", "after")
    assert parts == [told["energy_wh"][name] for name in names]
    assert went["base"]["energy_wh"] == told["energy_wh"]["idle"]
    assert {*names, "idle"} == set(told["energy_wh"])
    assert pytest.approx(1) == told["joules_per_image"] * told["images_per_joule"]
    assert "with a logout at" in told["advice"][0]
    assert any("fetching the next image" in line for line in told["advice"])
    assert 0 == coach(rehearsal, "1", "2", "--json")
    both = json.loads(capsys.readouterr().out)
    assert [1, 2] == [one["session"] for one in both["sessions"]] and both["compared"]


def test_two_sessions_stand_side_by_side_on_a_page(rehearsal, tmp_path, capsys):
    """The text and the page have both, and what differs."""
    page = tmp_path / "coach.html"
    assert 0 == coach(rehearsal, "1", "2", "--out", str(page))
    out = capsys.readouterr().out
    assert "Coach: session 1 for 'ants, é' EMULATED" in out
    assert "Where the energy went" in out
    assert "Side by side" in out and "session 2 minus session 1" in out
    text = page.read_text(encoding="utf-8")
    assert text.count("<h1>") == 2
    assert "session 2 minus session 1" in text
    assert "data:image/svg+xml" in text


def test_of_two_equal_sessions_neither_is_ahead(rehearsal, capsys):
    """A session beside itself has no difference."""
    assert 0 == coach(rehearsal, "1", "1")
    assert "; neither is ahead." in capsys.readouterr().out


def test_without_matplotlib_the_page_says_what_its_chart_needs(rehearsal, tmp_path, monkeypatch):
    """A plain install rehearses: its report has all but the chart."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_svg", None)
    monkeypatch.delitem(sys.modules, "referee.extras.coach.chart", raising=False)
    page = tmp_path / "coach.html"
    assert 0 == coach(rehearsal, "1", "--out", str(page))
    text = page.read_text(encoding="utf-8")
    assert "a chart needs matplotlib: pip install matplotlib" in text
    assert "Where the energy went" in text and "data:image/svg+xml" not in text


def test_idle_power_gives_a_base_and_the_case_of_fewer_images(rehearsal, capsys):
    """A given idle power is used as given; a power that is none is refused."""
    assert 0 == coach(rehearsal, "1", "--idle-w", "2.5")
    out = capsys.readouterr().out
    assert "idle: 2.5 W (as given)" in out
    assert "without every second image: " in out and "--idle-w" not in out
    with pytest.raises(SystemExit):
        coach(rehearsal, "1", "--idle-w", "0")
    assert "give watts above 0" in capsys.readouterr().err


def test_what_cannot_be_coached_is_said(rehearsal, tmp_path, capsys):
    """No such session, a bundle without its truth, three sessions, and a file that is no bundle."""
    assert 1 == coach(rehearsal, "7")
    assert "7" in capsys.readouterr().err
    bundle = str(rehearsal / "1.zip")
    assert 2 == main(["coach", bundle])
    assert "--ground-truth" in capsys.readouterr().err
    assert 2 == coach(rehearsal, "1", "2", "1")
    assert "two to compare" in capsys.readouterr().err
    other = tmp_path / "other.zip"
    other.write_bytes(b"no zip")
    truth = str(rehearsal / "truth.json")
    assert 2 == main(["coach", str(other), "--ground-truth", truth])
    assert "other.zip" in capsys.readouterr().err


def test_a_forged_bundle_is_not_coached(rehearsal, tmp_path, capsys):
    """A bundle that is not as it was signed is refused before anything is read."""
    forged = tmp_path / "forged.zip"
    forged.write_bytes((rehearsal / "1.zip").read_bytes() + b"more")
    truth = str(rehearsal / "truth.json")
    assert 2 == main(["coach", str(forged), "--ground-truth", truth])
    assert "forged.zip" in capsys.readouterr().err


def test_a_session_that_runs_is_not_coached(tmp_path, capsys):
    """A session without an end has nothing to tell yet."""
    from referee.store.sessions import create_session, record_event

    contest = make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)
    now = contest.clock.now()
    with contest.database.write() as connection:
        number = create_session(connection, team="me", length_s=600.0, order_seed=None, now=now)
        for kind in ("armed", "started"):
            record_event(connection, number, kind, now, actor="me")
    contest.database.close()
    assert 1 == coach(tmp_path, "1")
    assert "Session 1 has not ended" in capsys.readouterr().err
