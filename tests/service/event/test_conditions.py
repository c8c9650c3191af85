# SPDX-License-Identifier: Apache-2.0
"""Sessions that were not run alike are marked on every surface, and open until somebody reviews."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import msgspec
import pytest

from referee.core.conditions import INPUTS, Conditions, Difference
from referee.core.states import EndCause
from referee.errors import Refusal
from referee.extras.stations.joint_text import board_text
from referee.service.event.columns import On, columns_on
from referee.service.event.conditions import difference_text
from referee.service.event.finalizing import finalize, review
from referee.service.event.result_entry import ContestRanking, PublicEntry, ResultEntry
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import (
    results_csv,
    results_json,
    results_text,
    shown_results,
)
from referee.service.scoreboard.view import PublicState, PublicView, shown_entry, shown_view
from referee.store.scores import insert_scoring_run, newest_scoring_run
from tests.support.shown import as_json

MARK = "300 s, others 600 s"


def with_seconds(event, seconds):
    """Let the sessions from now on have another length, as a restart with another file does."""
    config = event.contest.config
    contest = replace(config.contest, seconds=seconds)
    object.__setattr__(event.contest, "config", replace(config, contest=contest))


@pytest.fixture
def mixed(event):
    """Return an event whose first team had half of the others' time."""
    event.register("ants", "bees", "crabs")
    with_seconds(event, 300)
    event.play("ants")
    with_seconds(event, 600)
    event.play("bees")
    event.play("crabs", found=6)
    return event


def entry_of(event, team):
    """Return a team's entry of the results."""
    return next(one for one in read_results(event.contest).entries if one.team == team)


def test_every_surface_marks_what_was_not_alike(mixed):
    """Text, CSV, LaTeX, HTML, JSON, console, scoreboard, a team's page and the joint board."""
    results = read_results(mixed.contest)
    row = {one["team"]: one for one in csv.DictReader(io.StringIO(results_csv(results)))}
    assert (MARK, "") == (row["ants"]["differs"], row["bees"]["differs"])
    for text in (results_text(results), results_latex(results), results_page(results)):
        assert MARK in text
    shown = as_json(shown_results(results))
    assert "differs" in [one["field"] for one in shown["columns"]]
    assert MARK in [one["printed"]["differs"] for one in shown["entries"]]
    told = {one["team"]: one["differs"] for one in results_json(results)["entries"]}
    assert [{"condition": "length_s", "found": 300.0, "usual": 600.0}] == told["ants"]
    entries = [shown_entry(one, PublicState.PROVISIONAL) for one in results.entries]
    fields = {name: getattr(results, name) for name in ContestRanking.__struct_fields__}
    view = PublicView(**fields | {"entries": entries, "stations": []})
    public = as_json(shown_view(view))
    for columns in ("columns", "team_columns"):
        assert "differs" in [one["field"] for one in public[columns]]
    assert MARK in [one["printed"]["differs"] for one in public["entries"]]
    assert MARK in board_text(view, [])


def test_a_ranking_of_equal_sessions_has_no_such_column():
    """The column appears when there is something to say in it."""
    alike = [PublicEntry(team="ants"), PublicEntry(team="bees")]
    other = replace_differs(alike[0])
    for surface in On:
        assert "differs" not in [one.field for one in columns_on(surface, alike)]
        assert "differs" in [one.field for one in columns_on(surface, [other, alike[1]])]


def replace_differs(entry):
    """Return an entry with a difference."""
    return msgspec.structs.replace(entry, differs=[Difference("length_s", 300.0, 600.0)])


def test_stored_results_keep_the_marks():
    """Final results and freezes are read again as they were written, with values of each kind."""
    kinds = [Difference("shuffle", False, True), Difference("blacklist", None, "ab")]
    entry = ResultEntry(team="ants", differs=[*kinds, Difference("length_s", 1.0, 2.0)])
    read = msgspec.convert(msgspec.to_builtins(entry), ResultEntry)
    assert entry.differs == read.differs


def test_another_length_is_open_until_it_is_reviewed(mixed):
    """The review has a reason, holds for these differences, and the mark stays in final results."""
    (point,) = read_results(mixed.contest).open
    assert f"Session 1 of 'ants' was not run as the others were: {MARK}." in point
    with pytest.raises(Refusal, match="1 point is open"):
        finalize(mixed.contest, ["Ada"])
    for _ in range(2):
        review(mixed.contest, 1, "Ada", "no time for a re-run")
    rows = mixed.contest.database.connection.execute("select count(*) from condition_reviews")
    assert 1 == rows.fetchone()[0]
    final = finalize(mixed.contest, ["Ada"])
    marks = {one.team: [it.condition for it in one.differs] for one in final.entries}
    assert {"ants": ["length_s"], "bees": [], "crabs": []} == marks


def test_a_review_holds_only_against_the_same_others(event):
    """When another length becomes usual, the other session is the one that differs."""
    event.register("ants", "bees", "crabs")
    with_seconds(event, 300)
    event.play("ants")
    with_seconds(event, 600)
    event.play("bees")
    review(event.contest, 2, "Ada", "we noticed too late")
    assert [] == [one for one in read_results(event.contest).open if "not run as" in one]
    event.play("crabs")
    (point,) = read_results(event.contest).open
    assert "Session 1 of 'ants'" in point


def test_extra_time_is_marked_and_reviewed(event):
    """Time that an operator gave with a reason is legitimate, and everybody sees it."""
    event.register("ants", "bees")
    event.play("ants")
    number = event.desk.new_session("bees", "Kim")
    event.desk.steps_of(number).extend(number, "Kim", 60, "the hall was locked", 600.0)
    event.desk.steps_of(number).arm(number, "Kim")
    event.desk.begin("bees", "10.0.0.2")
    event.answer(number, [1, 2])
    event.contest.clock.advance(60)
    event.desk.steps_of(number).end(number, EndCause.STOP, "Kim")
    event.settle(number)
    event.judge(number, "VALID")
    entry = entry_of(event, "bees")
    assert ["60 s more time"] == [difference_text(one) for one in entry.differs]
    assert entry.differs_open
    review(event.contest, number, "Ada", "the hall was locked")
    assert not entry_of(event, "bees").differs_open
    finalize(event.contest, ["Ada"])


def test_each_difference_has_words():
    """No condition is told by its field's name."""
    for field in Conditions.__dataclass_fields__:
        for found, usual in ((1.0, 2.0), (None, "ab"), ("ab", None)):
            if field not in INPUTS | {"mode"} and found != 1.0:
                continue  # They are always known.
            text = difference_text(Difference(field, found, usual))
            assert text and "_" not in text and "None" not in text


def test_scores_of_other_rules_are_marked_and_never_final(event):
    """A later version's rules give other numbers: a proposal makes all of them equal first."""
    event.register("ants", "bees")
    event.play("ants")
    number = event.play("bees")
    connection = event.contest.database.connection
    run = newest_scoring_run(connection, number)
    detail = run.detail | {"rules_version": "2099"}
    with event.contest.database.write() as writing:
        now = event.contest.clock.now()
        insert_scoring_run(writing, number, now, replace(run, detail=detail))
    (differs,) = entry_of(event, "bees").differs
    said = "scored by ilsvrc-devkit 2099, others by ilsvrc-devkit 2014"
    assert ("rules", said) == (differs.condition, difference_text(differs))
    (point,) = read_results(event.contest).open
    assert "different ground truth, blacklist or rules: 1 against 2" in point
    with pytest.raises(Refusal):
        finalize(event.contest, ["Ada"])
