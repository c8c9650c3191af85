# SPDX-License-Identifier: Apache-2.0
"""Misuse of the library ends in a sentence, and never in a traceback or a wrong number."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import referee.scoring as scoring
from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.errors import ArgumentError

TRUTH = scoring.GroundTruth.from_arrays(
    [1, 2, 3], [1, 1, 2], [[0, 0, 9, 9]] * 3, classes={1: "<b>cat</b>", 2: "dog"}
)
FOUND = scoring.Detections.from_arrays([1, 2], [1, 1], [0.5, 0.4], [[0, 0, 9, 9]] * 2)
RESULT = scoring.evaluate(TRUTH, FOUND)
MEASURED = scoring.measure_uncertainty(RESULT, 5)
assert MEASURED is not None
BOX = [[0, 0, 9, 9], [0, 0, 9, 9]]


class Tensor:
    """What a library of tensors gives numpy when it will not give an array."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __array__(self, *_: object, **__: object) -> Any:
        """Refuse, as a tensor with a gradient or on another device does."""
        raise self.error


GRADIENT = Tensor(RuntimeError("Can't call numpy() on Tensor that requires grad."))
DEVICE = Tensor(TypeError("can't convert cuda:0 device type tensor to numpy."))
MASKED = np.ma.masked_array([0.5, 0.4], mask=[False, True])


def found(**change: Any) -> object:
    """Build detections with one column changed."""
    columns = {"image_id": [1, 2], "class_id": [1, 1], "confidence": [0.5, 0.4], "box": BOX}
    return scoring.Detections.from_arrays(**{**columns, **change})


def boxes(**change: Any) -> object:
    """Build ground truth with one column changed."""
    columns = {"image_id": [1, 2], "class_id": [1, 1], "box": BOX}
    return scoring.GroundTruth.from_arrays(**{**columns, **change})


CALLS = {
    "swapped": (lambda: scoring.evaluate(FOUND, TRUTH), "truth is Detections: give GroundTruth"),
    "lists": (lambda: scoring.evaluate([1], [2]), "truth is list"),
    "a path": (lambda: scoring.evaluate(TRUTH, "team.csv"), "detections is 'team.csv'"),
    "nothing": (lambda: scoring.evaluate(None, FOUND), "truth is None"),
    "at, swapped": (lambda: scoring.evaluate_at(FOUND, TRUTH, [0.5]), "truth is Detections"),
    "at, one": (lambda: scoring.evaluate_at(TRUTH, FOUND, 0.5), "give several numbers"),
    "at, text": (lambda: scoring.evaluate_at(TRUTH, FOUND, "0.5"), "give several numbers"),
    "at, texts": (lambda: scoring.evaluate_at(TRUTH, FOUND, ["0.5"]), "iou_cap is '0.5'"),
    "at, None": (lambda: scoring.evaluate_at(TRUTH, FOUND, [None]), "iou_cap is None"),
    "coco, swapped": (lambda: scoring.evaluate_coco(FOUND, TRUTH), "truth is Detections"),
    "coco, list": (lambda: scoring.evaluate_coco(TRUTH, [1]), "results is list"),
    "coco, one": (lambda: scoring.evaluate_coco(TRUTH, FOUND, ious=0.5), "several numbers"),
    "coco, texts": (lambda: scoring.evaluate_coco(TRUTH, FOUND, ious=["a"]), "an IoU is 'a'"),
    "coco, NaN": (lambda: scoring.evaluate_coco(TRUTH, FOUND, ious=[math.nan]), "finite"),
    "live": (lambda: scoring.LiveScore(TRUTH).add([1]), "detections is list"),
    "live, swapped": (lambda: scoring.LiveScore(FOUND), "truth is Detections"),
    "confusion": (lambda: scoring.confusion(FOUND, TRUTH), "truth is Detections"),
    "confusion, text": (lambda: scoring.confusion(TRUTH, FOUND, min_confidence="x"), "number"),
    "measured": (lambda: scoring.measure_uncertainty(TRUTH), "result is GroundTruth"),
    "intervals": (lambda: scoring.score_intervals(RESULT, 0.5), "measured is IlsvrcResult"),
    "intervals, Wh": (lambda: scoring.score_intervals(MEASURED, 0.5), "energy is float"),
    "level": (lambda: MEASURED.interval("0.95"), "the level is '0.95'"),
    "no level": (lambda: MEASURED.interval(None), "the level is None"),
    "energy, text": (lambda: scoring.Energy("1"), "the energy in Wh is '1': give a number"),
    "energy, None": (lambda: scoring.Energy(None), "the energy in Wh is None"),
    "energy, True": (lambda: scoring.Energy(True), "the energy in Wh is True: give a number"),
    "energy, numpy": (lambda: scoring.Energy(np.bool_(True)), "give a number"),
    "energy, ± False": (
        lambda: scoring.Energy(1, False),
        "uncertainty of the energy in Wh is False",
    ),
    "energy, ±": (lambda: scoring.Energy(1, "0"), "the uncertainty of the energy in Wh is '0'"),
    "energy, five": (lambda: scoring.Energy(1, 0.2), "five times its standard uncertainty"),
    "spread": (lambda: scoring.spread_of(MEASURED, 2), "pairs is"),
    "spread, results": (lambda: scoring.spread_of([RESULT], 2), "a pair is IlsvrcResult"),
    "score, text": (lambda: scoring.score("0.5", 1), "mean_ap is '0.5'"),
    "score, Wh": (lambda: scoring.score(0.5, "1"), "energy_wh is '1'"),
    "score, True": (lambda: scoring.score(True, 1), "mean_ap is True"),
    "accuracy, minus": (lambda: scoring.normalized_accuracy(0.5, -1, 4), "is -1: give a whole"),
    "accuracy, no set": (lambda: scoring.normalized_accuracy(0.5, 0, -4), "set_size is -4"),
    "accuracy, True": (lambda: scoring.normalized_accuracy(0.5, True, 4), "processed is True"),
    "classes, True": (lambda: scoring.confusion(TRUTH, FOUND).between(True, 1), "class True is"),
    "accuracy, NaN": (lambda: scoring.normalized_accuracy(math.nan, 40, 200), "mean_ap is nan"),
    "accuracy, text": (lambda: scoring.normalized_accuracy("1", 40, 200), "mean_ap is '1'"),
    "accuracy, count": (lambda: scoring.normalized_accuracy(0.5, math.nan, 200), "is nan"),
    "accuracy, half": (lambda: scoring.normalized_accuracy(0.5, 1.5, 200), "whole number"),
    "accuracy, None": (lambda: scoring.normalized_accuracy(0.5, None, 200), "processed is None"),
    "accuracy, swapped": (lambda: scoring.normalized_accuracy(0.5, 200, 40), "more than the 40"),
    "report": (lambda: scoring.ilsvrc_report(TRUTH), "result is GroundTruth"),
    "table": (lambda: scoring.classes_csv(FOUND, {}), "result is Detections"),
    "names": (lambda: scoring.classes_csv(RESULT, ["cat"]), "class_names is list"),
    "curves": (lambda: list(scoring.curves_csv(FOUND)), "result is Detections"),
    "load": (lambda: scoring.load_ground_truth(None), "path is NoneType"),
    "load, swapped": (lambda: scoring.load_detections(TRUTH, "x"), "path is GroundTruth"),
    "load, truth": (lambda: scoring.load_detections("x", "y"), "truth is 'y'"),
    "rules, text": (lambda: scoring.Rules("a", "1", iou_cap="0.5"), "iou_cap is '0.5'"),
    "rules, None": (lambda: scoring.Rules("a", "1", tolerance_px=None), "tolerance_px is None"),
    "rules, no": (lambda: scoring.Rules("a", "1", strict="no"), "strict is 'no': give True or"),
    "made of lists": (lambda: scoring.Detections([1], [1], [1.0], BOX), "from_arrays"),
    "truth of lists": (lambda: scoring.GroundTruth([1], [1], [1], [1], BOX, [], {}), "from_arrays"),
    "coco of lists": (lambda: CocoResults([1], [1], [1.0], BOX), "CocoResults.from_arrays"),
    "coco truth": (lambda: CocoTruth([1], [1], [1], [1], BOX, [1], [0]), "CocoTruth.from_arrays"),
    "texts": (lambda: found(confidence=["0.5", "0.4"]), "confidence must be numbers"),
    "None inside": (lambda: found(confidence=[0.5, None]), "confidence must be numbers: one is"),
    "box of texts": (lambda: found(box=[["1", "2", "3", "4"]] * 2), "box must be numbers"),
    "complex": (lambda: found(confidence=np.array([1j, 2])), "confidence must be numbers"),
    "dates": (lambda: found(confidence=np.array(["2026-01-01"] * 2, "M8[D]")), "must be numbers"),
    "masked": (lambda: found(confidence=MASKED), "confidence has 1 masked values"),
    "masked ids": (lambda: found(image_id=np.ma.masked_equal([1, 2], 2)), "1 masked"),
    "masked flags": (lambda: boxes(difficult=np.ma.masked_equal([0, 1], 1)), "1 masked"),
    "masked crowd": (
        lambda: CocoTruth.from_arrays([1], [1], [[0, 0, 9, 9]], crowd=np.ma.masked_equal([1], 1)),
        "1 masked",
    ),
    "gradient": (lambda: found(box=GRADIENT), "box cannot become an array of numpy: Can't call"),
    "device": (lambda: found(image_id=DEVICE), "image_id cannot become an array of numpy"),
    "odd pairs": (lambda: boxes(blacklist=[1, 1, 2]), r"blacklist must have pairs .*\(3,\)"),
    "list of names": (lambda: boxes(classes=["cat"]), "class ids"),
    "too few names": (lambda: boxes(classes={2: "cat"}), "of class 1, which is not listed"),
    "clusters": (lambda: scoring.measure_uncertainty(RESULT, 5, clusters=7), "clusters is 7"),
    "clusters beside": (
        lambda: scoring.compare(MEASURED, MEASURED, clusters=[1, 1, 2]),
        "clusters are for results",
    ),
}


SHAPES = (np.array([1, 2]), np.array([[1, 2], [3, 4]]), np.zeros(2, [("a", int)]), np.array(1.5))
CROSSED = scoring.confusion(TRUTH, FOUND)
COCO = scoring.evaluate_coco(TRUTH, FOUND)
TAKES_NO_ARRAY = {
    "rules": lambda it: scoring.evaluate(TRUTH, FOUND, it),
    "iou": lambda it: COCO.average_precision(it),
    "size": lambda it: COCO.average_precision(size=it),
    "category": lambda it: COCO.average_precision(category_id=it),
    "form": lambda it: boxes(box_format=it),
    "form, sizes": lambda it: found(box_format=it, sizes={1: (10, 10), 2: (10, 10)}),
    "strict": lambda it: scoring.Rules("a", "1", strict=it),
    "draws": lambda it: scoring.measure_uncertainty(RESULT, it),
    "first": lambda it: scoring.compare(it, MEASURED),
    "energy": lambda it: scoring.compare(MEASURED, MEASURED, it, it),
    "class": lambda it: CROSSED.between(it, 1),
    "most": lambda it: CROSSED.most(it),
    "a detector": lambda it: scoring.evaluate(TRUTH, it),
    "a table": lambda it: scoring.to_frame({1: it}),
}


@pytest.mark.parametrize("case", TAKES_NO_ARRAY)
def test_an_array_in_the_place_of_a_value_ends_in_a_sentence(case: str) -> None:
    """An array is no name, no flag and no number; numpy's own words about its truth never come."""
    for given in SHAPES:
        with pytest.raises((ArgumentError, scoring.InputError)) as told:
            TAKES_NO_ARRAY[case](given)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: scoring.evaluate_at(TRUTH, FOUND, np.array(0.5)), "give several numbers"),
        (lambda: scoring.spread_of(np.array(1.0), 2), "pairs is array"),
        (lambda: scoring.measure_uncertainty(RESULT, 5, clusters=np.array(7)), "clusters is array"),
        (lambda: scoring.measure_uncertainty(RESULT, 10**400), "give 1000000 at most"),
        (lambda: scoring.to_frame({1: "a"}), "a curve is 'a': give Curve"),
        (lambda: CROSSED.most(-1), "count is -1"),
        (lambda: scoring.evaluate_coco(TRUTH, FOUND, evaluator=[1]), "is not installed"),
        (lambda: scoring.Detections(*[np.array(1)] * 4), "vectors of one length"),
    ],
)
def test_values_of_an_odd_form_end_in_a_sentence(call: Any, sentence: str) -> None:
    """What has no members, is far too many, or is of no kind at all is told as it is."""
    with pytest.raises(scoring.InputError, match=sentence):
        call()


def test_a_level_of_another_kind_of_number_counts() -> None:
    """A decimal and a fraction are levels, and the interval names a float."""
    for level in (Decimal("0.9"), Fraction(9, 10), np.float64(0.9)):
        interval = MEASURED.interval(level)  # type: ignore[arg-type]
        assert MEASURED.interval(0.9) == interval and type(interval.level) is float
        assert scoring.score_intervals(MEASURED, scoring.Energy(1), level)  # type: ignore[arg-type]


@pytest.mark.parametrize("class_id", [7, None, [1], np.array([1, 2]), "1"])
def test_a_class_without_a_curve_is_a_key_that_is_not_there(class_id: Any) -> None:
    """Whatever is no listed class is a KeyError with a sentence."""
    with pytest.raises(KeyError, match="is not listed"):
        RESULT.precision_recall(class_id)


@pytest.mark.parametrize("case", CALLS)
def test_misuse_ends_in_a_sentence(case: str) -> None:
    """A wrong argument is named, with what was given or what is to be done."""
    call, sentence = CALLS[case]
    with pytest.raises(ArgumentError, match=sentence) as told:
        call()
    assert isinstance(told.value, ValueError) and "\n" not in str(told.value)


def test_numbers_of_other_kinds_count() -> None:
    """Whatever is a number is taken: decimals, fractions, unmasked masked arrays."""
    exact = found(confidence=[Decimal("0.5"), Fraction(2, 5)])
    assert [0.5, 0.4] == exact.confidence.tolist()  # type: ignore[attr-defined]
    whole = found(confidence=np.ma.masked_array([0.5, 0.4]), image_id=np.array([1.0, 2.0]))
    assert [0.5, 0.4] == whole.confidence.tolist()  # type: ignore[attr-defined]
    assert 2.0 == scoring.score(np.float32(0.5), Fraction(1, 4))  # type: ignore[arg-type]
    assert 0.25 == scoring.Energy(Fraction(1, 4)).wh  # type: ignore[arg-type]


def test_a_series_of_clusters_is_aligned_or_refused() -> None:
    """A Series says by its index which image each cluster is of, in whatever order it lies."""
    pandas = pytest.importorskip("pandas", reason="needs the extra pandas")
    shuffled = pandas.Series(["b", "a", "a", "z"], index=[3, 1, 2, 99])
    aligned = scoring.measure_uncertainty(RESULT, 5, clusters=shuffled)
    plain = scoring.measure_uncertainty(RESULT, 5, clusters={1: "a", 2: "a", 3: "b"})
    assert aligned is not None and plain is not None
    assert plain.halves.cluster.tolist() == aligned.halves.cluster.tolist()
    for series, fault in (
        (pandas.Series(["a", "a", "b"]), "the index of the clusters has no image 3"),
        (pandas.Series(["a", "a", "b"], index=["1", "2", "3"]), "has no image 1"),
        (pandas.Series(["a", "a", "b", "b"], index=[1, 2, 3, 3]), "names an image twice"),
        (pandas.Series(["a", None, "b"], index=[1, 2, 3]), "image 2 has no cluster"),
        (pandas.Series([1, pandas.NA, 2], index=[1, 2, 3], dtype="Int64"), "image 2 has no"),
        (pandas.DataFrame({"film": [1, 1, 2]}, index=[1, 2, 3]), "clusters is a table"),
    ):
        with pytest.raises(ArgumentError, match=fault):
            scoring.measure_uncertainty(RESULT, 5, clusters=series)


def test_results_never_change() -> None:
    """Neither its dicts nor its arrays can be changed, nor what it was made of, behind its back."""
    truth = scoring.GroundTruth.from_arrays([1], [1], [[0, 0, 9, 9]])
    rows = scoring.Detections.from_arrays([1], [1], [0.5], [[0, 0, 9, 9]])
    result = scoring.evaluate(truth, rows)
    before = (scoring.ilsvrc_report(result), result.explain().iou.tolist())
    truth.box[0] = rows.box[0] = [90, 90, 99, 99]
    truth.box_class_id[0] = truth.image_ids[0] = 7
    assert before == (scoring.ilsvrc_report(result), result.explain().iou.tolist())
    coco = scoring.evaluate_coco(TRUTH, FOUND)
    for mapping in (result.ap, result.grouped_ap, result.ignored, coco.numbers, coco.ap):
        with pytest.raises(TypeError, match="change a copy"):
            mapping.clear()
    measured = scoring.measure_uncertainty(result, 5)
    assert measured is not None
    fates, curve = result.explain(), result.curves()[1]
    for array in (
        *(fates.fate, fates.truth_row, fates.iou, fates.missed),
        *(curve.recall, curve.precision, curve.confidence, result.image_ids),
        *(scoring.confusion(TRUTH, FOUND).matrix, result.truth.box),
        *(measured.halves.halves, measured.halves.quarters, measured.halves.parts),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (TRUTH, "<GroundTruth images: 3, classes: 2, boxes: 3>"),
        (FOUND, "<Detections rows: 2, images: 2, classes: 1>"),
        (RESULT, "<IlsvrcResult mAP: 0.5, rules: ilsvrc-devkit, classes: 2 of 2 with"),
        (scoring.evaluate_coco(TRUTH, FOUND), "<CocoResult AP: 0.5"),
        (CocoTruth.from_ground_truth(TRUTH), "<CocoTruth images: 3, categories: 2, boxes: 3"),
        (CocoResults.from_detections(FOUND), "<CocoResults rows: 2"),
        (scoring.confusion(TRUTH, FOUND), "<Confusion classes: 2, found: 2"),
        (RESULT.explain(), "<Fates true positive: 2, missed truth boxes: 1>"),
        (RESULT.curves()[1], "<Curve points: 2"),
    ],
)
def test_a_value_has_a_short_form_and_one_for_notebooks(value: Any, words: str) -> None:
    """The form in a console is one line without arrays, the HTML form escapes every name."""
    assert repr(value).startswith(words) and "\n" not in repr(value) and len(repr(value)) < 400
    html = value._repr_html_()
    assert html.startswith(f"<b>{type(value).__name__}</b><table>")
    assert "<b>cat" not in html


def test_the_html_of_a_result_shows_its_classes() -> None:
    """A result's table has the first classes, and says how many more there are."""
    assert "&lt;b&gt;cat" in RESULT._repr_html_()
    many = scoring.GroundTruth.from_arrays([1] * 30, range(30), [[0, 0, 9, 9]] * 30)
    html = scoring.evaluate(many, scoring.Detections.empty())._repr_html_()
    assert "and 20 more" in html and html.count("<tr>") < 25


def test_what_was_measured_on_something_else_is_not_compared() -> None:
    """Other images, other truth boxes or other rules of equal count are refused by name."""
    box = [[0, 0, 9, 9], [0, 0, 9, 9], [0, 0, 9, 9]]
    other_images = scoring.GroundTruth.from_arrays([1, 2, 4], [1, 1, 2], box)
    other_truth = scoring.GroundTruth.from_arrays([1, 2, 3], [1, 2, 2], box)
    for truth, rules, what in (
        (other_images, "devkit", "images"),
        (other_truth, "devkit", "ground truth"),
        (TRUTH, "strict", "rules"),
        (TRUTH, "fixed-0.5", "rules"),
    ):
        other = scoring.evaluate(truth, FOUND, rules)
        measured = scoring.measure_uncertainty(other, 5)
        for pair in ((RESULT, other), (MEASURED, measured)):
            with pytest.raises(ArgumentError, match=f"do not have the same {what}$"):
                scoring.compare(*pair, draws=5)  # type: ignore[arg-type]


def test_the_same_truth_from_elsewhere_is_compared() -> None:
    """Ground truth in another order, and rules of another name, are the same."""
    again = scoring.GroundTruth.from_arrays(
        [3, 2, 1], [2, 1, 1], [[-0.0, 0, 9, 9]] * 3, classes={1: "dog", 2: "cat"}
    )
    other = scoring.evaluate(again, FOUND, scoring.Rules("mine", "7"))
    assert 0.0 == scoring.compare(RESULT, other, draws=5).difference


def test_an_uncertainty_is_shown_in_a_line() -> None:
    """Neither a console nor a notebook gets all draws."""
    measured = scoring.measure_uncertainty(RESULT, 500)
    assert len(repr(measured)) < 200
    assert "interval" in measured._repr_html_()
