# SPDX-License-Identifier: Apache-2.0
"""A change of the settings that judge models judges refused ones again, and takes no score away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import InputError
from referee.extras.ovic.part import check_ovic, require_tasks
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.submission.entries import all_entries, events_of_entry
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.extras.ovic.submission.judge import Judged, Refused
from referee.extras.ovic.submission.judging_settings import settings_of
from referee.extras.ovic.submission.tasks import open_tasks
from referee.service.setup.config_file import load_config
from referee.store.finals import insert_finalization
from referee.store.notices import recent_notices
from tests.support.ovic_contests import put_entry

NO_BACKGROUND = Failure("background_class", "1000 classes, no background", "1001 classes")


class Judge:
    """A judge that refuses a task with these settings, and counts what it did."""

    def __init__(self, refused=lambda task: False):
        self.refused, self.served = refused, []

    def validate(self, task, model, sha256):
        """Refuse the model, or not."""
        self.served.append("validate")
        if self.refused(task):
            raise Refused([NO_BACKGROUND])

    def measure(self, task, model, sha256):
        """Measure the model."""
        self.served.append("measure")
        return Judged(66.7, 3, 2, 9.5, {}, "aa", "ff", "a build")


@pytest.fixture
def serve(contest):
    """Return a function that starts a queue with some rules changed, and serves the line."""

    def run(judge, steps=100, slower=4.0, **rules):
        (task,) = open_tasks(contest.config).values()
        task = replace(task, slower=slower, rules=replace(task.rules, **rules))
        tasks = {task.name: task}
        queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, judge)
        queue.recover()
        for _ in range(steps):
            if not queue.step():
                break
        (entry,) = all_entries(contest.database.connection)
        return entry.state

    return run


def kinds(contest):
    """Return what happened to the one entry."""
    return [event.kind for event in events_of_entry(contest.database.connection, 1)]


def test_a_refused_entry_is_judged_again_after_a_change(contest, serve):
    """Without a background the model is valid: it is scored, and a notice says why."""
    put_entry(contest.database)
    judge = Judge(lambda task: task.rules.background)
    assert EntryState.REFUSED is serve(judge)
    assert EntryState.REFUSED is serve(judge)
    assert 1 == judge.served.count("validate")
    assert EntryState.SCORED is serve(judge, background=False)
    event = next(it for it in events_of_entry(contest.database.connection, 1) if it.kind == "again")
    assert "background was true and is false" in event.text
    notice = recent_notices(contest.database.connection, 1)[0].text
    assert "background was true and is false. Refused entries are judged again: 1." in notice


def test_a_valid_entry_that_waits_is_validated_again_before_its_measurement(contest, serve):
    """What was found valid by other settings may break a rule now."""
    put_entry(contest.database)
    judge = Judge(lambda task: not task.rules.background)
    assert EntryState.WAITING is serve(judge, steps=1)
    assert EntryState.REFUSED is serve(judge, background=False)
    assert ["validating", "waiting", "measuring", "refused"] == kinds(contest)
    assert "measure" not in judge.served


def test_a_valid_entry_that_stays_valid_is_scored_by_the_new_settings(contest, serve):
    """Its settings are those of now afterwards, so the former ones cannot come back unseen."""
    put_entry(contest.database)
    judge = Judge()
    serve(judge, steps=1)
    assert EntryState.SCORED is serve(judge, background=False)
    assert ["validate", "validate", "measure"] == judge.served
    with pytest.raises(InputError, match="background was false and is true"):
        serve(judge)


def test_a_change_that_might_take_a_score_away_is_refused(contest, serve):
    """The sentence names setting, entry and team; a wider bound takes no score away."""
    put_entry(contest.database)
    assert EntryState.SCORED is serve(Judge())
    assert EntryState.SCORED is serve(Judge(), slower=9.0)
    with pytest.raises(InputError, match=r"slower was 4.0 and is 2.0, and entry 1 of ants"):
        serve(Judge(), slower=2.0)
    with pytest.raises(InputError, match="Put the setting back, or take out each entry"):
        serve(Judge(), background=False)
    with contest.database.write() as connection:
        insert_finalization(connection, contest.clock.now(), ["Kim"], {})
    assert EntryState.SCORED is serve(Judge(), background=False)


def test_the_contest_does_not_start_with_such_a_change(contest, serve):
    """`referee check` fails, and the programs are not started; with the setting back they are."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    put_entry(contest.database)
    serve(Judge())
    path = contest.config.path
    known = path.read_text()
    path.write_text(f"{known}background = false\n")
    changed = load_config(path)
    with pytest.raises(InputError, match="background was true and is false"):
        require_tasks(changed)
    (finding,) = check_ovic(changed)
    assert "background was true and is false" in finding.text
    path.write_text(known)
    require_tasks(load_config(path))


def test_each_task_has_the_settings_that_judge_its_models(contest):
    """A classifier is judged by its background, a detector by its boxes and their overhang."""
    (task,) = open_tasks(contest.config).values()
    common = {"slower", "process_s", "process_memory_mb"}
    assert common | {"background"} == settings_of(task).keys()
    detection = replace(task, rules=replace(task.rules, task="detection"))
    assert common | {"boxes", "overhang"} == settings_of(detection).keys()


def test_another_plan_of_the_measurement_asks_for_a_round(contest):
    """An entry that is measured by fewer runs than the one before it is told, and nothing else."""

    class Planned(Judge):
        def measure(self, task, model, sha256):
            found = super().measure(task, model, sha256)
            return replace(found, benchmark={"plan": {"runs": next(runs), "core": None}})

    runs = iter((300, 300, 50))
    for number in (1, 2, 3):
        put_entry(contest.database, number=number)
    tasks = open_tasks(contest.config)
    queue = EntryQueue(contest.config, contest.clock, contest.database, tasks, Planned())
    while queue.step():
        pass
    told = [notice.text for notice in recent_notices(contest.database.connection, 9)]
    (text,) = [text for text in told if "ovic round" in text]
    assert "runs was 300 and is 50: entry 3 is measured otherwise" in text
