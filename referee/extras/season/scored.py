# SPDX-License-Identifier: Apache-2.0
"""One bundle scored again: a pure function of the bundle's bytes, a ground truth, rules and a seed.

A bundle with many detections takes long to resample. So its draws can be made in blocks, by several
workers: each measures a block, and `joined` makes one measurement of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.extras.season.bundle_read import BundleRead, digest_of_bundle, read_bundle
from referee.extras.season.energy_told import divisor_or_why, no_score
from referee.extras.season.fitting import fitted, truth_digest
from referee.extras.season.joint import grouped, joint_fields, seed_from
from referee.extras.season.rows import Row, asked_key, broken_row, new_row
from referee.scoring.ilsvrc import evaluate
from referee.scoring.lpirc import normalized_accuracy, score
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules
from referee.scoring.score_report import ilsvrc_report
from referee.scoring.split_half import Drawing
from referee.scoring.uncertainty import Energy, Interval, MapUncertainty, score_intervals
from referee.service.evidence.bundle_file import NotABundle

RESAMPLES = 100
"""Draws of the images by default, as in `score.json`."""

# score.json has the AP of each class; for a season they would be most of the file.
_NOT_KEPT = ("metric", "rules", "rules_version", "classes", "ap", "grouped_ap", "grouped_mean_ap")


@dataclass(frozen=True)
class Block:
    """The draws that one worker makes: `count` of them, after the `first` ones of each seed."""

    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Measured:
    """The numbers of one bundle under one set of rules; `joint_key` is that of the row.

    `report` has the counts and the mAP. `own` and `joint` are None without a mAP.
    """

    report: Mapping[str, Any]
    joint_key: str
    own: MapUncertainty | None
    joint: MapUncertainty | None


def score_bundle(
    path: str | PathLike[str],
    truth: GroundTruth,
    rules: Rules = DEVKIT,
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
    row: Row
    try:
        bundle = read_bundle(path, track)
        measured = measure(bundle, truth, rules, seed, resamples, Block(0, resamples))
        row = row_of(key, bundle.sha256, bundle.told, measured)
    except NotABundle as error:
        row = broken_row(key, _digest_or_none(path), reason_of(error))
    return row | {"file": f"{path.parent.name}/{path.name}"}


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
    block: Block,
) -> Measured:
    """Evaluate a bundle, and make a block of the draws of both seeds.

    Raises `NotABundle` for a ground truth of other images or classes.
    """
    complete, images = fitted(truth, bundle)
    result = evaluate(complete, bundle.detections, rules)
    kept = {name: it for name, it in ilsvrc_report(result).items() if name not in _NOT_KEPT}
    kept["normalized_accuracy"] = normalized_accuracy(
        result.mean_ap, bundle.images_fetched, result.images
    )
    joint_key = f"{truth_digest(truth)[:16]}-{images[:16]}-{seed}-{resamples}"
    if result.mean_ap is None:
        return Measured(kept, joint_key, None, None)
    drawing = Drawing(result)
    own = drawing.halves(block.count, seed_from(bundle.sha256, str(seed)), first=block.first)
    common = drawing.halves(block.count, seed_from(joint_key), first=block.first)
    with_truth = _images_with_truth(result)
    return Measured(
        kept,
        joint_key,
        MapUncertainty(result.mean_ap, grouped(own), with_truth),
        MapUncertainty(result.mean_ap, grouped(common), with_truth),
    )


def joined(blocks: Sequence[Measured]) -> Measured:
    """Return one measurement of blocks in the order of their draws."""
    first = blocks[0]
    if first.own is None:
        return first
    return Measured(
        first.report,
        first.joint_key,
        _joined([it.own for it in blocks if it.own]),
        _joined([it.joint for it in blocks if it.joint]),
    )


def row_of(
    key: tuple[Any, ...], bundle_sha256: str, told: Mapping[str, Any], measured: Measured
) -> Row:
    """Return the row of a bundle: what it told itself, and what was measured."""
    old = told["old"]
    report = dict(measured.report) | _score(measured, old)
    reproduces = None
    if old is not None and (old["rules"], old["rules_version"]) == key[1:3]:
        reproduces = old["mean_ap"] == report["mean_ap"]
    joint = measured.joint and joint_fields(measured.joint_key, measured.joint)
    fields = dict(told) | {"new": report, "reproduces": reproduces, "joint": joint}
    return new_row(key, bundle_sha256, fields)


def _score(measured: Measured, old: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fields of `new` that need the energy, and the intervals."""
    energy_wh = old["energy_wh"] if old is not None and no_score(old) is None else None
    found: dict[str, Any] = dict.fromkeys(
        ("mean_ap_interval", "score_interval", "score_from_images", "score_from_energy")
    )
    found["score"] = score(measured.report["mean_ap"], energy_wh)
    found["mean_ap_standard_error"] = None
    if measured.own is None:
        return found
    found["mean_ap_interval"] = _ends(measured.own.interval())
    error = measured.own.standard_error()
    found["mean_ap_standard_error"] = error if math.isfinite(error) else None
    if isinstance(energy := divisor_or_why(old), Energy):
        intervals = score_intervals(measured.own, energy)
        found["score_interval"] = _ends(intervals.whole)
        found["score_from_images"] = _ends(intervals.images)
        found["score_from_energy"] = _ends(intervals.energy)
    return found


def _joined(blocks: Sequence[MapUncertainty]) -> MapUncertainty:
    first = blocks[0]
    halves = replace(
        first.halves,
        halves=np.concatenate([it.halves.halves for it in blocks]),
        quarters=np.concatenate([it.halves.quarters for it in blocks]),
    )
    return MapUncertainty(first.estimate, halves, first.with_truth)


def _images_with_truth(result: IlsvrcResult) -> int:
    return len(np.unique(np.concatenate([it.truth for it in result.images_by_class()])))


def _ends(interval: Interval) -> list[float] | None:
    ends = [interval.low, interval.high]
    return ends if all(map(math.isfinite, ends)) else None


def _digest_or_none(path: Path) -> str | None:
    try:
        return digest_of_bundle(path)
    except NotABundle:
        return None
