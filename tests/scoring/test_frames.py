# SPDX-License-Identifier: Apache-2.0
"""Results as DataFrames, and what is said where pandas is not installed."""

from __future__ import annotations

import sys

import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import ArgumentError, InputError
from referee.scoring.class_confusion import confusion
from referee.scoring.coco import evaluate_coco
from referee.scoring.frames import to_frame
from referee.scoring.ilsvrc import evaluate

TRUTH = GroundTruth.from_arrays(
    [1, 1, 2],
    [1, 1, 2],
    [[10, 10, 109, 59], [200, 40, 215, 51], [60, 30, 149, 89]],
    classes={1: "=cat", 2: "None", 3: "cow"},
)
FOUND = Detections.from_arrays(
    [1, 2, 2],
    [1, 1, 2],
    [0.9, 0.8, 0.7],
    [[10, 10, 109, 59], [60, 30, 149, 89], [60, 30, 149, 89]],
)


@pytest.fixture(scope="module")
def pandas():
    """Return pandas, which an extra brings."""
    return pytest.importorskip("pandas", reason="needs the extra pandas")


def test_the_classes_of_a_result(pandas):
    """A row for each listed class has its counts and APs; names are whatever they are."""
    frame = to_frame(evaluate(TRUTH, FOUND), TRUTH.class_names)
    assert [1, 2, 3] == frame.index.tolist()
    assert ["=cat", "None", "cow"] == frame["name"].tolist()
    assert [2, 1, 0] == frame.truth_boxes.tolist()
    assert [0.5, 1.0] == frame.average_precision[:2].tolist()
    assert pandas.isna(frame.average_precision[3])
    assert frame.average_precision.mean() == evaluate(TRUTH, FOUND).mean_ap


def test_the_curves_and_the_fates(pandas):
    """Curves have a row for each point, fates one for each detection."""
    result = evaluate(TRUTH, FOUND)
    curves = to_frame(result.curves())
    assert [(1, 0.9), (1, 0.8), (2, 0.7)] == list(
        zip(curves.class_id, curves.confidence, strict=True)
    )
    fates = to_frame(result.explain())
    assert ["true_positive", "wrong_class", "true_positive"] == fates.fate.tolist()
    nothing = to_frame({})
    assert (0, ["class_id", "confidence", "recall", "precision"]) == (
        len(nothing),
        nothing.columns.tolist(),
    )


def test_the_precisions_of_coco(pandas):
    """COCO's APs have a row for each IoU and a column for each size; what is not there is NaN."""
    frame = to_frame(evaluate_coco(TRUTH, FOUND, ious=(0.5, 0.75), evaluator="pycocotools"))
    assert ([0.5, 0.75], "iou") == (frame.index.tolist(), frame.index.name)
    assert ["all", "small", "medium", "large"] == frame.columns.tolist()
    assert pandas.isna(frame.large).all()


def test_the_confusion_of_classes(pandas):
    """Rows are classes of boxes, columns those of detections, by name."""
    frame = to_frame(confusion(TRUTH, FOUND))
    assert 1 == frame.loc["None", "None"]
    assert 1 == frame.loc["nothing", "=cat"]
    assert 1 == frame.loc["=cat", "nothing"]


def test_what_has_no_table_is_told(pandas):
    """Anything else is refused with what has a table."""
    with pytest.raises(ArgumentError, match="float has no table: give a result"):
        to_frame(0.5)


def test_without_pandas_it_says_what_to_install(monkeypatch):
    """Without pandas there is a sentence, and nothing else of the library needs it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        to_frame(evaluate(TRUTH, FOUND))
