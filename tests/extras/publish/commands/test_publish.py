# SPDX-License-Identifier: Apache-2.0
"""The command of a site: what it writes and says, and what it refuses."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def config(tmp_path):
    """Return the configuration of an event in which nothing has happened yet."""
    folder = tmp_path / "event"
    folder.mkdir()
    contest = make_contest(folder, FakeClock(), mode="event", seconds=600)
    contest.database.close()
    return str(contest.config.path)


def test_an_event_without_a_team_has_a_site(config, tmp_path, capsys):
    """The world may know the address before the first session."""
    site = tmp_path / "site"
    assert 0 == main(["publish", str(site), "--config", config])
    said = capsys.readouterr().out
    assert "files written" in said
    names = {path.name for path in site.iterdir()}
    files = "index.html results.html results.json results.csv feed.ndjson state.json signing.pub"
    assert {*files.split(), "schema.json", "results.csv-metadata.json", "teams"} <= names
    assert [] == json.loads((site / "results.json").read_text())["entries"]
    assert 0 == main(["publish", str(site), "--config", config])
    assert "0 files written" in capsys.readouterr().out


def test_others_may_read_the_site(config, tmp_path):
    """A web server is another user, and the event's own folder stays closed to it."""
    site = tmp_path / "site"
    main(["publish", str(site), "--config", config])
    assert {0o644} == {path.stat().st_mode & 0o777 for path in site.rglob("*") if path.is_file()}
    folders = [site, *(path for path in site.rglob("*") if path.is_dir())]
    assert {0o755} == {path.stat().st_mode & 0o777 for path in folders}


def test_somebody_elses_folder_is_refused(config, tmp_path, capsys):
    """Nothing in it was changed."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/thesis.txt").write_text("mine")
    assert 2 == main(["publish", str(tmp_path / "home"), "--config", config])
    assert "thesis.txt" in capsys.readouterr().err
    assert ["thesis.txt"] == [path.name for path in (tmp_path / "home").iterdir()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--every", "10s"], "belong to --follow"),
        (["--then", "true"], "belong to --follow"),
        (["--follow", "--every", "0.1"], "1 to 3600"),
        (["--follow", "--every", "2h"], "1 to 3600"),
    ],
)
def test_options_that_make_no_sense_are_refused(config, tmp_path, capsys, options, words):
    """No folder is made for them."""
    assert 2 == main(["publish", str(tmp_path / "site"), *options, "--config", config])
    assert words in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
