# SPDX-License-Identifier: Apache-2.0
"""Old and new rankings stand side by side, and each difference is as sure as its draws say.

It is long because it reads the whole report too: text, CSV, workbook and page.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import referee.extras.season.report_page as report_page_module
from referee.errors import InputError
from referee.extras.season.bundle_files import find_bundles
from referee.extras.season.bundle_read import read_bundle
from referee.extras.season.choices import BY_MAP, BY_SCORE
from referee.extras.season.joint import energy_of_row, joint_fields, joint_uncertainty
from referee.extras.season.overview import broken_bundles, left_out, overview_of
from referee.extras.season.rankings import events_of
from referee.extras.season.report_page import report_page
from referee.extras.season.report_tables import bundles_table, pairs_table, rankings_table
from referee.extras.season.report_text import (
    cells,
    pair_line,
    report_json,
    report_text,
)
from referee.extras.season.rows import RowKey, broken_row, new_row
from referee.formats.tables import csv_of
from referee.scoring import MapUncertainty, compare
from referee.scoring.rare_images import RareImages
from referee.scoring.split_half import SplitHalves
from referee.service.evidence.bundle_file import NotABundle

KEY = RowKey("7" * 64, "pascal-voc", "2010", "0.1.0", 0, 20)
UTC = "2026-06-07T12:0{}:00+00:00"


def draws(mean_ap, seed, spread=0.01):
    """Return draws around a mAP, with equal luck for equal seeds."""
    chance = np.random.default_rng(seed)
    halves = mean_ap + spread * chance.standard_normal((20, 2))
    quarters = mean_ap + spread * chance.standard_normal((20, 4))
    return MapUncertainty(mean_ap, SplitHalves(halves, quarters, chance.standard_normal(50), 5), 50)


def row(
    team,
    old,
    new,
    *,
    key=KEY,
    energy_wh=0.5,
    verdict="VALID",
    seed=None,
    joint="j",
    uncertainty_wh=0.001,
    **more,
):
    """Return a row of a team whose mAP was `old` and is `new`; None is no result."""
    told = {
        **{"event": "LPIRC", "station": "5" * 64, "session": 1, "lane": 1, "team": team},
        **{"track": "network", "started_utc": UTC.format(1), "voided_utc": None},
        "old": {
            **{"rules": "ilsvrc-devkit", "rules_version": "2014", "mean_ap": old},
            **{"score": None if old is None else old / energy_wh, "energy_wh": energy_wh},
            **{"uncertainty_wh": uncertainty_wh, "verdict": verdict},
            **{"mean_ap_interval": None, "score_interval": None},
        },
        "new": {
            **{"mean_ap": new, "score": None if new is None else new / energy_wh},
            **{"mean_ap_interval": None, "score_interval": None},
        },
        "joint": None,
        "reproduces": None,
    }
    if new is not None:
        luck = sum(team.encode()) if seed is None else seed
        told["joint"] = joint_fields(joint, draws(new, luck))
    return new_row(key, f"sha of {team}", told | more) | {"file": f"a/{team}.zip"}


def only(rows, by=BY_SCORE):
    """Return the only ranking of the only event."""
    (event,) = events_of(rows, by)
    (ranking,) = event.rankings
    return ranking


def test_ranks_of_old_and_new_rules_stand_side_by_side():
    """The best new one is first; equal values share a rank, and no value has none."""
    found = only([row("a", 0.3, 0.2), row("b", 0.2, 0.3), row("c", 0.2, 0.1), row("d", 0.1, None)])
    assert [("b", 2, 1), ("a", 1, 2), ("c", 2, 3), ("d", 4, None)] == [
        (one.team, one.old_rank, one.new_rank) for one in found.entrants
    ]


def test_a_pair_turns_if_its_order_is_the_other_one():
    """A tie that is broken does not turn; tau counts agreeing less turned pairs."""
    found = only([row("a", 0.3, 0.2), row("b", 0.2, 0.3), row("c", 0.2, 0.1)])
    assert (3, 1) == (found.comparable, found.turned)
    assert pytest.approx((1 - 1) / 3) == found.tau
    assert [("b", "a")] == [(it.ahead, it.behind) for it in found.pairs if it.turned]


def test_a_difference_is_that_of_the_joint_draws():
    """Interval and probability are those of `compare` on the rows' own draws and energies."""
    rows = [row("a", 0.3, 0.2), row("b", 0.2, 0.3, energy_wh=0.6)]
    ends = [(joint_uncertainty(one), energy_of_row(one)) for one in rows]
    told = compare(ends[1][0], ends[0][0], ends[1][1], ends[0][1])
    (pair,) = only(rows).pairs
    assert (told.difference, told.interval.low, told.interval.high) == (
        pytest.approx(pair.difference),
        *(pair.low, pair.high),
    )
    assert told.turn_probability == pair.turn_probability


def test_a_pair_is_judged_by_the_spread_of_all_teams():
    """The same two turn less often beside teams far apart; each figure tells how many judge."""
    two = [row("a", 0.1, 0.3), row("b", 0.1, 0.2993, seed=3)]
    others = [row(f"t{k}", 0.1, 0.05 + 0.1 * k, seed=10 + k) for k in range(9)]
    elsewhere = row("z", 0.1, 0.4, joint="other images")
    equals = [row(f"t{k}", 0.1, 0.2985 - 0.001 * k, seed=20 + k) for k in range(9)]
    among = {}
    for name, more in (("alone", []), ("apart", others), ("equals", equals)):
        (pair,) = (
            one
            for one in only([*two, *more, elsewhere]).pairs
            if (one.ahead, one.behind) == ("a", "b")
        )
        assert 2 + len(more) == pair.turn_from_teams
        assert f"by the spread of {2 + len(more)} teams" in pair_line(pair)
        among[name] = pair.turn_probability
    assert among["apart"] < among["alone"] and among["apart"] < among["equals"]


def test_possible_ranks_follow_from_all_differences():
    """A team far ahead has one rank; two close ones share theirs."""
    found = only([row("a", 0.1, 0.5), row("b", 0.2, 0.2001, seed=3), row("c", 0.3, 0.2, seed=4)])
    assert [(1, 1), (2, 3), (2, 3)] == [(one.best, one.worst) for one in found.entrants]


@pytest.mark.parametrize(
    "rows",
    [
        [row("a", 0.3, 0.2), row("b", 0.2, 0.3, joint="another")],
        [row("a", 0.3, 0.2), row("b", 0.2, 0.3, uncertainty_wh=None)],
        [row("a", 0.3, 0.2) | {"joint": None}, row("b", 0.2, 0.3)],
    ],
)
def test_what_cannot_be_compared_is_not_guessed(rows):
    """Other images, an energy that divides nothing, or no draws: a pair has no interval."""
    found = only(rows)
    assert 1 == found.turned
    assert [(None, None, None)] == [(it.low, it.high, it.turn_probability) for it in found.pairs]
    assert {None} == {one.best for one in found.entrants}
    assert "the draws do not tell" in report_text(events_of(rows), rows)


def test_map_ranks_without_the_energy():
    """`--rank-by map` needs no energy, and may rank otherwise."""
    rows = [row("a", 0.2, 0.2, energy_wh=0.1), row("b", 0.3, 0.3, energy_wh=0.9)]
    assert ["a", "b"] == [one.team for one in only(rows).entrants]
    by_map = only(rows, BY_MAP)
    assert ["b", "a"] == [one.team for one in by_map.entrants]
    assert by_map.pairs[0].turn_probability is not None


def test_the_newest_session_with_a_verdict_counts():
    """A void one, one without a verdict, and an older one do not."""
    rows = [
        row("a", 0.1, 0.1, session=1, started_utc=UTC.format(1)),
        row("a", 0.2, 0.2, session=2, started_utc=UTC.format(2)),
        row("a", 0.3, 0.3, session=3, started_utc=UTC.format(3), voided_utc=UTC.format(4)),
        row("a", 0.4, 0.4, session=4, started_utc=UTC.format(4), verdict=None),
    ]
    assert [2] == [one.session for one in only(rows).entrants]
    assert only(rows) == only(rows[::-1])


def test_events_differ_by_station_truth_and_name_and_have_all_rules():
    """Rows of several rules are rankings of one event; another station is another event."""
    other = KEY._replace(rules="ilsvrc-strict", rules_version="1")
    rows = [row("a", 0.1, 0.1), row("a", 0.1, 0.2, key=other), row("a", 0.1, 0.1, station="6" * 64)]
    rows += [
        row("a", 0.1, 0.1, event="LPIRC 2016"),
        row("a", 0.1, 0.1, key=KEY._replace(truth_sha256="8" * 64)),
    ]
    events = events_of(rows)
    assert 4 == len(events)
    assert [1, 1, 1, 2] == sorted(len(one.rankings) for one in events)
    again = KEY._replace(seed=1)
    (event,) = events_of([row("a", 0.1, 0.1), row("a", 0.1, 0.1, key=again)])
    assert ["seed 0", "seed 1"] == [
        re.search(r"seed \d", one.rules).group() for one in event.rankings
    ]


def season():
    """Return rows of two rules with a turned pair, a strange name and a broken bundle."""
    other = KEY._replace(rules="ilsvrc-strict", rules_version="1")
    teams = [("$a<script>", 0.3, 0.2), ("b\x1b[2J", 0.2, 0.3), ("蜂", 0.1, 0.05)]
    rows = [row(*one, key=key) for key in (KEY, other) for one in teams]
    return [*rows, broken_row(KEY, None, "It is no zip file.") | {"file": "a/x.zip"}]


def test_csv_and_json_have_every_digit_and_every_row():
    """They are read back as the numbers that were computed."""
    rows = season()
    events = events_of(rows)
    ranked = list(csv.DictReader(io.StringIO(csv_of(rankings_table(events)))))
    assert 6 == len(ranked)
    assert 0.3 / 0.5 == float(ranked[0]["new"]) and "" == ranked[0]["new_low"]
    pairs = list(csv.DictReader(io.StringIO(csv_of(pairs_table(events)))))
    first = events[0].rankings[0].pairs[0]
    assert first.turn_probability == float(pairs[0]["turn_probability"])
    told = json.loads(json.dumps(report_json("x", BY_SCORE, events, rows), allow_nan=False))
    assert first.low == told["events"][0]["rankings"][0]["pairs"][0]["low"]
    assert [{"file": "a/x.zip", "reason": "It is no zip file."}] == told["broken"]
    assert told["broken"] == broken_bundles(rows)


def test_the_tables_join_by_keys_that_no_spreadsheet_changes():
    """An event without a name, a guarded name and one with a control sign have one key each."""
    names = ("=1+1", "b\x1b[2J", "007")
    rows = [row(name, 0.1 * place, 0.2, event=None) for place, name in enumerate(names, 1)]
    events = events_of(rows)
    tables = (rankings_table(events), pairs_table(events), bundles_table(events, rows))
    ranked, pairs, bundles = (
        [dict(zip(it.heads, one, strict=True)) for one in it.rows] for it in tables
    )
    assert 1 == len({(one["event"], one["event_id"]) for one in (*ranked, *pairs, *bundles)})
    assert "event without a name" == ranked[0]["event"] == events[0].name
    teams = {one["team_id"]: one["team"] for one in ranked}
    assert teams == {one["team_id"]: one["team"] for one in bundles} and 3 == len(teams)
    assert all(
        teams[one[f"{side}_id"]] == one[side] for one in pairs for side in ("ahead", "behind")
    )
    assert all(re.fullmatch("[et][0-9a-f]{12}", key) for key in (*teams, ranked[0]["event_id"]))


def test_the_terminal_gets_the_first_of_many_turned_pairs():
    """The rest is counted, and stands in the CSV."""
    rows = [row(f"t{n:02}", 0.2 + n / 100, 0.4 - n / 100) for n in range(10)]
    text = report_text(events_of(rows), rows)
    assert (20, 1) == (text.count("is now ahead"), text.count("and 25 more: --csv pairs"))
    assert 45 == csv_of(pairs_table(events_of(rows))).count("True")


def test_the_terminal_gets_no_control_characters():
    """Names of strangers cannot move the cursor, and the turned pair stands in words."""
    rows = season()
    text = report_text(events_of(rows), rows)
    assert "\x1b" not in text
    assert "b?[2J is now ahead of $a<script> by 0.2 (" in text
    assert "a/x.zip: It is no zip file." in text


def test_the_page_stands_alone():
    """It loads nothing, escapes names, has each chart once, and equal rows give equal bytes."""
    rows, drawn = season(), []
    events = events_of(rows)
    page = report_page("s", BY_SCORE, events, rows, lambda *it: drawn.append(it))
    assert [(1, 1)] == drawn
    assert "<script" not in page and "&lt;script&gt;" in page
    assert set() == {it for it in re.findall(r'(?:src|href)="([^"]{5})', page)} - {"data:", "#even"}
    assert 3 == page.count("<img")
    assert page == report_page("s", BY_SCORE, events_of(rows[::-1]), rows, lambda *it: None)


@pytest.mark.parametrize("rows", [[], [broken_row(KEY, None, "x") | {"file": "y"}]])
def test_a_season_without_a_score_has_a_report(rows):
    """Nothing to rank is no error."""
    assert [] == events_of(rows)
    assert report_text([], rows)
    assert "0 events" in report_page("s", BY_SCORE, [], rows, lambda *it: None)


def test_an_event_without_any_value_has_a_page():
    """A team without a result is in the table, and no chart breaks."""
    rows = [row("a", None, None, verdict="INVALID")]
    assert "INVALID" in report_page("s", BY_SCORE, events_of(rows), rows, lambda *it: None)


def test_equal_rankings_with_a_tie_agree_wholly():
    """Kendall's tau of two equal rankings is 1, also where two teams share a value."""
    rows = [row("a", 0.4, 0.4), row("b", 0.3, 0.3), row("c", 0.3, 0.3), row("d", 0.1, 0.1)]
    assert 1.0 == only(rows).tau
    assert only([row("a", 0.4, 0.2), row("b", 0.4, 0.1)]).tau is None


def test_a_row_keeps_how_few_images_decide():
    """A row has the joint draws as they were drawn; one of an earlier version has no count."""
    drawn = draws(0.99, 3)
    drawn = replace(drawn, halves=replace(drawn.halves, rare=RareImages(0.02, 1.5)))
    told = row("a", 0.99, 0.99)
    told["joint"] = joint_fields("j", drawn)
    again = joint_uncertainty(told)
    assert RareImages(0.02, 1.5) == again.halves.rare
    assert drawn.interval() == again.interval()
    del told["joint"]["weight"]
    assert joint_uncertainty(told).halves.rare is None
    told["joint"] |= {"weight": -1.0}
    with pytest.raises(InputError, match=r"its weight is -1\.0"):
        joint_uncertainty(told)


def test_the_last_bit_of_a_quotient_turns_nobody():
    """.001 / .07 and .003 / .21 share a rank, as new scores and as old ones, and do not turn."""
    rows = [
        row("a", 0.001, 0.003, energy_wh=0.07),
        row("b", 0.003, 0.009, energy_wh=0.21),
        row("c", 0.0001, 0.0001, energy_wh=0.21),
    ]
    found = only(rows)
    assert rows[0]["old"]["score"] != rows[1]["old"]["score"]
    assert [(1, 1), (1, 1), (3, 3)] == [(one.old_rank, one.new_rank) for one in found.entrants]
    assert (3, 0, 1.0) == (found.comparable, found.turned, found.tau)
    assert 0.0 == found.pairs[0].difference


def test_a_pair_of_equal_values_is_not_ahead():
    """Nobody is ahead by 0, and an emulated energy is named beside its verdict."""
    odd = row("b", 0.3, 0.3)
    odd["old"]["emulated"] = True
    ranking = only([row("a", 0.3, 0.3), odd])
    assert ["a and b have the same value"] == [pair_line(pair) for pair in ranking.pairs]
    assert ["VALID", "VALID, EMULATED"] == [cells(one)[-1] for one in ranking.entrants]


def test_a_folder_and_a_dangling_link_named_like_bundles_are_named(tmp_path):
    """What is called .zip and is no file is among the bundles, and its row says why."""
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "link.zip").symlink_to(tmp_path / "nowhere")
    found = {bundle.path.name: bundle.path for bundle in find_bundles([tmp_path])}
    assert {"folder.zip", "link.zip"} == set(found)
    with pytest.raises(NotABundle, match="It is no file"):
        read_bundle(found["folder.zip"])
    with pytest.raises(NotABundle, match="No such file"):
        read_bundle(found["link.zip"])


def test_each_missing_value_has_its_reason():
    """Each dash of the table stands for a reason, in the text, the page, the CSV and the JSON."""
    rows = [
        row("ants", 0.3, 0.3, verdict="INVALID"),
        row("bees", 0.3, None),
        row("cats", 0.2, 0.2, uncertainty_wh=None),
        row("dogs", 0.1, 0.1, verdict="SUSPECT"),
    ]
    rows[0]["old"] |= {"score": None, "reason": "The meter lost 3 s.\x1b"}
    rows[0]["new"]["score"] = None
    rows[1]["new"]["score"] = None
    events = events_of(rows)
    told = {one.team: one.missing for one in events[0].rankings[0].entrants}
    for one in events[0].rankings[0].entrants:
        names = ("old", "new", "old_interval", "new_interval", "best")
        assert {name for name in names if getattr(one, name) is None} == set(told[one.team])
    assert "the energy is INVALID: The meter lost 3 s.?" == told["ants"]["new"]
    assert "no mAP under this ground truth" == told["bees"]["new"]
    assert "the energy has no uncertainty" == told["cats"]["new_interval"]
    text = report_text(events, rows)
    page = report_page("s", BY_SCORE, events, rows, lambda *it: None)
    table = csv_of(rankings_table(events))
    for why in ("INVALID: The meter lost 3 s.?", "no mAP under", "energy has no uncertainty"):
        assert why in text and why in page and why in table
    assert "ants has no old value, new value, interval, possible ranks: the energy is" in text


def test_one_rule_for_suspect_on_every_surface():
    """A SUSPECT energy ranks, and gives no interval, no probability and no possible ranks.

    So it is with a file of a version of the referee that had these intervals. Differences between
    the others still tell their possible ranks.
    """
    rows = [
        row("ants", 0.1, 0.9),
        row("bees", 0.2, 0.5, verdict="SUSPECT"),
        row("cats", 0.3, 0.1),
    ]
    rows[1]["old"] |= {"score_interval": [0.1, 0.2], "mean_ap_interval": [0.1, 0.2]}
    rows[1]["new"] |= {"score_interval": [0.1, 0.2], "mean_ap_interval": [0.1, 0.2]}
    ranking = only(rows)
    ants, bees, cats = ranking.entrants
    assert (2, None, None, None) == (bees.new_rank, bees.old_interval, bees.new_interval, bees.best)
    assert ((1, 2), (2, 3)) == ((ants.best, ants.worst), (cats.best, cats.worst))
    with_bees = [pair for pair in ranking.pairs if "bees" in (pair.ahead, pair.behind)]
    assert {(None, None, "bees: the energy is SUSPECT")} == {
        (it.low, it.turn_probability, it.missing) for it in with_bees
    }
    (alone,) = only(rows[1:2]).entrants
    assert (1, None, "the energy is SUSPECT") == (alone.new_rank, alone.best, alone.missing["best"])
    by_map = only(rows, BY_MAP)
    assert None not in (by_map.entrants[1].new_interval, by_map.entrants[1].best)
    assert None not in {pair.low for pair in by_map.pairs}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([row("a", 0.1, 0.1)], "fewer than two teams have both values"),
        ([row("a", 0.1, 0.1), row("b", 0.1, 0.2)], "the old values are all equal"),
        ([row("a", 0.1, 0.1), row("b", 0.2, 0.1)], "the new values are all equal"),
    ],
)
def test_a_missing_tau_has_its_reason(rows, why):
    """Where a ranking has no order, the report says which one, and no dash stands alone."""
    assert f"(no Kendall's tau: {why})" in report_text(events_of(rows), rows)
    page = report_page("s", BY_SCORE, events_of(rows), rows, lambda *it: None)
    assert f">– ({why})</td>" in page
    assert why == only(rows).tau_missing


def checked():
    """Return rows under the old rules and new ones; one old result does not reproduce."""
    own = KEY._replace(rules="ilsvrc-devkit", rules_version="2014")
    teams = [("ants", 0.3, 0.2), ("bees", 0.2, 0.3)]
    rows = [row(*one) for one in teams]
    rows += [row("ants", 0.3, 0.3, key=own, reproduces=True)]
    rows += [row("bees", 0.2, 0.25, key=own, reproduces=False)]
    for one in (rows[1], rows[3]):
        one["old"]["emulated"] = True
    rows += [row("cats", 0.1, 0.1, voided_utc=UTC.format(2)), row("dogs", 0.1, 0.1, verdict=None)]
    return [*rows, broken_row(KEY, None, "It is no zip file.") | {"file": "a/x.zip"}]


def test_a_bundle_whose_old_result_does_not_reproduce_is_marked():
    """The mark stands under all rules of the file, and the list tells both numbers."""
    rows = checked()
    events = events_of(rows)
    for ranking in events[0].rankings:
        told = {one.team: (one.reproduces, cells(one)[-1]) for one in ranking.entrants}
        assert (True, "VALID") == told["ants"]
        assert (False, "VALID, EMULATED, NOT REPRODUCED") == told["bees"]
    line = "a/bees.zip: ilsvrc-devkit 2014 gives the mAP 0.25, and the bundle tells 0.2"
    assert line in report_text(events, rows)
    page = report_page("s", BY_SCORE, events, rows, lambda *it: None)
    assert line in page and 2 == page.count(", NOT REPRODUCED<")
    (told,) = report_json("x", BY_SCORE, events, rows)["not_reproduced"]
    assert ("a/bees.zip", 0.2, 0.25) == (told["file"], told["old_mean_ap"], told["new_mean_ap"])
    ranked = csv.DictReader(io.StringIO(csv_of(rankings_table(events))))
    assert {("ants", "True"), ("bees", "False")} == {
        (one["team"], one["reproduces"]) for one in ranked
    }


def test_a_summary_stands_before_the_tables():
    """It counts the bundles by what became of them, names the rules, and says what turned."""
    rows = checked()
    events = events_of(rows)
    found = overview_of(rows, events)
    assert (5, 4, 1, 2, 1) == (
        *(found.bundles, found.scored, found.broken, found.left_out),
        found.emulated,
    )
    assert (1, 1, 2) == (found.reproduced, found.not_reproduced, found.not_checked)
    assert ("ilsvrc-devkit 2014", "pascal-voc 2010") == found.rules
    assert (2, 1, 2, 1, 1) == (
        *(found.rankings, found.turned_pairs, found.comparable_pairs),
        *(found.rankings_with_turned_pairs, found.rankings_with_another_first),
    )
    text = report_text(events, rows)
    page = report_page("s", BY_SCORE, events, rows, lambda *it: None)
    for form in (text, page):
        for words in (
            "Bundles: 5; scored 4, broken 1, scored and in no ranking 2, with an emulated energy 1",
            "Old results: reproduced 1, not reproduced 1, unknown 2",
            "Turned pairs: 1 of 2, in 1 of the rankings. Another first place: in 1.",
        ):
            assert -1 < form.index(words) < form.index("old value")
    told = report_json("x", BY_SCORE, events, rows)
    assert 5 == told["summary"]["bundles"]
    assert "file" == next(iter(told)) and list(told).index("summary") < list(told).index("events")


def test_a_bundle_in_no_ranking_says_why():
    """A void session, one without a verdict, and a broken bundle are told in every form."""
    rows = checked()
    events = events_of(rows)
    why = {one["file"]: one["reason"] for one in left_out(rows, events)}
    assert {
        "a/cats.zip": "The session is void.",
        "a/dogs.zip": "Its energy has no verdict.",
    } == why
    page = report_page("s", BY_SCORE, events, rows, lambda *it: None)
    for file, reason in [*why.items(), ("a/x.zip", "It is no zip file.")]:
        assert f"{file}: {reason}" in report_text(events, rows)
        assert f"{file}: {reason}" in page
        table = csv.DictReader(io.StringIO(csv_of(bundles_table(events, rows))))
        assert [reason] == [one["reason"] for one in table if one["file"] == file]
    void = [row("cats", 0.1, 0.1, voided_utc=UTC.format(2))]
    assert "no session that takes part" in report_text(events_of(void), void)


USUAL = {
    **{"track": "network", "length_s": 600.0, "extra_s": 0.0, "meter": "WT300 series"},
    **{"mode": "RMS", "shuffle": True, "dwell_ms": None, "ground_truth": "aa", "sizes": None},
    **{"blacklist": None, "rules": "ilsvrc-devkit 2014"},
}


def test_a_session_that_was_not_run_as_the_others_is_marked_on_every_surface():
    """Text, page, each CSV and JSON mark it, and name its bundle and what differs."""
    rows = [
        row("ants", 0.5, 0.5, conditions=USUAL | {"length_s": 300.0}),
        row("bees", 0.4, 0.4, conditions=USUAL),
        row("crabs", 0.3, 0.3, conditions=USUAL),
        row("drones", 0.2, 0.2),
    ]
    events, mark = events_of(rows), "300 s, others 600 s"
    text = report_text(events, rows)
    assert f"VALID, NOT ALIKE ({mark})" in text
    assert "not run as the others of their event 1." in text
    assert "First is ants (not alike)." in text
    assert f"  a/ants.zip: {mark}" in text.splitlines()
    assert "  a/drones.zip: how it was run and scored" in text.splitlines()
    assert "ants (not alike) is ahead of bees" in pair_line(events[0].rankings[0].pairs[0])
    read = list(csv.DictReader(io.StringIO(csv_of(rankings_table(events)))))
    assert [mark, "", "", ""] == [one["differs"] for one in read]
    assert "how it was run and scored" == read[3]["not_told"]
    pairs = list(csv.DictReader(io.StringIO(csv_of(pairs_table(events)))))
    assert ["ants", "", ""] == [one["not_alike"] for one in pairs]
    bundles = list(csv.DictReader(io.StringIO(csv_of(bundles_table(events, rows)))))
    assert [mark, "", "", ""] == [one["differs"] for one in bundles]
    told = json.loads(json.dumps(report_json("x", BY_SCORE, events, rows)))
    assert [{"file": "a/ants.zip", "differs": mark}] == told["not_alike"]
    (first, *_) = told["events"][0]["rankings"][0]["entrants"]
    assert [{"condition": "length_s", "found": 300.0, "usual": 600.0}] == first["differs"]
    page = report_page("x", BY_SCORE, events, rows, lambda done, of: None)
    assert f"NOT ALIKE ({mark})" in page and f"a/ants.zip: {mark}" in page


def test_a_chart_marks_the_name(monkeypatch):
    """Both charts have the mark behind the team's name."""
    drawn = []
    plain = report_page_module._plain
    monkeypatch.setattr(
        report_page_module, "_plain", lambda *words: drawn.append(plain(*words)) or drawn[-1]
    )
    rows = [
        row("ants", 0.5, 0.5, conditions=USUAL | {"meter": "emulated"}),
        row("bees", 0.4, 0.4, conditions=USUAL),
    ]
    report_page("x", BY_SCORE, events_of(rows), rows, lambda done, of: None)
    assert "ants (not alike)" in drawn and 2 == drawn.count("bees")
