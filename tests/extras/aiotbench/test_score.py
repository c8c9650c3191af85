# SPDX-License-Identifier: Apache-2.0
"""VIPS and VOPS are what the specification's formulas say, and the rules are its table 1."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.commands.energy import wh_per_1000_images
from referee.extras.aiotbench.networks import ModelFacts, RanModel
from referee.extras.aiotbench.report import score_report, submission_report
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import Tally, score_device
from referee.extras.aiotbench.submission import (
    open_points,
    other_networks,
    remarks,
    unproved_networks,
)

# The worked example: 72 % at 0.05 s with 300 M, and 76 % at 0.2 s with 3,800 M operations.
EXAMPLE = {"mo_tfc": Tally(100, 72, 5.0), "re_py": Tally(100, 76, 20.0)}
MILLION = 1e6
CONFIGURATION = {"hardware": {"device": "a board"}, "software": {"system": "Linux"}}

tallies = st.builds(
    lambda images, share, time_s: Tally(images, int(share * images), time_s * images),
    st.integers(1, 50_000),
    st.floats(0, 1),
    st.floats(1e-6, 1e3),
)


def complete() -> dict[str, Tally]:
    """Return a full set of workloads, with all images."""
    return {name: Tally(50_000, 35_000, 2_500.0) for name in DRAFT_1_1.official_ids()}


def test_the_worked_example():
    """0.72 at 0.05 s and 300 M gives 14.4 and 4,320 M/s; with the second test 18.2 and 18,760."""
    score = score_device(EXAMPLE)
    resnet, mobilenet = score.workloads
    assert (0.72, 0.05, 14.4, 4320 * MILLION) == (
        mobilenet.accuracy,
        mobilenet.mean_time_s,
        mobilenet.vips,
        mobilenet.vops,
    )
    assert (3.8, 14440 * MILLION) == (resnet.vips, resnet.vops)
    assert (18.2, 18760 * MILLION) == (score.vips.sum, score.vops.sum)
    assert (9.1, 9380 * MILLION) == (score.vips.average, score.vops.average)
    assert (14.4, 14440 * MILLION) == (score.vips.maximum, score.vops.maximum)


@pytest.mark.parametrize(
    ("code", "name", "flops_m", "parameters_m", "percent"),
    [
        ("re", "ResNet50", 3800, 25.6, 76),
        ("in", "InceptionV3", 5000, 23.2, 78.8),
        ("de", "DenseNet121", 2800, 8, 74),
        ("sq", "SqueezeNet", 833, 1.25, 57.5),
        ("mo", "MobileNetV2", 300, 3.4, 72),
        ("mn", "MnasNet", 315, 3.9, 75.2),
    ],
)
def test_the_rules_are_table_one(code, name, flops_m, parameters_m, percent):
    """Each row of the data is the row of table 1, in the units of its columns."""
    (model,) = (it for it in DRAFT_1_1.models if it.code == code)
    assert name == model.name
    assert (flops_m, parameters_m) == (model.flops / MILLION, model.parameters / MILLION)
    assert percent == pytest.approx(100 * model.reference_accuracy, abs=1e-12)


def test_there_are_24_official_workloads():
    """Six models and four implementations make 24 ids, written as mo_tfc."""
    ids = DRAFT_1_1.official_ids()
    assert (24, 24) == (len(ids), len(set(ids)))
    assert {
        f"{model}_{code}"
        for model in "re in de sq mo mn".split()
        for code in ("py", "ca", "tfc", "tfn")
    } == set(ids)


@given(st.dictionaries(st.sampled_from(list(DRAFT_1_1.by_id())), tallies, min_size=1))
def test_any_set_of_workloads_follows_the_formulas(found):
    """The sums are those of the formulas, literally, and the missing workloads are the others."""
    score = score_device(found)
    official = [name for name in DRAFT_1_1.official_ids() if name in found]
    assert [name for name in DRAFT_1_1.official_ids() if name not in found] == list(score.missing)
    assert len(found) - len(official) == len(score.additional)
    if not official:
        assert (None, None) == (score.vips, score.vops)
        return
    vips, vops = [], []
    for name in official:
        accuracy = found[name].right / found[name].images
        time_s = found[name].total_time_s / found[name].images
        vips.append(accuracy * (1 / time_s))
        vops.append(accuracy * DRAFT_1_1.by_id()[name].model.flops * (1 / time_s))
    for figures, values in ((score.vips, vips), (score.vops, vops)):
        assert math.fsum(values) == pytest.approx(figures.sum, rel=1e-12)
        assert math.fsum(values) / len(values) == pytest.approx(figures.average, rel=1e-12)
        assert max(values) == pytest.approx(figures.maximum, rel=1e-12)


def test_additions_never_enter_a_figure():
    """A workload outside the official set changes no figure and is not missing."""
    with_addition = score_device(EXAMPLE | {"mo_ort": Tally(100, 100, 0.1)})
    without = score_device(EXAMPLE)
    assert (without.vips, without.vops) == (with_addition.vips, with_addition.vops)
    assert without.missing == with_addition.missing
    assert ["mo_ort"] == [it.workload.workload_id for it in with_addition.additional]


def test_unknown_workloads_are_a_mistake_of_the_caller():
    """An id that the rules do not have raises KeyError."""
    with pytest.raises(KeyError, match="xx_py"):
        score_device({"xx_py": Tally(1, 1, 1.0)})


def test_the_report_has_exactly_the_published_fields():
    """JSON has vips, vops, workloads, missing and models, with the accuracy as a fraction."""
    report = score_report(score_device(EXAMPLE))
    assert {"vips", "vops", "workloads", "missing", "models"} == report.keys()
    assert {"mo_tfc": None, "re_py": None} == report["models"]
    assert {"sum": 18.2, "average": 9.1, "maximum": 14.4} == report["vips"]
    assert {"accuracy": 0.72, "mean_time_s": 0.05, "images": 100} == report["workloads"]["mo_tfc"]
    assert 22 == len(report["missing"])


def test_without_official_workloads_the_figures_are_null():
    """Additions alone give no figures, and stand in a table of their own."""
    report = score_report(score_device({"mo_ort": Tally(10, 5, 1.0)}))
    assert {"sum": None, "average": None, "maximum": None} == report["vips"]
    assert {"mo_ort": {"accuracy": 0.5, "mean_time_s": 0.1, "images": 10}} == report["additional"]
    assert {} == report["workloads"]


def test_a_complete_result_is_a_submission():
    """All workloads, all images and a configuration leave no point open."""
    score = score_device(complete())
    assert [] == open_points(score, CONFIGURATION)
    report = submission_report(score, CONFIGURATION)
    assert ([], CONFIGURATION) == (report["open"], report["configuration"])
    assert {"vips": 14.0, "vops": 14.0 * 300e6} == report["scores"]["mo_tfc"]


def test_every_open_point_is_named():
    """A missing configuration, missing workloads and missing images each get a sentence."""
    found = complete()
    del found["in_ca"]
    found["mo_tfc"] = Tally(49_999, 30_000, 1.0)
    points = open_points(score_device(found), None)
    assert "--configuration FILE" in points[0]
    assert "1 of 24 workloads are missing: in_ca." == points[1]
    assert "The rules want 50000 images of each workload: mo_tfc 49999." == points[2]
    assert 3 == len(points)


def test_another_network_earns_nothing():
    """A workload with a network of 32x32 is in no figure, and missing; the others are as before."""
    models = {"re_py": RanModel("tiny.pt", "0" * 64, ModelFacts(32, 32, 3_000, 9_000))}
    score = score_device(EXAMPLE, models=models)
    alone = score_device({"mo_tfc": EXAMPLE["mo_tfc"]})
    assert (alone.vips, alone.vops, alone.missing) == (score.vips, score.vops, score.missing)
    assert ["re_py"] == [it.workload.workload_id for it in score.others]
    (told,) = other_networks(score)
    assert "The model of re_py is another network: its input is 32x32" in told
    assert told in open_points(score, CONFIGURATION)
    report = score_report(score)
    assert (["mo_tfc"], ["re_py"]) == (list(report["workloads"]), list(report["others"]))
    assert 3 == len(report["models"]["re_py"]["differences"])
    assert ["mo_tfc"] == list(score_report(alone)["workloads"])


def test_what_nobody_has_compared_is_told():
    """A model without figures of its network proves nothing; one that is right needs no word."""
    models = {
        "mo_tfc": RanModel("m.tflite", "0" * 64, ModelFacts(224, 224, 3_500_000, 301_000_000)),
        "re_py": RanModel("r.pt", "1" * 64, None),
    }
    score = score_device(EXAMPLE, models=models)
    (told,) = unproved_networks(score)
    assert "which network ran as re_py." in told
    assert () == score.others
    found = score_report(score)["models"]
    assert ([], None) == (found["mo_tfc"]["differences"], found["re_py"]["differences"])


def test_other_labels_are_noticed():
    """An accuracy of chance looks like a mistake, and is said."""
    (told,) = remarks(score_device({"mo_py": Tally(1000, 1, 10.0)}))
    assert "mo_py: 0.1 % right is no better than chance." in told
    assert [] == remarks(score_device(EXAMPLE))


# Mean times in seconds of a Pi Zero, a Pi 4 and phones, for models of 300 million to 5,000 million
# multiply-accumulates.
@pytest.mark.parametrize(
    ("workload", "mean_s"),
    [
        *(("mo_tfc", 1.3), ("mo_tfc", 0.08), ("mo_tfn", 0.004), ("sq_ca", 0.9)),
        *(("re_py", 1.2), ("re_tfc", 0.15), ("re_tfn", 0.02), ("in_py", 2.0), ("in_tfn", 0.035)),
    ],
)
def test_a_log_in_milliseconds_is_asked_about(workload, mean_s):
    """In seconds no time is odd, in a trial or over all images; in milliseconds each is."""
    for images in (100, 50_000):
        right = images // 2
        assert [] == remarks(score_device({workload: Tally(images, right, images * mean_s)}))
    (told,) = remarks(score_device({workload: Tally(50_000, 25_000, 50_000_000 * mean_s)}))
    assert f"{workload}: the mean time is {1000 * mean_s:g} s." in told
    assert f"add --time-unit ms: VIPS is {0.5 / mean_s:.6g}" in told


@pytest.mark.parametrize(("unit", "per_s"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_the_unit_is_the_one_in_which_the_times_are_possible(unit, per_s):
    """A clock of Android counts nanoseconds, and its log is no log of milliseconds."""
    (told,) = remarks(score_device({"mo_tfc": Tally(200, 144, 200 * 0.05 * per_s)}))
    assert f"add --time-unit {unit}: VIPS is 14.4, not" in told


def test_a_time_in_which_nothing_is_read_is_asked_about():
    """Ten microseconds are less than a picture needs to be read."""
    (told,) = remarks(score_device({"mo_tfc": Tally(100, 70, 0.001)}))
    assert "in which no device reads a picture" in told


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (Tally(100, 0, 5.0, one_above=72), "plus 1 in 72 of 100 lines, and equal in 0.000 %"),
        (Tally(100, 3, 5.0, one_below=70), "minus 1 in 70 of 100 lines, and equal in 3.000 %"),
    ],
)
def test_labels_that_are_one_off_are_named_with_the_accuracy_that_they_hide(tally, words):
    """The sentence has the share of shifted labels, and the accuracy of equal numbering."""
    (told,) = remarks(score_device({"mo_tfc": tally}))
    assert words in told
    assert f"accuracy is {tally.one_above + tally.one_below}.000 %" in told


def test_neighbours_that_a_good_network_takes_for_each_other_are_no_shift():
    """Four answers in a hundred name the next class, and 28 do while 72 are right."""
    for above in (4, 28):
        assert [] == remarks(score_device({"mo_tfc": Tally(100, 72, 5.0, one_above=above)}))


@pytest.mark.parametrize(
    ("pause", "short"),
    [
        ("300", False),
        ("300.0", False),
        ("1e9", False),
        ("299.9", True),
        ("0.0", True),
        ("5 min", True),
    ],
)
def test_a_pause_below_five_minutes_is_a_finding(pause, short):
    """Section 6 asks for five minutes between the tests; a pause that is no number proves none."""
    configuration = {"hardware": {"device": "a board"}, "software": {"cooling_s": pause}}
    points = open_points(score_device(complete()), configuration)
    assert [f"was {pause} s" in point for point in points] == [True] * short


def test_energy_counts_for_a_thousand_images():
    """2 Wh for 4,000 images are 0.5 Wh for 1,000."""
    assert 0.5 == wh_per_1000_images(2.0, 4000)
