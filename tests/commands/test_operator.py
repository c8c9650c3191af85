# SPDX-License-Identifier: Apache-2.0
"""The command that registers operators prints a password once, and keeps only its hash."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.commands import operator
from referee.errors import InputError
from referee.service.people.operators import is_on_this_machine, require_operators
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from tests.support.contests import make_contest, write_config


@pytest.fixture
def event(tmp_path):
    """Return the configuration of an event that is not prepared yet."""
    return write_config(tmp_path, mode="event")


def referee(event, *words):
    """Run `referee operator`, and return its exit code."""
    return main(["operator", *words, "--config", str(event)])


def test_a_password_is_printed_once_and_only_its_hash_is_kept(event, capsys):
    """The printed password has no look-alikes, and no file of the event holds it."""
    assert 0 == referee(event, "add", " Kim  Ada ", "--role", "operator")
    name, _, password = capsys.readouterr().out.strip().partition(": ")
    assert "Kim Ada" == name
    assert not set(password) & set("0o1il") and len(password) >= 19
    files = [path for path in event.parent.rglob("*") if path.is_file()]
    assert not any(password.encode() in path.read_bytes() for path in files)
    assert 0 == referee(event, "list")
    assert password not in capsys.readouterr().out


def test_the_list_is_for_people_and_for_programs(event, capsys):
    """The list has names and roles; an empty one says what that means."""
    assert 0 == referee(event, "list")
    assert "Nobody is registered" in capsys.readouterr().out
    referee(event, "add", "Kim", "--role", "operator")
    referee(event, "add", "Sam", "--role", "assistant")
    capsys.readouterr()
    assert 0 == referee(event, "list", "--json")
    rows = json.loads(capsys.readouterr().out)["operators"]
    assert [("Kim", "operator"), ("Sam", "assistant")] == [(r["name"], r["role"]) for r in rows]


def test_a_name_from_right_to_left_turns_nothing_beside_it(event, capsys):
    """In the list and in sentences it is isolated; the line with its password is for programs."""
    referee(event, "add", "كيم", "--role", "operator")
    assert capsys.readouterr().out.startswith("كيم: ")
    assert 0 == referee(event, "list")
    assert "  \u2068كيم\u2069  (since" in capsys.readouterr().out
    assert 0 == referee(event, "remove", "كيم")
    assert "'\u2068كيم\u2069' may no longer log in." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "kim", "--role", "assistant"), "'Kim' is an operator already"),
        (("add", " ", "--role", "operator"), "1 to 100 printable"),
        (("password", "Sam"), "No operator is called 'Sam'"),
        (("remove", "Sam"), "No operator is called 'Sam'"),
    ],
)
def test_wrong_names_change_nothing(event, capsys, words, told):
    """A wrong name is refused in words, and the list stays as it is."""
    referee(event, "add", "Kim", "--role", "operator")
    assert 2 == referee(event, *words)
    assert told in capsys.readouterr().err
    assert 0 == referee(event, "list", "--json")
    assert 1 == len(json.loads(capsys.readouterr().out)["operators"])


@pytest.mark.parametrize(
    ("typed", "told"),
    [(("short", "short"), "10 to 200"), (("long enough", "long enouhg"), "differ")],
)
def test_a_typed_password_is_checked(event, capsys, monkeypatch, typed, told):
    """A password that is short, or typed differently the second time, is refused."""
    answers = iter(typed)
    monkeypatch.setattr(operator.getpass, "getpass", lambda prompt: next(answers))
    assert 2 == referee(event, "add", "Kim", "--role", "operator", "--ask")
    assert told in capsys.readouterr().err


def test_a_typed_password_is_not_printed(event, capsys, monkeypatch):
    """Somebody who types a password knows it, so the terminal does not show it."""
    monkeypatch.setattr(operator.getpass, "getpass", lambda prompt: "correct horse")
    assert 0 == referee(event, "add", "Kim", "--role", "operator", "--ask")
    assert "Kim: as typed" == capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1:8001", True),
        ("[::1]:8001", True),
        ("localhost:8001", True),
        ("127.8.0.1:0", True),
        ("0.0.0.0:8001", False),
        ("[::]:8001", False),
        (":8001", False),
        ("desk.lan:8001", False),
        ("192.168.1.5:8001", False),
    ],
)
def test_addresses_that_only_this_machine_reaches(address, here):
    """Loopback is this machine; every other address may be reached by others."""
    assert here == is_on_this_machine(address)


def test_other_machines_need_operators(event, capsys):
    """A console that others can reach is refused until somebody is registered."""
    text = event.read_text()
    event.write_text(f'{text}[server]\nconsole = "0.0.0.0:8001"\n')
    config = load_config(event)
    with opened_contest(config) as contest:
        with pytest.raises(InputError, match="referee operator add"):
            require_operators(config, contest.database.connection)
        referee(event, "add", "Kim", "--role", "operator")
        require_operators(config, contest.database.connection)


def test_an_event_that_others_can_reach_is_not_started_without_operators(tmp_path, capsys):
    """`referee serve` refuses such an event before it starts anything, and says what to do."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    path = contest.config.path
    path.write_text(f'{path.read_text()}[server]\nconsole = "0.0.0.0:0"\n')
    assert 2 == main(["serve", "--config", str(path)])
    assert "referee operator add NAME --role operator" in capsys.readouterr().err


def test_a_rehearsal_needs_no_operators(event):
    """In practice mode there is nothing at stake, so the console may be anywhere."""
    text = event.read_text().replace('"event"', '"practice"')
    event.write_text(f'{text}[server]\nconsole = "0.0.0.0:8001"\n')
    config = load_config(event)
    with opened_contest(config) as contest:
        require_operators(config, contest.database.connection)
