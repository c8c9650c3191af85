# SPDX-License-Identifier: Apache-2.0
"""The queue serves one entry at a time, whatever the judge, the disk and operators do."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest

from referee.errors import InputError, Unavailable
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.submission import entry_queue as module
from referee.extras.ovic.submission.entries import (
    NewEvent,
    all_entries,
    events_of_entry,
    record_entry_event,
)
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.extras.ovic.submission.judge import Judged, Refused
from referee.extras.ovic.submission.tasks import open_tasks
from referee.store.notices import recent_notices
from tests.support.ovic_contests import UTC, put_entry

HUNG = Failure("time", "a model that ends within 9 s", "it had not ended and was stopped")
GOOD = Judged(66.7, 3, 2, 9.5, {"stable": True}, "aa", "ff", "a build")


class FakeJudge:
    """A judge that answers from lists; an exception in a list is raised, a function called."""

    def __init__(self, validations=(), measurements=()):
        self.validations, self.measurements = deque(validations), deque(measurements)
        self.served = []

    def validate(self, task, model, sha256):
        """Answer a validation; by default every model is valid."""
        self.served.append(("validate", int(sha256, 16)))
        self._next(self.validations, None)

    def measure(self, task, model, sha256):
        """Answer a measurement; by default every model is good."""
        self.served.append(("measure", int(sha256, 16)))
        return self._next(self.measurements, GOOD)

    @staticmethod
    def _next(answers, usual):
        answer = answers.popleft() if answers else usual
        if isinstance(answer, BaseException):
            raise answer
        return answer() if callable(answer) else answer


@pytest.fixture
def serve(contest):
    """Return a function that makes a queue with a judge and serves until the line is empty."""

    def run(judge, steps=100, **more):
        tasks = open_tasks(contest.config)
        queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, judge, **more)
        queue.recover()
        for _ in range(steps):
            if not queue.step():
                return queue
        return queue

    return run


def states(contest):
    """Return the state of each entry."""
    return [entry.state for entry in all_entries(contest.database.connection)]


def kinds(contest, entry=1):
    """Return what happened to an entry."""
    return [event.kind for event in events_of_entry(contest.database.connection, entry)]


def test_an_empty_line_is_no_work(contest, serve):
    """Without entries nothing is judged."""
    judge = FakeJudge()
    serve(judge)
    assert [] == judge.served


def test_a_good_model_goes_through_all_states(contest, serve):
    """A valid model waits, is measured and scored; accuracy and latency are kept."""
    put_entry(contest.database)
    serve(FakeJudge())
    (entry,) = all_entries(contest.database.connection)
    assert ["validating", "waiting", "measuring", "scored"] == kinds(contest)
    (measured,) = entry.measured
    assert (66.7, 9.5, "a build") == (measured.accuracy, measured.latency_ms, measured.build)
    event = events_of_entry(contest.database.connection, 1)[-1]
    expected = {"images": 3, "right": 2, "benchmark": {"stable": True}}
    expected |= {"ground_truth_sha256": "aa", "images_sha256": "ff"}
    assert expected == event.detail


@pytest.mark.parametrize("phase", ["validations", "measurements"])
def test_a_bad_model_is_refused_and_the_next_is_served(contest, serve, phase):
    """A refusal has its reasons, and the entry behind it is scored."""
    for number in (1, 2):
        put_entry(contest.database, number=number)
    serve(FakeJudge(**{phase: [Refused([HUNG])]}))
    assert [EntryState.REFUSED, EntryState.SCORED] == states(contest)
    event = events_of_entry(contest.database.connection, 1)[-1]
    assert str(HUNG) == event.text
    assert [vars(HUNG)] == event.detail["failures"]


def test_validations_and_measurements_take_turns(contest, serve):
    """A flood of new entries does not keep valid ones from their measurement."""
    for number in (1, 2, 3):
        put_entry(contest.database, number=number)
    judge = FakeJudge()
    serve(judge)
    assert [
        ("validate", 1),
        ("measure", 1),
        ("validate", 2),
        ("measure", 2),
        ("validate", 3),
        ("measure", 3),
    ] == judge.served


def test_our_own_fault_is_tried_again_behind_the_others(contest, serve):
    """An entry that we could not measure stands behind the others, and has its score later."""
    for number in (1, 2):
        put_entry(contest.database, "validating", "waiting", number=number)
    judge = FakeJudge(measurements=[RuntimeError("a secret path /srv/truth.json")])
    serve(judge)
    assert [EntryState.SCORED] * 2 == states(contest)
    assert [1, 2, 1] == [number for _, number in judge.served]
    event = events_of_entry(contest.database.connection, 1)[2 + 1]
    assert "interrupted" == event.kind
    assert "through no fault of the model (try 1 of 3)" in event.text
    # The team must not see our files, and the operator must.
    assert "/srv" not in event.text and "/srv" in event.detail["error"]


def test_our_own_fault_is_bounded(contest, serve, caplog):
    """After three tries the entry is given up, and the operators are told how to go on."""
    put_entry(contest.database)
    judge = FakeJudge(measurements=[Unavailable("No measurement was stable")] * 9)
    serve(judge)
    assert [EntryState.FAILED] == states(contest)
    assert ("measure", 1) == judge.served[-1] and 4 == len(judge.served)
    (notice,) = recent_notices(contest.database.connection)
    assert "warning" == notice.level
    assert "No measurement was stable" in notice.text and "referee ovic again 1" in notice.text
    # A known fault is a sentence. The way through the code would not help an operator.
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("phase", ["validating", "measuring"])
def test_a_killed_queue_is_taken_up(contest, serve, phase):
    """What a killed queue was doing is done again by the next one."""
    ways = {"validating": ("validating",), "measuring": ("validating", "waiting", "measuring")}
    put_entry(contest.database, *ways[phase])
    serve(FakeJudge())
    assert [EntryState.SCORED] == states(contest)
    assert "interrupted" in kinds(contest)


def test_a_model_that_kills_the_queue_each_time_is_given_up(contest, serve):
    """Three deaths of the queue during one entry end it, and others are served between them."""
    put_entry(contest.database, "validating", "waiting")
    for _ in range(3):
        serve(FakeJudge(), steps=0)
        with contest.database.write() as connection:
            if all_entries(connection)[0].state is EntryState.WAITING:
                record_entry_event(connection, 1, NewEvent("measuring", UTC, actor="x"))
    serve(FakeJudge(), steps=0)
    assert [EntryState.FAILED] == states(contest)
    assert 2 == kinds(contest).count("interrupted")


def test_a_stop_by_the_operator_is_no_try(contest, serve):
    """SIGTERM during a measurement gives the entry back without a try."""
    put_entry(contest.database)
    with pytest.raises(KeyboardInterrupt):
        serve(FakeJudge(measurements=[KeyboardInterrupt()]))
    (entry,) = all_entries(contest.database.connection)
    assert (EntryState.WAITING, 0) == (entry.state, entry.tries)
    serve(FakeJudge())
    assert [EntryState.SCORED] == states(contest)


def test_an_entry_that_is_voided_while_it_runs_stays_void(contest, serve):
    """What comes of a model after its entry was voided is dropped, and the next is served."""
    for number in (1, 2):
        put_entry(contest.database, "validating", "waiting", number=number)

    def void():
        with contest.database.write() as connection:
            record_entry_event(connection, 1, NewEvent("voided", UTC, actor="operator"))
        return GOOD

    serve(FakeJudge(measurements=[void]))
    assert [EntryState.VOID, EntryState.SCORED] == states(contest)


def test_a_closed_task_is_no_fault_of_its_entries(contest, serve):
    """Entries of a task that was closed fail without counting, and are named to the operators."""
    put_entry(contest.database, number=1)
    with contest.database.write() as connection:
        from referee.extras.ovic.submission.entries import insert_entry
        from tests.support.ovic_contests import new_entry

        insert_entry(connection, new_entry(number=2, task="detection"))
    serve(FakeJudge())
    assert [EntryState.SCORED, EntryState.FAILED] == states(contest)
    assert "'detection' is closed" in recent_notices(contest.database.connection)[0].text


def test_a_result_waits_for_a_disk_that_is_full_for_a_while(contest, serve, monkeypatch):
    """A score that the disk refuses is recorded as soon as the disk takes it."""
    put_entry(contest.database, "validating", "waiting")
    refusals = deque([Unavailable("the disk is full")] * 2)
    real = module.record_entry_event

    def record(connection, entry_id, new):
        if new.kind == "scored" and refusals:
            raise refusals.popleft()
        return real(connection, entry_id, new)

    monkeypatch.setattr(module, "record_entry_event", record)
    monkeypatch.setattr(module, "_AGAIN_S", 0.001)
    judge = FakeJudge()
    serve(judge)
    assert [EntryState.SCORED] == states(contest)
    assert 1 == len(judge.served) and not refusals


def test_a_paused_queue_begins_nothing(contest):
    """While an on-site session runs no entry begins; the queue looks until it may."""
    put_entry(contest.database)
    judge, answers = FakeJudge(), deque([True, True, False, False])
    tasks = open_tasks(contest.config)
    seen = []

    def paused():
        seen.append(len(judge.served))
        if not answers:
            queue.stop()
            return True
        return answers.popleft()

    queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, judge, paused)
    queue._stopping.wait = lambda seconds: None
    queue.run()
    assert [0, 0, 0, 1, 2] == seen
    assert [EntryState.SCORED] == states(contest)


@pytest.mark.parametrize(
    ("field", "key", "told"),
    [
        ("truth_sha256", "ground_truth_sha256", "the ground truth of classification changed"),
        ("images_sha256", "images_sha256", "the images of classification changed"),
    ],
)
def test_operators_learn_of_other_data(contest, serve, field, key, told):
    """The first entry that is scored on changed data makes a notice, and the next does not."""
    for number in range(1, 5):
        put_entry(contest.database, number=number)
    changed = replace(GOOD, **{field: "bb"})
    serve(FakeJudge(measurements=[GOOD, GOOD, changed, changed]))
    (notice,) = recent_notices(contest.database.connection)
    assert f"{told}: entry 3" in notice.text
    assert "bb" == events_of_entry(contest.database.connection, 3)[-1].detail[key]


def test_a_broken_ground_truth_costs_no_entry_a_try(contest, serve):
    """The task's entries wait in their places, with one notice, until the file is repaired."""
    for number in (1, 2):
        put_entry(contest.database, "validating", "waiting", number=number)
    broken = InputError("/srv/labels.csv, line 3: 7 fields")
    judge = FakeJudge(measurements=[broken, broken, GOOD, GOOD])
    queue = serve(judge)
    assert [EntryState.WAITING] * 2 == states(contest)
    assert [1] == [number for _, number in judge.served]
    for seconds, steps in ((29.0, False), (1.0, True), (29.0, False), (1.0, True)):
        contest.clock.advance(seconds)
        assert steps is queue.step()
    queue.step()
    assert [1, 1, 1, 2] == [number for _, number in judge.served]
    assert [EntryState.SCORED] * 2 == states(contest)
    assert [0, 0] == [entry.tries for entry in all_entries(contest.database.connection)]
    (notice,) = recent_notices(contest.database.connection)
    assert "the entries of classification wait: /srv/labels.csv, line 3: 7 fields." in notice.text
    event = events_of_entry(contest.database.connection, 1)[3]
    assert ("stopped", False) == (event.kind, "/srv" in event.text)


def test_a_task_that_is_repaired_is_served_without_news(contest):
    """Nothing changes in the database by the repair, and yet the queue looks again."""
    put_entry(contest.database, "validating", "waiting")

    def scored():
        queue.stop()
        return GOOD

    def time_passes():
        contest.clock.advance(10)
        return False

    judge = FakeJudge(measurements=[InputError("labels.csv is empty"), scored])
    tasks = open_tasks(contest.config)
    queue = EntryQueue(
        contest.config, contest.clock, contest.database, tasks, judge, paused=time_passes
    )
    queue.run()
    assert [EntryState.SCORED] == states(contest)
