# SPDX-License-Identifier: Apache-2.0
"""The tables of classes and of curves hold the result's numbers, to the last bit."""

from __future__ import annotations

import csv
import io

from referee.scoring.class_tables import classes_csv, curves_csv
from referee.scoring.ilsvrc import evaluate
from tests.support.scoring_cases import make_detections, make_truth

TRUTH = make_truth(
    [1, 2], [1, 2, 3], [(1, 1, (0, 0, 9, 9)), (2, 1, (0, 0, 9, 9)), (1, 2, (0, 0, 9, 9))]
)
ROWS = [(1, 1, 0.3, (0, 0, 9, 9)), (2, 1, 0.1, (50, 50, 59, 59)), (1, 3, 0.9, (0, 0, 9, 9))]
RESULT = evaluate(TRUTH, make_detections(ROWS))


def test_classes_have_a_row_each_and_empty_ap_without_ground_truth() -> None:
    """A name with a comma and quotes comes back whole, and so does each AP."""
    rows = list(csv.DictReader(io.StringIO(classes_csv(RESULT, {1: 'a "small", cat'}))))
    assert ["1", "2", "3"] == [row["class_id"] for row in rows]
    assert ['a "small", cat', "", ""] == [row["name"] for row in rows]
    assert [("2", "2", "1"), ("1", "0", "0"), ("0", "1", "0")] == [
        (row["truth_boxes"], row["detections"], row["true_positives"]) for row in rows
    ]
    assert "" == rows[2]["average_precision"] == rows[2]["grouped_average_precision"]
    assert RESULT.ap[1] == float(rows[0]["average_precision"])


def test_curves_are_read_back_without_a_change() -> None:
    """The table has the points of each class with ground truth, in order, bit for bit."""
    rows = list(csv.DictReader(io.StringIO("".join(curves_csv(RESULT)))))
    curve = RESULT.precision_recall(1)
    assert ["1", "1"] == [row["class_id"] for row in rows]
    for column in ("confidence", "recall", "precision"):
        assert getattr(curve, column).tolist() == [float(row[column]) for row in rows]
