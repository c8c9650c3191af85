# SPDX-License-Identifier: Apache-2.0
"""A check is overridden by a command, and the override is taken back, each on record."""

from __future__ import annotations

import json
import shutil

import pytest

from referee.cli import main
from referee.service.people.audit import read_audit
from referee.service.setup.opened import opened_contest
from tests.support.contests import make_contest, no_room


@pytest.fixture
def event(tmp_path, monkeypatch):
    """Return the configuration of an event on a disk that is too small."""
    no_room(monkeypatch)
    contest = make_contest(tmp_path, mode="event", seconds=600)
    contest.database.close()
    return contest.config


def check(config, capsys, *words):
    """Run `referee check` without slow checks; return the exit code, the rows and the errors."""
    code = main(["check", "--quick", "--json", *words, "--config", str(config.path)])
    out, err = capsys.readouterr()
    rows = json.loads(out)["findings"] if out else []
    return code, {row["item"]: row for row in rows if row["level"] == "FAIL"}, err


def test_a_name_from_right_to_left_is_isolated(event, capsys):
    """Who has overridden a check turns nothing beside the name."""
    change = ("--override", "disk", "--reason", "short", "--by", "كيم")
    main(["check", "--quick", *change, "--config", str(event.path)])
    assert "overridden by \u2068كيم\u2069: short" in capsys.readouterr().out


def test_an_override_lasts_until_it_is_taken_back(event, capsys):
    """Each change is told in the list, stays on record, and done twice it is the same."""
    code, before, _ = check(event, capsys)
    assert (1, None) == (code, before["disk"]["override"])
    change = ("--override", "Disk", "--reason", "a short event", "--by", "Kim")
    for _ in range(2):
        code, rows, _ = check(event, capsys, *change)
        by = rows["disk"]["override"]
        assert ("Kim", "a short event", 1) == (by["operator"], by["reason"], by["number"])
        assert code == (len(rows) > 1)
    for _ in range(2):
        back = (
            "--take-back",
            f"{before['disk']['group']}, disk",
            "--reason",
            "room",
            "--by",
            "Ada",
        )
        code, rows, _ = check(event, capsys, *back)
        assert (1, None) == (code, rows["disk"]["override"])
    with opened_contest(event) as contest:
        found = [(row.who, row.action) for row in read_audit(contest)]
    done = [row for row in found if row[0] in ("Kim", "Ada")]
    assert {("Kim", "override check"), ("Ada", "take back override")} == set(done)
    assert 2 == len(done)


def test_a_known_warning_counts_no_more(event, capsys):
    """The list has it with name and reason, and its last line does not ask to look at it."""
    change = ("--acknowledge", "teams, list", "--reason", "they come", "--by", "Kim")
    main(["check", "--quick", "--config", str(event.path), *change])
    text = capsys.readouterr().out
    assert "  KNOWN  list: no team is registered" in text
    assert "        acknowledged by Kim: they come" in text
    with opened_contest(event) as contest:
        assert ("Kim", "acknowledge check") in [(it.who, it.action) for it in read_audit(contest)]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--acknowledge", "disk", "--reason", "x"), 1, "something else now: FAIL"),
        (("--override", "disk"), 2, "need --reason"),
        (("--override", "disk", "--reason", " "), 2, "need --reason"),
        (("--reason", "because"), 2, "--reason goes with --override, --acknow"),
        (("--override", "nothing", "--reason", "x"), 2, "No check is called 'nothing'. These fail"),
        (("--override", "list", "--reason", "x"), 1, "The check finds something else now: WARN"),
        (("--override", "disk", "--take-back", "disk", "--reason", "x"), 2, "not allowed with"),
    ],
)
def test_what_cannot_be_overridden_is_told(event, capsys, words, code, told):
    """A wrong word or name changes nothing and says what is right."""
    try:
        found, _, err = check(event, capsys, *words)
    except SystemExit as end:  # argparse itself refuses.
        found, err = end.code, capsys.readouterr().err
    assert code == found
    assert told in err


def test_looking_is_not_on_record(event, capsys):
    """A list that cannot be made is no refused action."""
    with opened_contest(event) as contest:
        before = len(read_audit(contest))
        check(event, capsys)
        assert before == len(read_audit(contest))


def test_an_override_needs_the_events_folder(event, capsys):
    """A check that overrides makes no folder."""
    shutil.rmtree(event.storage.folder)
    (event.path.parent / "signing.pub").unlink()
    code, _, err = check(event, capsys, "--override", "disk", "--reason", "x")
    assert (2, False) == (code, event.storage.folder.exists())
    assert "the event has no folder yet" in err
