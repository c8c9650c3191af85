# SPDX-License-Identifier: Apache-2.0
"""A score has the same digits on every surface, and says when it is too uncertain for more."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.extras.ceremony.diploma import diplomas_of, diplomas_page
from referee.extras.ceremony.scenes import scenes_of
from referee.extras.season.entrants import Entrant
from referee.extras.season.report_text import cells
from referee.extras.stations.joint_board import joint_view
from referee.extras.stations.joint_rows import joint_stations
from referee.extras.stations.joint_text import board_text
from referee.scoring.ilsvrc import evaluate
from referee.scoring.score_report import energy_report, ilsvrc_report
from referee.service.board.session_view import session_row
from referee.service.event.proposal_view import all_proposals, proposal_text
from referee.service.event.rescoring import Filter, make_proposal
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import (
    results_csv,
    results_text,
    shown_results,
)
from referee.service.event.share_picture import share_figure
from referee.service.results.interval_text import ends_text
from referee.service.results.result_text import result_line, result_text
from referee.service.results.score_table import score_table
from referee.service.results.score_text import score_text, text_of_run, with_words
from referee.service.scoreboard.publisher import Publisher
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeMeter, running_desk
from tests.support.shown import as_json
from tests.support.stations import feed, followed, judged


@pytest.mark.parametrize(
    ("score", "ends", "text"),
    [
        (113.4, (60.0, 170.0), "113"),
        (113.4, (20.0, 320.0), "~110"),
        (34.6, (28.0, 41.0), "34.6"),
        (34.6, (5.0, 95.0), "~35"),
        (0.043964, (0.0431, 0.0449), "0.04396"),
        (0.043964, (None, None), "0.0440"),
        (0.043964, (0.0, 9.0), "~0.04"),
        (1234.5, (1234.5, 1234.5), "1230"),
        (1.0, (0.4, 1.6), "1.00"),
        (0.0, (0.0, 0.1), "0"),
        (None, (None, None), "–"),
    ],
)
def test_the_interval_decides_the_digits(score, ends, text):
    """Two digits of half its width show; a score of fewer than three digits has the mark."""
    assert text == score_text(score, ends)


def test_the_mark_is_explained_where_there_is_room():
    """A line of text says what it means."""
    assert "~35 mAP/Wh (too uncertain for more digits)" == with_words("~35", "mAP/Wh")
    assert "34.6 mAP/Wh" == with_words("34.6", "mAP/Wh")


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (None, "113, all digits 113.333333333333"),
        ([20.0, 320.0], "~110 (too uncertain for more digits), all digits 113.333333333333"),
        ([113.2, 113.5], "113.33, all digits 113.333333333333"),
    ],
)
def test_the_command_prints_it_alike_and_with_all_digits(ends, told):
    """`referee score` rounds as every surface does; who needs the whole number finds it beside."""
    truth = GroundTruth.from_arrays([1], [1], [[0, 0, 9, 9]])
    result = evaluate(truth, Detections.from_arrays([1], [1], [0.5], [[0, 0, 9, 9]]))
    report = ilsvrc_report(result) | energy_report(0.34, 1, 0.003, 1)
    report |= {"image_ids": "own", "images_answered": 1}
    if ends:
        spread = dict.fromkeys(("mean_ap", "score", "score_from_images", "score_from_energy"), ends)
        report["uncertainty"] = spread | {"level": 0.95, "energy_uncertainty_wh": 0.0005}
        report["uncertainty"] |= {"interval_of": "set", "resamples": 5, "seed": 0}
    rows = dict(
        line.split("  ", 1) for line in score_table(report, {}).splitlines() if "  " in line
    )
    assert told == rows["score, mAP/Wh"].strip()


def test_the_report_of_a_season_prints_it_alike():
    """Its table has the digits of each interval, new and old."""
    one = Entrant(
        *("ants", 1, "a.zip", "VALID", 0.003, 113.4, (20.0, 320.0), 34.6, (28.0, 41.0), 2, 1)
    )
    row = cells(one)
    assert ("34.6", "28.0 to 41.0", "~110") == (row[4], row[5], row[6])


def test_equal_ends_have_three_digits():
    """An interval of no width divides nothing."""
    assert "0.000123 to 0.000123" == ends_text(0.000123456, 0.000123456)


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images, in which two teams have played."""
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        found = Event(contest, desk, meter)
        found.register("ants", "bees")
        found.play("ants", found=5)
        found.play("bees", found=2)
        yield found
    contest.database.close()


def figure_texts(figure):
    """Return every text of a figure."""
    found = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return "\n".join(text.get_text() for text in found)


def surfaces(event):
    """Return what each surface says of the event."""
    contest, results = event.contest, read_results(event.contest)
    connection, now = contest.database.connection, contest.clock.now()
    sessions = [load_session(connection, number) for number in (1, 2)]
    runs = [newest_scoring_run(connection, number) for number in (1, 2)]
    judgements = {
        entry.team: judged(entry.score, score_low=entry.score_low, score_high=entry.score_high)
        for entry in results.entries
    }
    hall = followed("Hall", feed([(team, [one]) for team, one in judgements.items()], "k"))
    joint = joint_view("All", contest.track, joint_stations([hall], (), "network"))
    view = json.loads(Publisher(contest).refresh().view)
    make_proposal(contest, Filter(), "Ada", "why")
    return {
        "terminal": "\n".join(result_text(run, contest.track) for run in runs),
        "line": "\n".join(result_line(run, contest.track) for run in runs),
        "console": json.dumps([session_row(contest, one, now).score_text for one in sessions]),
        "text": results_text(results),
        "LaTeX": results_latex(results).replace(r"\textasciitilde{}", "~"),
        "page": results_page(results),
        "operators' page": json.dumps(
            [one["printed"] for one in as_json(shown_results(results))["entries"]]
        ),
        "CSV": "\n".join(
            row["score_text"] for row in csv.DictReader(io.StringIO(results_csv(results)))
        ),
        "picture": figure_texts(share_figure(results)),
        "diplomas": diplomas_page(results, diplomas_of(results, {})),
        "ceremony": str(scenes_of(results, None)),
        "scoreboard": json.dumps([one["short"] for one in view["entries"]]),
        "team's page": json.dumps([one["printed"] for one in view["entries"]]),
        "joint board": board_text(joint, []),
        "proposal": proposal_text(all_proposals(contest)[0]),
    }


def test_every_surface_prints_a_score_alike(event):
    """Terminal, console, tables, pictures, diplomas and boards have one text for each score."""
    track, connection = event.contest.track, event.contest.database.connection
    runs = [newest_scoring_run(connection, number) for number in (1, 2)]
    told = surfaces(event)
    for run in runs:
        wanted = text_of_run(run, track)
        digits = {f"{run.score:.{count}f}" for count in range(7)} - {wanted.removeprefix("~")}
        for name, said in told.items():
            assert re.search(rf"(?<![\d.~]){re.escape(wanted)}(?![\d.])", said), (name, wanted)
            others = [text for text in digits if len(text) > 3 and text in said]
            assert others == [], (name, wanted, others)
