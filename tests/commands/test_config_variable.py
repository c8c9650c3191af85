# SPDX-License-Identifier: Apache-2.0
"""REFEREE_CONFIG names an event's configuration where no option does."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.commands.options import VARIABLE, source_of
from referee.errors import InputError
from tests.support.contests import make_contest


def event_in(folder):
    """Make an event, and return the path of its configuration."""
    contest = make_contest(folder, mode="event", seconds=600)
    contest.database.close()
    return contest.config.path


@pytest.fixture
def named(tmp_path, monkeypatch):
    """Return the configuration of an event that the environment names."""
    path = event_in(tmp_path)
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def test_the_variable_stands_in_place_of_the_option(named, capsys):
    """A command takes the event of the environment."""
    assert 0 == main(["operator", "list", "--json"])
    assert {"operators": []} == json.loads(capsys.readouterr().out)


def test_the_option_comes_before_the_variable(named, tmp_path, capsys):
    """--config names another event, whatever the environment says."""
    other = tmp_path / "other.toml"
    assert 2 == main(["operator", "list", "--config", str(other)])
    told = capsys.readouterr().err
    assert f"{other}: cannot be read" in told and VARIABLE not in told


def test_a_file_that_is_not_there_is_told_with_who_named_it(monkeypatch, tmp_path, capsys):
    """Who forgot the variable learns that it names the file."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "old.toml"))
    assert 2 == main(["team", "list"])
    assert f"{VARIABLE} names this file." in capsys.readouterr().err


def test_who_named_a_file_is_told_by_the_errors_field(named):
    """The words of an error may be any: what counts is which file it is about."""
    told = f" {VARIABLE} names this file."
    assert told == source_of(InputError("anything", path=named))
    assert "" == source_of(InputError(f"{named}: anything"))
    assert "" == source_of(InputError("anything", path=named.parent))
    assert "" == source_of(OSError(f"{named}: anything"))


@pytest.mark.parametrize("value", [None, ""])
def test_without_both_the_command_says_what_to_give(value, monkeypatch, capsys):
    """A missing or an empty variable names no event."""
    if value is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(SystemExit) as end:
        main(["team", "list"])
    told = capsys.readouterr().err
    assert 2 == end.value.code
    assert "referee team list: error: give --config FILE, or set REFEREE_CONFIG" in told
    for words, missing in (
        (["export", "1", "--out", "b.zip"], "one of the arguments --config --data is required"),
        (["ovic", "queue"], "one of the arguments --url --config is required"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert missing in capsys.readouterr().err
    assert 2 == main(["drill"])
    assert "Give --config FILE, or set REFEREE_CONFIG" in capsys.readouterr().err
    assert 2 == main(["practice"])
    assert "or an event's --config, or set REFEREE_CONFIG" in capsys.readouterr().err


def test_what_names_another_place_comes_before_the_variable(named, tmp_path, capsys):
    """--data, --images and --url are of a rehearsal or a server, not of the event."""
    nowhere = str(tmp_path / "nowhere")
    assert 2 == main(["export", "1", "--out", "b.zip", "--data", nowhere])
    assert nowhere in capsys.readouterr().err
    assert 2 == main(["explain", "1", "--data", nowhere])
    assert nowhere in capsys.readouterr().err
    images = ["--images", nowhere, "--ground-truth", nowhere, "--data", str(tmp_path / "data")]
    assert 2 == main(["practice", *images])
    assert nowhere in capsys.readouterr().err
    assert 2 == main(["ovic", "queue", "--url", "nonsense", "--team", "ants"])
    assert "--url nonsense is not an address" in capsys.readouterr().err


def test_the_event_of_the_variable_is_exported_and_explained(named, capsys):
    """Where neither place is named, the event's database is looked at."""
    assert 1 == main(["export", "9", "--partial", "--out", str(named.parent / "b.zip")])
    assert "session 9" in capsys.readouterr().err.lower()
    assert 1 == main(["explain", "9"])
    assert "session 9" in capsys.readouterr().err.lower()


def test_check_says_both_defaults(monkeypatch, capsys):
    """Only 'check' has a file of its own beside the variable."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert "(default: REFEREE_CONFIG, or ./contest.toml)" in " ".join(
        capsys.readouterr().out.split()
    )
