# SPDX-License-Identifier: Apache-2.0
"""Rankings of many teams: a season's report and the places, for 75, 150 and 300 teams.

Twice as many teams have four times as many pairs, and each pair of a report has an interval of its
own, so a report cannot grow with the teams alone. It is measured beside the pairs compared one by
one, in the same run, and the places beside the counting of better teams for each team.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from referee.core.places import shared_places
from referee.extras.season.choices import BY_SCORE
from referee.extras.season.joint import joint_fields
from referee.extras.season.rankings import events_of
from referee.extras.season.report_text import report_json
from referee.extras.season.rows import Row, RowKey, new_row
from referee.scoring import Energy, MapUncertainty, compare
from referee.scoring.split_half import SplitHalves

TEAMS = (75, 150, 300)
_DRAWS, _PARTS = 100, 1000
_KEY = RowKey("7" * 64, "pascal-voc", "2010", "0.1.0", 0, _DRAWS)
_UTC = "2026-06-07T12:00:00+00:00"


def run() -> None:
    """Print the seconds of each part, and how they grow."""
    print(
        "teams   pairs   report s   us a pair   pairs one by one s   ratio   places ms   counted ms"
    )
    before = 0.0
    for teams in TEAMS:
        before = _measure(teams, before)


def _measure(teams: int, before: float) -> float:
    """Print one size, and by how much the report has grown; return the report's seconds."""
    measured = [_draws(number) for number in range(teams)]
    rows = [_row(number, one) for number, one in enumerate(measured)]
    report_s = _seconds(lambda: report_json("x", BY_SCORE, events_of(rows, BY_SCORE), rows))
    single_s = _seconds(lambda: _one_by_one(measured))
    values = [one.estimate for one in measured]
    places_s = _seconds(lambda: shared_places(values))
    counted_s = _seconds(lambda: [1 + sum(it > one for it in values) for one in values])
    pairs = teams * (teams - 1) // 2
    grown = f"   x {report_s / before:.1f}" if before else ""
    print(
        f"{teams:5} {pairs:7} {report_s:10.3f} {1e6 * report_s / pairs:11.1f} {single_s:20.3f} "
        f"{report_s / single_s:7.2f} {1e3 * places_s:11.3f} {1e3 * counted_s:12.3f}{grown}",
        flush=True,
    )
    return report_s


def _seconds(work: Callable[[], object]) -> float:
    """Return the processor time: other programs take no part in it."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _one_by_one(measured: list[MapUncertainty]) -> None:
    energy = Energy(0.5, 0.001)
    for one, other in combinations(measured, 2):
        compare(one, other, energy, energy)


def _draws(number: int) -> MapUncertainty:
    chance = np.random.default_rng(number)
    mean_ap = 0.2 + 0.5 * chance.random()
    halves = mean_ap + 0.01 * chance.standard_normal((_DRAWS, 2))
    quarters = mean_ap + 0.014 * chance.standard_normal((_DRAWS, 4))
    parts = chance.standard_normal(_PARTS)
    return MapUncertainty(mean_ap, SplitHalves(halves, quarters, parts, 5), _PARTS)


def _row(number: int, measured: MapUncertainty) -> Row:
    old = measured.estimate + 0.01 * np.random.default_rng(1000 + number).standard_normal()
    told = {
        **{"event": "LPIRC", "station": "5" * 64, "session": number, "lane": 1},
        **{"team": f"team {number}", "track": "network", "started_utc": _UTC, "voided_utc": None},
        "old": {
            **{"rules": "ilsvrc-devkit", "rules_version": "2014", "mean_ap": old},
            **{"score": old / 0.5, "energy_wh": 0.5, "uncertainty_wh": 0.001, "verdict": "VALID"},
            **{"mean_ap_interval": None, "score_interval": None},
        },
        "new": {
            **{"mean_ap": measured.estimate, "score": measured.estimate / 0.5},
            **{"mean_ap_interval": None, "score_interval": None},
        },
        "joint": joint_fields("j", measured),
        "reproduces": None,
    }
    return new_row(_KEY, f"sha of {number}", told) | {"file": f"{number}.zip"}  # type: ignore[arg-type, return-value]
