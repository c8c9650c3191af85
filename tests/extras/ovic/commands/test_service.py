# SPDX-License-Identifier: Apache-2.0
"""An operator hands models in, looks at the line and the leaderboard, and decides."""

from __future__ import annotations

import json

import pytest

from referee.cli import main
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.submission import entry_queue
from referee.extras.ovic.submission.entries import NewEvent, events_of_entry, record_entry_event
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.extras.ovic.submission.judge import Judged, Refused
from referee.extras.ovic.submission.tasks import open_tasks
from tests.support.ovic_contests import SCORED, UTC, make_ovic_contest, put_entry

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")


@pytest.fixture
def contest(tmp_path):
    """Return a rehearsal that takes two entries a day."""
    contest = make_ovic_contest(tmp_path, entries_a_day=2)
    yield contest
    contest.database.close()


@pytest.fixture
def ovic(contest):
    """Return a function that runs an action for the contest."""

    def run(*words):
        return main(["ovic", *map(str, words), "--config", str(contest.config.path)])

    return run


def test_a_ca_goes_with_tls_alone(tmp_path, capsys):
    """Whoever gives a CA wants TLS; a CA's file that is none is named before anything is sent."""
    ask = ["ovic", "queue", "--team", "ants", "--password", "x", "--ca-file", str(tmp_path)]
    for url, said in (
        ("http://127.0.0.1:1", "--ca-file goes with an address that begins with https://"),
        ("https://127.0.0.1:1", f"--ca-file {tmp_path} cannot be used"),
    ):
        assert 2 == main([*ask, "--url", url])
        assert said in capsys.readouterr().err


def test_a_model_is_handed_in_and_seen_in_the_line(ovic, tmp_path, capsys):
    """`submit` prints the entry with its place, `queue` all entries; a repeat is the same entry."""
    model = tmp_path / "m.tflite"
    model.write_bytes(b"a model")
    hand_in = ("submit", model, "--task", "classification", "--team", "ants")
    for _ in range(2):
        assert 0 == ovic(*hand_in)
        assert (
            "entry 1, ants, classification: received, 1. in the line\n" == capsys.readouterr().out
        )
    assert 0 == ovic("queue")
    assert "    1  classification  ants  received, 1. in the line" in capsys.readouterr().out
    assert 0 == ovic("queue", "--team", "bees", "--json")
    found = json.loads(capsys.readouterr().out)
    assert ([], 1) == (found["entries"], found["line"]["received"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("submit", "none.tflite", "--task", "classification", "--team", "a"), 2, "cannot be read"),
        (("submit", "empty", "--task", "classification", "--team", "a"), 1, "is empty"),
        (("submit", "empty", "--task", "detection", "--team", "a"), 1, "task='classification'"),
        (("queue", "--entry", "7"), 1, "There is no entry 7"),
        (("again", "7"), 1, "There is no entry 7"),
        (("void", "7", "--reason", " "), 2, "--reason must say why"),
    ],
)
def test_wrong_use_is_named(ovic, tmp_path, monkeypatch, capsys, words, code, said):
    """Each mistake gets a sentence and an exit code, and changes nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    assert code == ovic(*words)
    assert said in capsys.readouterr().err
    assert 0 == ovic("queue")
    assert "There is no entry yet." in capsys.readouterr().out


def test_the_leaderboard_has_the_best_of_each_team(contest, ovic, capsys):
    """The table and the JSON object have the same rows; the oddity of the constants is told."""
    for number, (team, accuracy) in enumerate([("ants", 90.0), ("ants", 91.0), ("bees", 80)], 1):
        put_entry(contest.database, *SCORED, team=team, number=number, figures=(accuracy, 9.0))
    assert 0 == ovic("leaderboard")
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()[2:]]
    assert [["1", "ants"], ["2", "bees"]] == [[row[0], row[-1]] for row in rows]
    assert "more than 100 %" in printed.err
    assert 0 == ovic("leaderboard", "--json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [(1, "ants", 2, 2), (2, "bees", 3, 1)] == [
        (row["rank"], row["team"], row["entry"], row["entries"]) for row in task["rows"]
    ]


def test_an_operator_decides_on_record(contest, ovic, capsys):
    """`again` puts a scored entry back, `void` takes it out; both say who and why."""
    put_entry(contest.database, *SCORED)
    assert 0 == ovic("again", 1, "--by", "Kim", "--reason", "new fan")
    assert 0 == ovic("void", 1, "--by", "Lee", "--reason", "trained on the test images")
    assert "void\n  trained on the test images" in capsys.readouterr().out
    assert 1 == ovic("again", 1)
    assert "Entry 1 is void" in capsys.readouterr().err
    again, voided = events_of_entry(contest.database.connection, 1)[-2:]
    assert [("Kim", "new fan"), ("Lee", "trained on the test images")] == [
        (event.actor, event.text) for event in (again, voided)
    ]


def test_one_measurement_is_struck_on_record(contest, ovic, capsys):
    """The best of the others counts, both stay visible, and the last one cannot be struck."""
    put_entry(contest.database, *SCORED, figures=(90.0, 9.5))
    with contest.database.write() as connection:
        for kind in ("again", "remeasuring"):
            record_entry_event(connection, 1, NewEvent(kind, UTC, actor="x"))
        wrong = {"accuracy": 90.0, "latency_ms": 8.1, "build": "a laptop"}
        record_entry_event(connection, 1, NewEvent("scored", UTC, actor="x", **wrong))
    assert 1 == ovic("strike", 1, 3, "--reason", "a slip")
    assert "choose one of 1, 2" in capsys.readouterr().err
    assert 0 == ovic("strike", 1, 2, "--by", "Kim", "--reason", "the wrong machine")
    assert "latency 9.500 ms\n  the wrong machine" in capsys.readouterr().out
    assert 0 == ovic("leaderboard", "--json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [(True, None), (False, "the wrong machine")] == [
        (build["counts"], build["struck"]) for build in task["entries"][0]["builds"]
    ]
    assert 0 == ovic("queue", "--entry", 1)
    assert "2. " in (printed := capsys.readouterr().out) and "struck: the wrong machine" in printed
    assert 1 == ovic("strike", 1, 1, "--reason", "this one too")
    assert "is the only one of entry 1" in capsys.readouterr().err


@pytest.fixture
def machine(contest, monkeypatch):
    """Return a list of latencies that stands for the machine; each measurement takes the next."""
    latencies = []

    class Machine:
        def measure(self, task, model, sha256):
            if (latency := latencies.pop(0)) is None:
                raise Refused([Failure("crash", "a model that runs", "its process died")])
            return Judged(60.0, 3, 2, latency, {}, "", "", "build 2")

    def queue_of(config, clock, database):
        return EntryQueue(config, clock, database, open_tasks(config), Machine())

    monkeypatch.setattr(entry_queue, "queue_of", queue_of)
    return latencies


def test_a_round_prints_what_became_of_each_entry(contest, ovic, machine, capsys):
    """Both measurements stand there; a failed one exits with 1, and the earlier score counts."""
    for number, team in enumerate(("ants", "bees"), 1):
        put_entry(contest.database, *SCORED, team=team, number=number, figures=(60.0, 10.0))
    machine += [9.0, None]
    assert 1 == ovic("round", "--by", "Kim")
    printed = capsys.readouterr()
    assert "round 1 begins" in printed.err
    assert "9.000 ms in this round, 10.000 ms at its submission (-10.0 %)" in printed.out
    assert "not measured in this round (kept)" in printed.out
    machine += [9.5, 9.5]
    assert 0 == ovic("round", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (2, False, ["scored", "scored"]) == (
        *(found["round"], found["resumed"]),
        [it["outcome"] for it in found["entries"]],
    )
    assert [9.0, 9.5] == [it["latency_ms"] for it in found["entries"]]
    assert 0 == ovic("queue", "--entry", 1)
    assert "latency 9.000 ms, counts (build 2)" in capsys.readouterr().out
    assert 0 == ovic("leaderboard", "--json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [3, 2] == [len(it["builds"]) for it in task["entries"]]


def test_entries_are_baselines_of_the_next_frontier(contest, ovic, tmp_path, capsys):
    """`frontier` reads what `baselines` prints; slow entries are there, void ones are not."""
    figures = [(60.0, 8.0), (65.0, 10.0), (70.0, 30.0), (99.0, 1.0)]
    for number, pair in enumerate(figures, 1):
        ways = SCORED if number < 4 else (*SCORED, "voided")
        put_entry(contest.database, *ways, number=number, figures=pair)
    assert 0 == ovic("baselines", "--task", "classification")
    printed = capsys.readouterr().out
    assert "ants (entry 3),30.0,70.0" == printed.splitlines()[-1]
    path = tmp_path / "baselines.csv"
    path.write_text(printed)
    words = ("frontier", "--task", "classification", "--baselines", str(path), "--json")
    assert 0 == main(["ovic", *words])
    assert 3 == len(json.loads(capsys.readouterr().out)["front"])


def test_a_contest_without_tasks_says_so(contest, capsys):
    """Without the section [ovic] the actions name it."""
    path = contest.config.path
    path.write_text(path.read_text().partition("[ovic]")[0])
    assert 2 == main(["ovic", "queue", "--config", str(path)])
    assert "no task of OVIC is open" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--url", "192.168.1.2:8000", "--team", "a"), "give one like http://"),
        (("--url", "http://127.0.0.1:1"), "needs --team"),
        (("--url", "http://127.0.0.1:1", "--team", "a", "--password", "p"), "does not answer"),
    ],
)
def test_a_server_that_cannot_be_reached_is_named(capsys, words, said):
    """A wrong address, a missing team and a silent server each have a sentence."""
    assert main(["ovic", "queue", *words]) in (1, 2)
    assert said in capsys.readouterr().err
