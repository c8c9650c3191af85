# SPDX-License-Identifier: Apache-2.0
"""The report of a drill: for people and for programs, from the same record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.extras.drill.rules.faults import FAULTS
from referee.extras.drill.rules.judging import judge_all
from referee.extras.drill.rules.record import Act, Injection, RaisedAlarm, Ran, Record
from referee.extras.drill.rules.report import report_json, report_text

RAN = Ran(1, "Team Elm", 1000.0, 1120.0, None, "VALID", (), (1021.0,), (1000.0,), (1000.0,))
RECORD = Record(
    injections=(
        Injection("meter-unplugged", 1020.0, 1, 1033.4, "by hand"),
        Injection("desk-killed", 1060.0, 1, None),
    ),
    shown=(RaisedAlarm(1022.0, "The power meter is lost"),),
    acts=(
        Act(1025.0, "Kim", "alarm seen", None, "The power meter is lost"),
        Act(1033.4, "", "hand cable", 1),
    ),
    sessions=(RAN,),
    begun_s=1000.0,
    ended_s=1100.0,
    seed=7,
    length_s=120.0,
    notes=("There was no time left for these faults: junk.",),
)


def test_the_text_tells_each_fault_with_its_times():
    """The table has the seconds, and each fault its block with the runbook."""
    text = report_text(RECORD, judge_all(RECORD))
    row = next(line for line in text.splitlines() if line.startswith("1 meter-unplugged"))
    assert ["2", "5", "13", "well", "done"] == row.split()[-5:]
    for told in (
        "2 faults in 1 session of",
        "after 5 s: alarm seen (Kim)",
        "1 request answered with an error",
        "not before the drill ended",
        "docs/emergency.md, row 2",
        "no time left for these faults: junk",
    ):
        assert told in text
    assert max(map(len, text.splitlines())) <= 130


def test_the_object_has_the_same_for_programs():
    """Seconds are numbers, what never came is null, and it is JSON."""
    found = json.loads(json.dumps(report_json(RECORD, judge_all(RECORD))))
    first, second = found["faults"]
    assert (2.0, 5.0, 13.4, 13.4, "well done") == (
        first["alarm_after_s"],
        first["seen_after_s"],
        first["done_after_s"],
        first["over_after_s"],
        first["outcome"],
    )
    assert (None, None, None) == (
        second["alarm_after_s"],
        second["seen_after_s"],
        second["over_after_s"],
    )


def test_a_drill_without_faults_says_so():
    """Ctrl-C before the first session still gives a report."""
    empty = Record((), (), ())
    assert "No fault came" in report_text(empty, judge_all(empty))
    assert [] == report_json(empty, [])["faults"]


ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_report_points_to_a_place_that_is_there(fault):
    """The runbook has the row or the heading that the fault names."""
    path, _, row = fault.section.partition(", ")
    path, _, anchor = path.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    for number in re.findall(r"\d+", row):
        assert f"\n| {number} |" in text
    headings = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
    assert anchor in ["", *(heading.replace(" ", "-") for heading in headings)]
