# SPDX-License-Identifier: Apache-2.0
"""Devices are ranked by their sums, and what they ran is compared."""

from __future__ import annotations

import csv
import io

import pytest

from referee.extras.aiotbench.ranking import of_implementation, of_model, rank_devices
from referee.extras.aiotbench.ranking_forms import (
    CSV_FIELDS,
    ranking_csv,
    ranking_page,
    ranking_report,
    ranking_text,
    sentences_of,
)
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import Tally, score_device


def device(**workloads):
    """Return the score of a device: for each workload right answers of 100, and seconds."""
    return score_device({name: Tally(100, *it) for name, it in workloads.items()})


# 72 % at 0.05 s are 14.4 VIPS, 76 % at 0.2 s are 3.8 VIPS, which are more VOPS.
PHONE = device(mo_tfc=(72, 5.0), mo_py=(72, 10.0))
TABLET = device(re_py=(76, 20.0))


def ranks(scores, by="vips"):
    """Return rank and name of each device."""
    return [(it.rank, it.device) for it in rank_devices(scores, by).devices]


def test_the_sum_ranks():
    """The formulas sum: VIPS and VOPS may order devices differently."""
    scores = {"tablet": TABLET, "phone": PHONE}
    assert [(1, "phone"), (2, "tablet")] == ranks(scores)
    scores["tablet"] = device(re_py=(76, 10.0))
    assert [(1, "tablet"), (2, "phone")] == ranks(scores, "vops")


def test_equal_devices_share_a_rank_and_others_have_none():
    """Twins share a rank, the next one is left out; ONNX Runtime alone gives no rank."""
    scores = {"x": device(mo_ort=(99, 1.0)), "a": TABLET, "b": PHONE, "c": PHONE}
    assert [(1, "b"), (1, "c"), (3, "a"), (None, "x")] == ranks(scores)


def test_what_all_ran_is_compared_apart():
    """The sum over common workloads compares like with like, and unlike sets are told."""
    both = device(mo_tfc=(72, 10.0), re_py=(76, 20.0))
    ranking = rank_devices({"phone": PHONE, "board": both})
    assert ("mo_tfc",) == ranking.common and not ranking.comparable
    common = {it.device: it.common_vips for it in ranking.devices}
    assert {"phone": pytest.approx(14.4), "board": pytest.approx(7.2)} == common
    told, *_ = sentences_of(ranking)
    assert "different workloads" in told and "Common to all: mo_tfc" in told
    assert rank_devices({"a": PHONE, "b": PHONE}).comparable
    assert () == rank_devices({"a": PHONE, "b": TABLET}).common


def test_models_and_frameworks_are_compared():
    """A model has its fastest framework on each device; a framework its wins among models."""
    ranking = rank_devices({"phone": PHONE, "tablet": TABLET})
    mobilenet = next(it for it in DRAFT_1_1.models if it.code == "mo")
    ((name, found),) = of_model(ranking, mobilenet)
    assert ("phone", "mo_tfc") == (name, found.workload.workload_id)
    figures = {it.code: dict(of_implementation(ranking, it)) for it in DRAFT_1_1.implementations}
    tfc, py = figures["tfc"]["phone"], figures["py"]["phone"]
    assert (1, 1, 1) == (tfc.models, tfc.fastest, tfc.compared)
    assert (1, 0, 1) == (py.models, py.fastest, py.compared)
    # Nothing is fastest where nothing else runs the model.
    assert (0, 0) == (figures["py"]["tablet"].fastest, figures["py"]["tablet"].compared)


def test_an_accuracy_far_from_table_1_is_named():
    """Ten points away over 500 images is hardly this network; few images say nothing."""
    far = score_device({"mo_tfc": Tally(500, 300, 5.0), "re_py": Tally(499, 10, 5.0)})
    unproved, told = sentences_of(rank_devices({"phone": far}))
    assert "phone, Nothing but the accuracy" in unproved
    assert "phone, mo_tfc: 60 % right is 12 points below the 72 % of table 1" in told


def test_every_form_has_every_device():
    """JSON, CSV, text and page have the same devices; names are escaped in the page."""
    ranking = rank_devices({"a <phone>": PHONE, "tablet": TABLET})
    report = ranking_report(ranking, DRAFT_1_1)
    assert ["a <phone>", "tablet"] == [it["device"] for it in report["devices"]]
    assert {"rank", "vips", "vops", "workloads"} <= report["devices"][0].keys()
    assert pytest.approx(21.6) == report["devices"][0]["vips"]["sum"]
    rows = list(csv.DictReader(io.StringIO(ranking_csv(ranking))))
    assert list(CSV_FIELDS) == list(rows[0]) and 3 == len(rows)
    assert ("0.72", "0.72") == (rows[0]["accuracy"], rows[0]["reference_accuracy"])
    text = ranking_text(ranking, DRAFT_1_1)
    assert "a <phone>" in text and "72.00 %, 50 ms (tfc)" in text
    page = ranking_page(ranking, DRAFT_1_1)
    assert "a &lt;phone&gt;" in page and "<phone>" not in page and "<script" not in page
