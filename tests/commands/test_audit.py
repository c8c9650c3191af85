# SPDX-License-Identifier: Apache-2.0
"""The command that prints the audit, and what commands themselves leave there."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing

import pytest

from referee.cli import main
from referee.commands.audit import _cells
from referee.store.audit import AuditRow
from tests.support.contests import write_config


@pytest.fixture
def event(tmp_path):
    """Return the configuration of an event in which commands were done and refused."""
    path = write_config(tmp_path, mode="event")

    def referee(*words):
        return main([*words, "--config", str(path), "--by", "Ada"])

    (tmp_path / "teams.csv.in").write_text("team\nants\nbees\n")
    assert 0 == referee("team", "import", str(tmp_path / "teams.csv.in"))
    assert 0 == referee("team", "withdraw", "ants", "--reason", "ill")
    assert 2 == referee("team", "withdraw", "wasps", "--reason", "ill")
    assert 1 == referee("finalize", "--approved-by", "Grace")
    assert 1 == referee("review", "7", "--reason", "fine")
    return path


def printed(event, capsys, *options):
    """Return what `referee audit` prints."""
    capsys.readouterr()
    assert 0 == main(["audit", "--config", str(event), *options])
    return capsys.readouterr().out


def test_commands_are_on_record_with_the_users_name(event, capsys):
    """What a command did and what was refused to it is there, with role 'command line'."""
    rows = json.loads(printed(event, capsys, "--json"))["actions"]
    assert {("Ada", "command line")} == {(row["who"], row["role"]) for row in rows}
    assert [
        ("register team", "ants", "", None),
        ("register team", "bees", "", None),
        ("team withdrawn", "ants", "ill", None),
        ("team withdraw", "wasps", "ill", "No team is called 'wasps'."),
        ("finalize", "", "", "The results stay provisional"),
        ("review", "session 7", "fine", "There is no session 7"),
    ] == [
        (
            *(row["action"], row["about"], row["reason"]),
            row["refusal"] and row["refusal"][: len(start)],
        )
        for row, start in zip(
            rows,
            ["", "", "", "No team is called 'wasps'.", "The results stay provisional"]
            + ["There is no session 7"],
            strict=True,
        )
    ]


@pytest.mark.parametrize("name", ["ant\udce9", "\ud83d"])
def test_a_refused_name_that_is_no_text_is_on_record_as_an_escape(event, capsys, name):
    """The command ends with a sentence, and the audit has the refusal."""
    words = ["team", "add", name, "--config", str(event), "--by", "Ada"]
    assert 2 == main(words)
    assert "printable characters" in capsys.readouterr().err
    (last,) = json.loads(printed(event, capsys, "--json", "--action", "team add"))["actions"]
    assert ascii(name)[1:-1] in last["about"]
    assert "printable characters" in last["refusal"]


def test_people_read_one_line_for_each_action(event, capsys):
    """The text has time, person, action, what it is about, the reason and the result."""
    line = printed(event, capsys, "--action", "withdrawn").strip()
    assert line.endswith("Ada (command line)  team withdrawn  ants  because: ill  done")


def test_csv_has_a_header_and_every_action(event, capsys):
    """The CSV has one line for each action, whatever stands in its texts."""
    rows = list(csv.DictReader(io.StringIO(printed(event, capsys, "--csv", "--team", "wasps"))))
    assert ["team withdraw"] == [row["action"] for row in rows]
    assert rows[0]["result"].startswith("refused: No team is called 'wasps'")


def test_no_cell_is_a_formula():
    """A spreadsheet shows a reason that begins like a formula as text."""
    row = AuditRow(1, "t", "Kim", "operator", "void", 1, "ants", "", "=1+1", None)
    assert ("'=1+1", 1) == (_cells(row)["reason"], _cells(row)["session_id"])


def test_a_command_on_a_folder_without_an_event_leaves_nothing(tmp_path):
    """A refused command makes no database only to record the refusal."""
    path = write_config(tmp_path, mode="practice")
    assert 2 == main(["team", "list", "--config", str(path)])
    assert not list(tmp_path.rglob("*.db"))


def test_changed_facts_are_named(event, capsys):
    """The command checks every stored row, and ends with 1 where one was changed."""
    capsys.readouterr()
    assert 0 == main(["audit", "--config", str(event)])
    assert "stored facts are as they were stored" in capsys.readouterr().err
    with closing(sqlite3.connect(event.parent / "data" / "referee.db")) as database:
        database.execute("drop trigger audit_no_update")
        database.execute("update audit set reason = 'well' where reason = 'ill'")
        database.commit()
    assert 1 == main(["audit", "--config", str(event)])
    told = capsys.readouterr().err
    assert "The schema lacks trigger audit_no_update." in told
    assert "audit 3 is not the row that was stored here" in told
    assert 1 == main(["audit", "--json", "--config", str(event)])
    chain = json.loads(capsys.readouterr().out)["chain"]
    assert (False, 3) == (chain["holds"], len(chain["faults"]))


def test_a_copy_of_yesterday_is_noticed(event, tmp_path, capsys):
    """An older copy holds in itself, but lacks the end that an earlier audit told (--expect)."""
    database = tmp_path / "data" / "referee.db"
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(":memory:")) as old:
        source.backup(old)
        words = ["team", "return", "ants", "--reason", "well", "--by", "Ada"]
        assert 0 == main([*words, "--config", str(event)])
        head = json.loads(printed(event, capsys, "--json"))["chain"]["head"]
        for link in (head, head[:21].upper()):
            printed(event, capsys, "--expect", link)  # It is the end, and later it is a link.
        old.backup(source)
    assert 0 == main(["audit", "--config", str(event)])
    assert 1 == main(["audit", "--config", str(event), "--expect", head])
    assert f"has no link {head}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["audit", "--config", str(event), "--expect", "9F3A"])


def test_by_of_a_command_that_only_reads_is_no_operator(tmp_path, capsys):
    """`aiotbench rank --by` says what ranks: its refusal is told, and goes into no audit."""
    path = str(tmp_path / "no.csv")
    assert 2 == main(["aiotbench", "rank", "--by", "vops", path])
    assert "no.csv" in capsys.readouterr().err
