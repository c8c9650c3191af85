# SPDX-License-Identifier: Apache-2.0
"""One bundle scored again: a pure function of the bundle's bytes, a ground truth, rules and a seed.

A bundle with many detections takes long to resample. So its draws can be made in blocks, by several
workers: each measures a block, and `joined` makes one measurement of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from referee.extras.season.bundle_read import BundleRead, digest_of_bundle, read_bundle
from referee.extras.season.choices import RESAMPLES
from referee.extras.season.fitting import fitted, truth_digest
from referee.extras.season.joint import grouped, joint_fields, seed_from
from referee.extras.season.rows import (
    BundleFields,
    NewResult,
    OldResult,
    Row,
    RowKey,
    ScoredRow,
    SessionFields,
    asked_key,
    broken_row,
    new_row,
)
from referee.extras.season.score_energy import divisor_or_why, no_score
from referee.scoring import (
    RULE_SETS,
    Energy,
    GroundTruth,
    IlsvrcResult,
    Interval,
    MapUncertainty,
    Rules,
    evaluate,
    ilsvrc_report,
    normalized_accuracy,
    score,
    score_intervals,
)
from referee.scoring.score_report import Report
from referee.scoring.split_half import Drawing
from referee.service.evidence.bundle_file import NotABundle


@dataclass(frozen=True)
class DrawBlock:
    """The draws that one worker makes: `count` of them, after the `first` ones of each seed."""

    first: int
    count: int


@dataclass(frozen=True, eq=False)
class BundleNumbers:
    """The numbers of one bundle under one set of rules; `joint_key` is that of the row.

    `report` has the counts and the mAP. `own` and `joint` are None without a mAP.
    """

    report: Report
    joint_key: str
    own: MapUncertainty | None
    joint: MapUncertainty | None


def score_bundle(
    path: str | PathLike[str],
    truth: GroundTruth,
    rules: Rules = RULE_SETS["devkit"],
    seed: int = 0,
    resamples: int = RESAMPLES,
    *,
    track: str | None = None,
) -> Row:
    """Score an evidence bundle again and return a row of a season's file, ready for JSON.

    The row depends on the file's bytes and the arguments alone. `truth` has its own image ids. The
    energy is the bundle's own. A bundle that cannot be scored gives a row with the status `broken`
    and the reason. Its track is one of the referee's own, or that of the module `track`, which the
    caller names. `docs/season.md` explains each field.
    """
    path = Path(path)
    key = asked_key(truth_digest(truth), rules, seed, resamples)
    file = f"{path.parent.name}/{path.name}"
    try:
        bundle = read_bundle(path, track)
        measured = measure(bundle, truth, rules, seed, resamples, DrawBlock(0, resamples))
        return row_of(key, bundle.sha256, bundle.told, measured, file)
    except NotABundle as error:
        return broken_row(key, _digest_or_none(path), reason_of(error), file)


def reason_of(error: NotABundle) -> str:
    """Return what is wrong with a bundle as one sentence."""
    member, what = error.finding.member, error.finding.what
    return f"{member}: {what}" if member else what


def measure(
    bundle: BundleRead,
    truth: GroundTruth,
    rules: Rules,
    seed: int,
    resamples: int,
    block: DrawBlock,
) -> BundleNumbers:
    """Evaluate a bundle, and make a block of the draws of both seeds.

    Raises `NotABundle` for a ground truth of other images or classes.
    """
    complete, images = fitted(truth, bundle)
    result = evaluate(complete, bundle.detections, rules)
    report = ilsvrc_report(result)
    report["normalized_accuracy"] = normalized_accuracy(
        result.mean_ap, bundle.images_answered, result.images
    )
    joint_key = f"{truth_digest(truth)[:16]}-{images[:16]}-{seed}-{resamples}"
    if result.mean_ap is None:
        return BundleNumbers(report, joint_key, None, None)
    drawing = Drawing(result)
    halves = drawing.halves(block.count, seed_from(bundle.sha256, str(seed)), first=block.first)
    common = drawing.halves(block.count, seed_from(joint_key), first=block.first)
    with_truth = _images_with_truth(result)
    return BundleNumbers(
        report,
        joint_key,
        MapUncertainty(result.mean_ap, grouped(halves), with_truth),
        MapUncertainty(result.mean_ap, grouped(common), with_truth),
    )


def joined(blocks: Sequence[BundleNumbers]) -> BundleNumbers:
    """Return one measurement of blocks in the order of their draws."""
    first = blocks[0]
    if first.own is None:
        return first
    return BundleNumbers(
        first.report,
        first.joint_key,
        _joined([block.own for block in blocks if block.own]),
        _joined([block.joint for block in blocks if block.joint]),
    )


def row_of(
    key: RowKey, bundle_sha256: str, session: SessionFields, measured: BundleNumbers, file: str = ""
) -> ScoredRow:
    """Return the row of a bundle: what it told itself, and what was measured."""
    old, new = session["old"], _new_result(measured, session["old"])
    reproduces = None
    if old is not None and (old["rules"], old["rules_version"]) == (key.rules, key.rules_version):
        reproduces = old["mean_ap"] == new["mean_ap"]
    drawn = measured.joint
    joint = None if drawn is None else joint_fields(measured.joint_key, drawn)
    fields: BundleFields = {**session, "new": new, "reproduces": reproduces, "joint": joint}
    return new_row(key, bundle_sha256, fields, file)


def _new_result(measured: BundleNumbers, old: OldResult | None) -> NewResult:
    """Return the result with its intervals.

    The AP of each class is left out: for a season they would be most of the file.
    """
    report, own = measured.report, measured.own
    energy_wh = old["energy_wh"] if old is not None and no_score(old) is None else None
    divisor = divisor_or_why(old)
    error = math.nan if own is None else own.standard_error()
    intervals = None
    if own is not None and isinstance(divisor, Energy):
        intervals = score_intervals(own, divisor)
    return {
        "mean_ap": report["mean_ap"],
        "mean_ap_interval": None if own is None else _ends(own.interval()),
        "mean_ap_standard_error": error if math.isfinite(error) else None,
        "score": score(report["mean_ap"], energy_wh),
        "score_interval": None if intervals is None else _ends(intervals.whole),
        "score_from_images": None if intervals is None else _ends(intervals.images),
        "score_from_energy": None if intervals is None else _ends(intervals.energy),
        "normalized_accuracy": report["normalized_accuracy"],
        "classes_with_ground_truth": report["classes_with_ground_truth"],
        "images": report["images"],
        "truth_boxes": report["truth_boxes"],
        "detections": report["detections"],
        "scored": report["scored"],
        "ignored": report["ignored"],
        "true_positives": report["true_positives"],
        "duplicates": report["duplicates"],
        "inverted": report["inverted"],
        "coordinate_not_finite": report["coordinate_not_finite"],
    }


def _joined(blocks: Sequence[MapUncertainty]) -> MapUncertainty:
    first = blocks[0]
    halves = replace(
        first.halves,
        halves=np.concatenate([block.halves.halves for block in blocks]),
        quarters=np.concatenate([block.halves.quarters for block in blocks]),
    )
    return MapUncertainty(first.estimate, halves, first.with_truth)


def _images_with_truth(result: IlsvrcResult) -> int:
    return len(np.unique(np.concatenate([images.truth for images in result.images_by_class()])))


def _ends(interval: Interval) -> list[float] | None:
    ends = [interval.low, interval.high]
    return ends if all(map(math.isfinite, ends)) else None


def _digest_or_none(path: Path) -> str | None:
    try:
        return digest_of_bundle(path)
    except NotABundle:
        return None
