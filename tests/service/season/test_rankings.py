# SPDX-License-Identifier: Apache-2.0
"""Old and new rankings stand side by side, and each difference is as sure as its draws say."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

from referee.scoring import MapUncertainty, compare
from referee.scoring.halves import Halves
from referee.service.season.joint import energy_of_row, joint_fields, joint_uncertainty
from referee.service.season.rankings import BY_MAP, BY_SCORE, events_of
from referee.service.season.report_page import report_page
from referee.service.season.report_text import (
    broken_bundles,
    pairs_csv,
    rankings_csv,
    report_json,
    report_text,
)
from referee.service.season.rows import broken_row, new_row

KEY = ("7" * 64, "pascal-voc", "2010", "0.1.0", 0, 20)
UTC = "2026-06-07T12:0{}:00+00:00"


def draws(mean_ap, seed, spread=0.01):
    """Return draws around a mAP, with equal luck for equal seeds."""
    chance = np.random.default_rng(seed)
    halves = mean_ap + spread * chance.standard_normal((20, 2))
    quarters = mean_ap + spread * chance.standard_normal((20, 4))
    return MapUncertainty(mean_ap, Halves(halves, quarters, chance.standard_normal(50), 5), 50)


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
    }
    if new is not None:
        luck = sum(team.encode()) if seed is None else seed
        told["joint"] = joint_fields(joint, draws(new, luck))
    return new_row(key, "ab", told | more) | {"file": f"a/{team}.zip"}


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
    told = compare(*ends[1], *ends[0])
    (pair,) = only(rows).pairs
    assert (told.difference, told.interval.low, told.interval.high) == (
        pytest.approx(pair.difference),
        *(pair.low, pair.high),
    )
    assert told.turn_probability == pair.turn_probability


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
    other = (KEY[0], "ilsvrc-strict", "1", *KEY[3:])
    rows = [row("a", 0.1, 0.1), row("a", 0.1, 0.2, key=other), row("a", 0.1, 0.1, station="6" * 64)]
    rows += [row("a", 0.1, 0.1, event="LPIRC 2016"), row("a", 0.1, 0.1, key=("8" * 64, *KEY[1:]))]
    events = events_of(rows)
    assert 4 == len(events)
    assert [1, 1, 1, 2] == sorted(len(one.rankings) for one in events)
    again = (*KEY[:4], 1, KEY[5])
    (event,) = events_of([row("a", 0.1, 0.1), row("a", 0.1, 0.1, key=again)])
    assert ["seed 0", "seed 1"] == [
        re.search(r"seed \d", one.rules).group() for one in event.rankings
    ]


def season():
    """Return rows of two rules with a turned pair, a strange name and a broken bundle."""
    other = (KEY[0], "ilsvrc-strict", "1", *KEY[3:])
    teams = [("$a<script>", 0.3, 0.2), ("b\x1b[2J", 0.2, 0.3), ("蜂", 0.1, 0.05)]
    rows = [row(*one, key=key) for key in (KEY, other) for one in teams]
    return [*rows, broken_row(KEY, None, "It is no zip file.") | {"file": "a/x.zip"}]


def test_csv_and_json_have_every_digit_and_every_row():
    """They are read back as the numbers that were computed."""
    rows = season()
    events = events_of(rows)
    ranked = list(csv.DictReader(io.StringIO(rankings_csv(events))))
    assert 6 == len(ranked)
    assert 0.3 / 0.5 == float(ranked[0]["new"]) and "" == ranked[0]["new_low"]
    pairs = list(csv.DictReader(io.StringIO(pairs_csv(events))))
    first = events[0].rankings[0].pairs[0]
    assert first.turn_probability == float(pairs[0]["turn_probability"])
    told = json.loads(json.dumps(report_json("x", BY_SCORE, events, rows), allow_nan=False))
    assert first.low == told["events"][0]["rankings"][0]["pairs"][0]["low"]
    assert [{"file": "a/x.zip", "reason": "It is no zip file."}] == told["broken"]
    assert told["broken"] == broken_bundles(rows)


def test_the_terminal_gets_the_first_of_many_turned_pairs():
    """The rest is counted, and stands in the CSV."""
    rows = [row(f"t{n:02}", 0.2 + n / 100, 0.4 - n / 100) for n in range(10)]
    text = report_text(events_of(rows), rows)
    assert (20, 1) == (text.count("is now ahead"), text.count("and 25 more: --csv pairs"))
    assert 45 == pairs_csv(events_of(rows)).count("True")


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
