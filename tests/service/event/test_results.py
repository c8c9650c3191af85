# SPDX-License-Identifier: Apache-2.0
"""The ranking takes the right session of each team, and says what is open."""

from __future__ import annotations

import json
import statistics

import pytest

from referee.service.event.columns import printed_entries
from referee.service.event.results import read_results
from referee.service.event.results_table import results_json
from referee.service.scoreboard.facts import read_facts
from referee.service.scoreboard.view import publication_of
from referee.service.teams.registration_changes import withdraw
from referee.store.scores import ScoringRun, insert_scoring_run, newest_scoring_run

CONTRACT = set(
    "rank team session mean_ap energy_wh score score_low score_high images attempts verdict".split()
)


def by_team(results):
    """Return the entries by team."""
    return {entry.team: entry for entry in results.entries}


def test_an_event_before_its_first_session(event):
    """Every registered team has an entry without a rank, and nothing is a zero."""
    event.register("ants", "bees")
    results = read_results(event.contest)
    assert (False, 2) == (results.final, len(results.entries))
    for entry in results.entries:
        missing = ("rank", "session", "mean_ap", "energy_wh", "score", "images", "verdict")
        assert [None] * 7 == [getattr(entry, name) for name in missing]
        assert 0 == entry.attempts
    told = results_json(results)
    assert all(CONTRACT <= entry.keys() for entry in told["entries"])
    assert ["'ants' has no session that counts. Let it run, or withdraw it."] == (results.open[:1])


def test_the_best_score_comes_first(event):
    """Entries are ranked by mAP per watt-hour, with the figures of their sessions."""
    event.register("ants", "bees", "wasps")
    event.play("ants", found=4, power_w=6.0)
    second = event.play("bees", found=4, power_w=3.0)
    results = read_results(event.contest)
    assert ["bees", "ants", "wasps"] == [entry.team for entry in results.entries]
    assert [1, 2, None] == [entry.rank for entry in results.entries]
    best = results.entries[0]
    assert (second, 0.5, 3.0 * 60 / 3600) == (
        best.session,
        best.mean_ap,
        pytest.approx(best.energy_wh),
    )
    assert best.score == best.mean_ap / best.energy_wh
    assert best.score_low < best.score < best.score_high
    assert ("VALID", 1, 4 / 60) == (best.verdict, best.attempts, best.objects_per_s)
    json.dumps(results_json(results), allow_nan=False)


def test_equal_scores_share_a_rank(event):
    """Two equal scores share rank 1, and the next is rank 3."""
    event.register("ants", "bees", "wasps")
    event.play("ants", found=4)
    event.play("bees", found=4)
    event.play("wasps", found=2)
    assert [1, 1, 3] == [entry.rank for entry in read_results(event.contest).entries]


def test_a_score_of_zero_is_a_score(event):
    """A team that found nothing has rank and score 0; a team that has not run has none."""
    event.register("ants", "bees")
    event.play("ants", found=0)
    found = by_team(read_results(event.contest))
    assert (1, 0.0, 0.0) == (
        *(found["ants"].rank, found["ants"].mean_ap),
        found["ants"].score,
    )
    assert (None, None) == (found["bees"].rank, found["bees"].score)


def test_a_rerun_replaces_the_result_as_soon_as_it_starts(event):
    """The old result is gone while the new session runs, also when it was the better one."""
    event.register("ants")
    first = event.play("ants", found=6)
    event.desk.steps_of(first).void(first, "Kim", "wrong images")
    entry = by_team(read_results(event.contest))["ants"]
    assert (None, None, 1, ["wrong images"]) == (
        entry.rank,
        entry.session,
        entry.attempts,
        entry.void_reasons,
    )
    second = event.begin("ants")
    entry = by_team(read_results(event.contest))["ants"]
    assert (second, None, "on") == (entry.session, entry.score, entry.turn)
    assert 2 == entry.attempts


def test_two_sessions_that_stand_are_open(event):
    """There is no best-of: the newest counts, and the other must be voided with a reason."""
    event.register("ants")
    event.play("ants", found=6)
    second = event.play("ants", found=2)
    results = read_results(event.contest)
    assert second == results.entries[0].session
    (point,) = results.open
    assert point.startswith("'ants' has sessions 1, 2 that are not void. Session 2 counts.")


def test_a_withdrawn_team_keeps_its_figures_without_a_rank(event):
    """The ranks of the others close up."""
    event.register("ants", "bees")
    event.play("ants", found=6)
    event.play("bees", found=2)
    withdraw(event.contest, "ants", "second supply found", "Kim")
    found = by_team(read_results(event.contest))
    assert (1, None) == (found["bees"].rank, found["ants"].rank)
    assert found["ants"].withdrawn and found["ants"].score is not None


def test_an_invalid_energy_gives_no_rank_and_is_open(event):
    """An INVALID energy is shown as a verdict, never as a number."""
    event.register("ants")
    number = event.play("ants")
    event.judge(number, "INVALID", energy_wh=None)
    results = read_results(event.contest)
    entry = results.entries[0]
    assert (None, None, None, "INVALID") == (
        *(entry.rank, entry.score, entry.energy_wh),
        entry.verdict,
    )
    assert ["has an energy that is INVALID" in point for point in results.open] == [True]


def test_the_interval_of_the_scoring_run_is_told(event):
    """A run that tells its own interval has the last word over the meter's uncertainty alone."""
    event.register("ants")
    number = event.play("ants")
    run = newest_scoring_run(event.contest.database.connection, number)
    detail = {**run.detail, "uncertainty": {"score": [1.5, 2.5]}}
    with event.contest.database.write() as connection:
        other = ScoringRun(run.upto_answer_id, run.energy_id, run.accuracy, run.score, detail)
        insert_scoring_run(connection, number, event.contest.clock.now(), other)
    entry = read_results(event.contest).entries[0]
    assert (1.5, 2.5) == (entry.score_low, entry.score_high)


def test_a_suspect_energy_gives_no_interval_on_any_surface(event):
    """Table, CSV, scoreboard and feed have the score without ends, as the session's card has it."""
    event.register("ants")
    number = event.play("ants", verdict="SUSPECT")
    results = read_results(event.contest)
    entry = results.entries[0]
    assert entry.score is not None and (None, None) == (entry.score_low, entry.score_high)
    assert not any(line.startswith("score") for line in entry.intervals)
    assert "–" == printed_entries(results.entries)[0]["interval"]
    with event.contest.database.read() as connection:
        facts = read_facts(event.contest, connection)
    assert (facts.played[0].figures.score_low, facts.played[0].figures.score_high) == (None, None)
    shown = publication_of(facts).view.entries[0]
    assert (number, None) == (shown.session, shown.score_low)


def test_the_extra_prizes_are_those_of_the_rules(event):
    """Least energy among the accurate, highest mAP among the thrifty; who declines wins nothing."""
    event.register("ants", "bees", "wasps", "flies")
    event.register("modest", prizes=False)
    event.play("ants", found=2, power_w=8.0)
    event.play("bees", found=2, power_w=8.0)
    event.play("wasps", found=8, power_w=8.0)
    event.play("flies", found=1, power_w=1.1)
    event.play("modest", found=2, power_w=0.9)
    first, least, highest = read_results(event.contest).prizes
    # 'modest' has the best score and the least energy, but declines.
    assert (["wasps"], ["wasps"], ["flies"]) == (
        *(first.winners, least.winners),
        highest.winners,
    )
    maps = [2 / 8, 2 / 8, 8 / 8, 1 / 8, 2 / 8]
    assert least.limit == pytest.approx(statistics.fmean(maps) + statistics.stdev(maps))
    assert "sigma of the sample" in least.rule


def test_equal_teams_share_every_prize(event):
    """Three equal teams are at the mean with no deviation: each of them keeps the limits."""
    event.register("ants", "bees", "wasps")
    for team in ("ants", "bees", "wasps"):
        event.play(team, found=3, power_w=7.3)
    prizes = read_results(event.contest).prizes
    assert [["ants", "bees", "wasps"]] * 3 == [sorted(prize.winners) for prize in prizes]


def test_past_champions_stand_beside(event):
    """The published champions are reference lines with their year."""
    found = read_results(event.contest).champions
    assert [2015, 2016, 2017, 2018] == [one.year for one in found]
    assert 0.4446 == pytest.approx(found[-1].score, abs=5e-5)
