# SPDX-License-Identifier: Apache-2.0
"""Objects that are flagged as difficult, under PASCAL VOC's rules and under others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT, RULE_SETS, VOC, Rules
from referee.scoring.score_report import ilsvrc_report
from referee.scoring.uncertainty import measure_uncertainty
from tests.support.scoring_cases import make_detections, make_truth

PLAIN, HARD = (0, 0, 99, 99), (200, 0, 299, 99)


def truth_of(*flags: bool, boxes: tuple = (PLAIN, HARD)) -> GroundTruth:
    """Return one image of one class with these boxes, flagged so."""
    truth = make_truth([1], [1], [(1, 1, box) for box in boxes])
    return replace(truth, difficult=np.array(flags) if any(flags) else None)


def score(truth: GroundTruth, *boxes: tuple, rules: Rules = VOC):
    """Score detections of falling confidence."""
    rows = [(1, 1, 0.9 - 0.1 * k, box) for k, box in enumerate(boxes)]
    return evaluate(truth, make_detections(rows), rules)


def test_a_detection_of_a_difficult_object_counts_neither_way() -> None:
    """However many detections find it, precision and recall are those of the others."""
    result = score(truth_of(False, True), HARD, HARD, PLAIN, HARD)
    assert (1.0, 1.0) == (result.mean_ap, result.grouped_mean_ap)
    assert (1, 1, 1, 0) == (
        *(result.truth_boxes, result.scored, result.true_positives, result.duplicates),
    )
    assert 3 == result.ignored["difficult"]
    assert [1.0] == result.curves()[1].precision.tolist()
    assert 4 == result.scored + sum(result.ignored.values())


def test_a_difficult_object_need_not_be_found() -> None:
    """Recall is complete without it, and it is not among the missed."""
    result = score(truth_of(False, True), PLAIN)
    assert 1.0 == result.mean_ap
    assert [] == result.explain().missed.tolist()


def test_the_best_box_decides_as_in_the_kit() -> None:
    """A row belongs to the box that it overlaps most; on a tie to the first in the file."""
    both = ((0, 0, 99, 99), (0, 0, 99, 149))
    assert (1.0, 0) == _kept(score(truth_of(False, True, boxes=both), both[0]))
    assert (0.0, 1) == _kept(score(truth_of(False, True, boxes=both), both[1]))
    same = ((0, 0, 99, 99), (0, 0, 99, 99))
    assert (1.0, 0) == _kept(score(truth_of(False, True, boxes=same), same[0]))
    assert (0.0, 1) == _kept(score(truth_of(True, False, boxes=same), same[0]))


def _kept(result) -> tuple[float | None, int]:
    return result.mean_ap, result.ignored["difficult"]


def test_a_miss_of_a_difficult_object_is_a_false_positive() -> None:
    """Below an IoU of 0.5 the flag does not excuse a detection."""
    result = score(truth_of(False, True), (200, 0, 249, 98), PLAIN)
    assert (0.5, 0) == _kept(result)
    assert Fate.POOR_OVERLAP == result.explain().fate[0]


def test_a_class_of_difficult_objects_has_no_ap() -> None:
    """It has no ground truth to find, so the mean leaves it out."""
    truth = make_truth([1], [1, 2], [(1, 1, PLAIN), (1, 2, HARD)])
    flagged = replace(truth, difficult=np.array([False, True]))
    rows = make_detections([(1, 1, 0.9, PLAIN), (1, 2, 0.8, HARD), (1, 2, 0.7, PLAIN)])
    result = evaluate(flagged, rows, VOC)
    assert ({1: 1.0, 2: None}, 1.0, 1) == (
        *(result.ap, result.mean_ap, result.classes_with_ground_truth),
    )


def test_each_detection_has_its_fate() -> None:
    """The detections of a difficult object are told apart from duplicates."""
    result = score(truth_of(False, True), HARD, PLAIN, PLAIN)
    fates = [Fate(it).name for it in result.explain().fate]
    assert ["DIFFICULT", "TRUE_POSITIVE", "DUPLICATE"] == fates
    assert 1 == result.explain().truth_row[0]


@pytest.mark.parametrize("name", sorted(RULE_SETS.keys() - {"voc"}))
def test_other_rules_know_no_difficulty(name: str) -> None:
    """Flagged or not, each other rule set gives the same report."""
    flagged, plain = (
        ilsvrc_report(score(truth_of(False, flag), HARD, PLAIN, rules=RULE_SETS[name]))
        for flag in (True, False)
    )
    assert flagged == plain
    assert "difficult" not in flagged["ignored"]


def test_a_truth_without_flags_is_scored_as_before() -> None:
    """Without a flagged box the report has no line about difficult objects."""
    report = ilsvrc_report(score(truth_of(False, False), HARD, PLAIN))
    assert (1.0, 2) == (report["mean_ap"], report["truth_boxes"])
    assert "difficult" not in report["ignored"]


def test_the_interval_leaves_difficult_objects_out() -> None:
    """The halves of the images hold the boxes that are to be found, and no others."""
    plain = [(image, 1, PLAIN) for image in range(1, 13)]
    hard = [(image, 1, HARD) for image in (1, 2, 3, 4, 5)]
    truth = make_truth(range(1, 13), [1], [*plain, *hard])
    flagged = replace(truth, difficult=np.array([False] * 12 + [True] * 5))
    found = [(image, 1, 0.5 + image / 100, PLAIN) for image in (1, 3, 4, 8, 9)]
    rows = [*found, *((image, 1, 0.9, HARD) for image in (1, 2, 3))]
    with_hard = measure_uncertainty(evaluate(flagged, make_detections(rows), VOC), draws=20, seed=1)
    without = measure_uncertainty(
        evaluate(make_truth(range(1, 13), [1], plain), make_detections(found), VOC),
        draws=20,
        seed=1,
    )
    assert with_hard.interval() == without.interval()


def test_rules_that_cannot_be_are_refused() -> None:
    """Where a detection may choose another box, no one box decides."""
    with pytest.raises(ValueError, match="ignore_difficult needs best_box_only"):
        replace(DEVKIT, ignore_difficult=True)


@pytest.mark.parametrize("flags", [[True], [[True, False]], [2, 0], ["yes", "no"]])
def test_flags_are_one_for_each_box(flags: list) -> None:
    """Arrays of another shape, or of other values, are refused."""
    with pytest.raises(ValueError, match="difficult must be true or false for each of the 2 boxes"):
        GroundTruth.from_arrays([1, 1], [1, 1], [PLAIN, HARD], difficult=flags)


def test_xml_says_which_objects_are_difficult(tmp_path) -> None:
    """The flag of VOC's annotations is read, in the order of the boxes; without it none is set."""
    entry = (
        "<object><name>cat</name>{}<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>"
        "</bndbox></object>"
    )
    flags = ("<difficult>0</difficult>", "<difficult> 1 </difficult>", "")
    (tmp_path / "1.xml").write_text(
        f"<annotation>{''.join(entry.format(flag) for flag in flags)}</annotation>"
    )
    assert [False, True, False] == read_ground_truth(tmp_path).truth.difficult.tolist()
    (tmp_path / "1.xml").write_text(f"<annotation>{entry.format(flags[0])}</annotation>")
    assert read_ground_truth(tmp_path).truth.difficult is None
    wrong = entry.format("<difficult>maybe</difficult>")
    (tmp_path / "1.xml").write_text(f"<annotation>{wrong}</annotation>")
    with pytest.raises(InputError, match="object 1, difficult: 'maybe' is neither 0 nor 1"):
        read_ground_truth(tmp_path)
