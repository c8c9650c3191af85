# SPDX-License-Identifier: Apache-2.0
"""Rounds measure all entries again; whatever happens in one, no valid score is lost."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from referee.errors import InputError, Unavailable
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.submission.entries import (
    NewEvent,
    all_entries,
    insert_entry,
    record_entry_event,
)
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.extras.ovic.submission.judge import Judged, Refused
from referee.extras.ovic.submission.rounds import (
    begin_round,
    finish_round,
    last_round,
    open_round,
    round_entries,
)
from referee.extras.ovic.submission.tasks import open_tasks
from referee.extras.ovic.submission.views import leaderboard_view
from referee.service.setup.folder_lock import lock_folder
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import withdraw
from referee.store.notices import recent_notices
from referee.store.teams import Registration
from tests.support.ovic_contests import SCORED, UTC, new_entry, put_entry

GOOD = Judged(60.0, 3, 2, 9.0, {"stable": True}, "", "", "build 2")
CRASH = Refused([Failure("crash", "a model that can be run", "its process died (SIGSEGV)")])


class Machine:
    """A judge whose answers come from a function of the entry's number; it may raise."""

    def __init__(self, answer):
        self.answer, self.served = answer, []

    def validate(self, task, model, sha256):
        """Find every model valid."""

    def measure(self, task, model, sha256):
        """Return what the function says."""
        self.served.append(int(sha256, 16))
        found = self.answer(self.served[-1])
        if isinstance(found, BaseException):
            raise found
        return found


@pytest.fixture
def play(contest):
    """Return a function that measures a round on a machine, or goes on with the open one."""

    def run(answer):
        tasks = open_tasks(contest.config)
        with contest.database.write() as connection:
            number = open_round(connection) or begin_round(connection, tasks, "Kim", UTC)
        queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, Machine(answer))
        return finish_round(
            contest.config, contest.database, queue, number, lambda *_: None, contest.clock.advance
        )

    return run


def metrics(contest):
    """Return the metric of each entry that has one, by the entry's number."""
    board = leaderboard_view(
        contest.database.connection, open_tasks(contest.config), for_operators=True
    )
    (task,) = board["tasks"]
    return {row["entry"]: row["metric"] for row in task["entries"] if row["valid"]}


def test_three_rounds_on_a_noisy_machine_lose_no_valid_score(contest, play):
    """Unstable measurements, crashes, slow spells and faults of ours: metrics only rise."""
    for number in range(1, 9):
        put_entry(contest.database, *SCORED, number=number, team=f"team {number}")
    chance = random.Random(20200407)

    def noisy(number):
        what = chance.choice(["good", "slow", "too slow", "unstable", "crash", "bug"])
        slowness = {"good": 1.0, "slow": 1.2, "too slow": 2.0}
        if what in slowness:
            return replace(GOOD, accuracy=50.0, latency_ms=9.0 * slowness[what])
        return {
            "unstable": Unavailable("No measurement was stable"),
            "crash": CRASH,
            "bug": RuntimeError("/srv/images vanished"),
        }[what]

    before, outcomes = metrics(contest), set()
    assert 8 == len(before)
    for _ in range(3):
        outcomes |= {entry.outcome for entry in play(noisy)}
        after = metrics(contest)
        assert all(after[number] >= metric for number, metric in before.items())
        before = after
    assert {"scored", "kept"} == outcomes
    assert {EntryState.SCORED} == {it.state for it in all_entries(contest.database.connection)}
    assert max(len(entry.measured) for entry in all_entries(contest.database.connection)) > 1


def test_a_better_build_counts_and_a_worse_one_does_not(contest, play):
    """Each measurement is listed with its build and round, and one of them counts."""
    put_entry(contest.database, *SCORED, figures=(60.0, 10.0))
    play(lambda number: replace(GOOD, latency_ms=9.0))
    play(lambda number: replace(GOOD, latency_ms=11.0, build="build 3"))
    board = leaderboard_view(contest.database.connection, open_tasks(contest.config))
    (row,) = board["tasks"][0]["rows"]
    assert [("a build", None, False), ("build 2", 1, True), ("build 3", 2, False)] == [
        (build["build"], build["round"], build["counts"]) for build in row["builds"]
    ]
    assert (9.0, "build 2") == (row["latency_ms"], row["build"])


def test_a_round_that_fails_tells_team_and_operators(contest, play):
    """The team reads that its score stays; files of ours are for the operators alone."""
    for number in (1, 2):
        put_entry(contest.database, *SCORED, number=number)
    found = play(lambda number: CRASH if number == 1 else RuntimeError("no /srv/truth.json"))
    assert ["kept", "kept"] == [entry.outcome for entry in found]
    assert all("keeps the score that it has" in entry.text for entry in found)
    assert "SIGSEGV" in found[0].text and "/srv" not in found[1].text
    told = " ".join(notice.text for notice in recent_notices(contest.database.connection))
    assert "SIGSEGV" in told and "/srv/truth.json" in told and "referee ovic again 2" in told


@pytest.mark.parametrize("killed", [True, False])
def test_a_round_goes_on_after_its_death(contest, play, killed):
    """What was measured stays, the rest is measured, and no second round begins."""
    for number in range(1, 5):
        put_entry(contest.database, *SCORED, number=number, team=f"team {number}")
    with pytest.raises(KeyboardInterrupt):
        play(lambda number: KeyboardInterrupt() if number == 3 else GOOD)
    if killed:  # As kill -9 leaves it: the model was running.
        with contest.database.write() as connection:
            record_entry_event(connection, 3, NewEvent("remeasuring", UTC, actor="queue"))
    assert 1 == open_round(contest.database.connection)
    measured = []
    found = play(lambda number: measured.append(number) or GOOD)
    assert ["scored"] * 4 == [entry.outcome for entry in found]
    assert {3, 4} == set(measured) and 2 == len(measured)
    assert 1 == last_round(contest.database.connection)
    assert open_round(contest.database.connection) is None


def test_a_round_has_the_entries_that_can_gain(contest, play):
    """Those with a score and those that failed through us; not refused, void or withdrawn ones."""
    for number, ways in enumerate(
        [SCORED, ("validating", "failed"), ("validating", "refused"), ("voided",)], 1
    ):
        put_entry(contest.database, *ways, number=number)
    add_team(contest, "bees", Registration(sessions=False), "Kim")
    put_entry(contest.database, *SCORED, number=5, team="bees")
    withdraw(contest, "bees", "went home", "Kim")
    assert [(1, "scored"), (2, "scored")] == [
        (it.entry.entry_id, it.outcome) for it in play(lambda number: GOOD)
    ]


def test_a_round_without_entries_is_refused(contest, database):
    """There is nothing to measure before the first score, and the sentence says so."""
    put_entry(contest.database)
    with pytest.raises(InputError, match="no entry to measure again"):
        with contest.database.write() as connection:
            begin_round(connection, open_tasks(contest.config), "Kim", UTC)


def test_a_running_contest_measures_its_round_itself(contest):
    """While another program has the line, the command looks on and takes over when that ends."""
    put_entry(contest.database, *SCORED)
    tasks, machine = open_tasks(contest.config), Machine(lambda number: GOOD)
    queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, machine)
    with contest.database.write() as connection:
        number = begin_round(connection, tasks, "Kim", UTC)
    looks = []
    other = lock_folder(contest.config.storage.folder, "ovic")
    other.__enter__()

    def pause(seconds):
        assert [] == machine.served
        looks.append(seconds)
        if len(looks) == 3:
            other.__exit__(None, None, None)

    finish_round(contest.config, contest.database, queue, number, lambda *_: None, pause)
    assert (3, [1]) == (len(looks), machine.served)


def test_a_new_entry_in_a_round_is_not_of_it(contest, play):
    """What comes meanwhile is measured, first even, and the round does not list it."""
    put_entry(contest.database, *SCORED)
    tasks = open_tasks(contest.config)
    with contest.database.write() as connection:
        begin_round(connection, tasks, "Kim", UTC)
        insert_entry(connection, new_entry(number=2))
    found = play(lambda number: GOOD)
    assert [1] == [it.entry.entry_id for it in found]
    assert [1] == [it.entry.entry_id for it in round_entries(contest.database.connection, 1)]
