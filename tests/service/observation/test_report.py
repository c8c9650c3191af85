# SPDX-License-Identifier: Apache-2.0
"""The maintainer's file: whole where it can be, and without secrets."""

from __future__ import annotations

import json
import zipfile

import pytest

from referee.errors import InputError, Unavailable
from referee.service.entry.admission import token_of_session
from referee.service.entry.passwords import hash_password, new_password
from referee.service.observation.report import REMOVED, TAIL_BYTES, redacted, write_report
from referee.store.health import database_facts
from tests.support.contests import make_contest


@pytest.mark.parametrize(
    "secret",
    [
        lambda: token_of_session(b"k" * 32, 12, b"n" * 16),
        new_password,
        lambda: hash_password("practice"),
        lambda: "ab" * 32,
        lambda: "password=a!b",
        lambda: "Bearer abc.def",
        lambda: "token=xyz",
    ],
    ids=["token", "password", "hash", "key", "named password", "bearer", "named token"],
)
@pytest.mark.parametrize("around", ["{}", '{{"x": "{}"}}', "GET /image?{}&a=1 failed", "a {}\n"])
def test_what_looks_secret_is_removed(secret, around):
    """Tokens, passwords, hashes and keys go, wherever they stand; their names may stay."""
    secret = secret()
    shown = redacted(around.format(secret))
    assert REMOVED in shown
    assert secret.split("=")[-1].split()[-1] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T10:38:32.019+00:00 INFO 9.81 W, session 3",
        "d4a54d5d-04cf-432a-a716-3026695157bb",
        "TCPIP::192.168.1.3::inst0::INSTR YOKOGAWA,WT310,91M123456,F1.02",
    ],
)
def test_what_a_maintainer_needs_stays(text):
    """Times, figures, identities of a meter and of a boot are no secrets."""
    assert text == redacted(text)


def test_a_part_that_cannot_be_had_says_why(tmp_path):
    """The other parts are there; text stays text, and a value becomes JSON."""

    def broken():
        raise Unavailable("the desk sleeps")

    out = tmp_path / "x.zip"
    told = []
    names = write_report(
        *(out, tmp_path, {"a.json": broken, "b.json": lambda: {"x": 1}}),
        lambda name, why: told.append((name, why)),
    )
    assert (["a.json", "b.json"], [("a.json", "the desk sleeps")]) == (names, told)
    with zipfile.ZipFile(out) as report:
        assert b"This could not be had: the desk sleeps\n" == report.read("a.json")
        assert {"x": 1} == json.loads(report.read("b.json"))
    with pytest.raises(InputError, match="exists"):
        write_report(out, tmp_path, {})


def test_a_long_log_has_its_end(tmp_path):
    """At most a mebibyte of each log is taken, from the start of a line."""
    (tmp_path / "logs").mkdir()
    line = "a line of a log\n"
    (tmp_path / "logs" / "desk.log").write_text(line * (2 * TAIL_BYTES // len(line)) + "last\n")
    (tmp_path / "meter2.jsonl").write_text("{}\n")
    write_report(tmp_path / "x.zip", tmp_path, {})
    with zipfile.ZipFile(tmp_path / "x.zip") as report:
        assert ["logs/desk.log", "logs/meter2.jsonl"] == report.namelist()
        lines = report.read("logs/desk.log").decode().splitlines(keepends=True)
    assert (line, "last\n") == (lines[0], lines[-1])
    assert TAIL_BYTES - len(line) <= sum(map(len, lines)) <= TAIL_BYTES


def test_a_database_is_counted_and_checked(tmp_path):
    """A sound database has no faults; a damaged one has a sentence, and so has no database."""
    contest = make_contest(tmp_path)
    contest.database.close()
    path = contest.config.database
    facts = database_facts(path)
    assert ([], 4) == (facts["faults"], facts["rows"]["images"])
    assert "referee/0001_initial" == facts["migrations"][0]
    other = tmp_path / "other.db"
    other.touch()
    assert [] == database_facts(other)["migrations"] == database_facts(other)["faults"]
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database" * 1000)
    (fault,) = database_facts(damaged)["faults"]
    assert "not a database" in fault
