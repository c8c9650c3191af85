# SPDX-License-Identifier: Apache-2.0
"""VIPS and VOPS: valid images and valid operations per second.

VIPS = sum of accuracy / time, VOPS = sum of accuracy * FLOPs / time, over the workloads of a
device. The accuracy is a fraction, the time is the mean seconds for one image, and FLOPs are the
multiply-accumulates for one image.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from referee.extras.aiotbench.networks import RanModel, differences
from referee.extras.aiotbench.rules import DRAFT_1_1, RuleSet, Workload


@dataclass(frozen=True)
class Tally:
    """The answers of one classifier: images, right answers, and the time for all images.

    `images` is at least 1, `right` is between 0 and `images`, and `total_time_s` is above 0.
    `one_above` counts the answers whose label is the real one plus 1, and `one_below` those minus
    1. They enter no score, so tallies that differ in them are equal.
    """

    images: int
    right: int
    total_time_s: float
    one_above: int = field(default=0, compare=False)
    one_below: int = field(default=0, compare=False)


@dataclass(frozen=True)
class WorkloadScore:
    """The result of one workload; `vips` is in images/s, `vops` in operations/s.

    `one_above` and `one_below` are the shares of answers whose label is one off.
    """

    workload: Workload
    images: int
    accuracy: float
    mean_time_s: float
    vips: float
    vops: float
    one_above: float = 0.0
    one_below: float = 0.0


@dataclass(frozen=True)
class Summary:
    """The three figures that the text asks for: the formulas sum, section 6 wants the others."""

    sum: float
    average: float
    maximum: float


@dataclass(frozen=True)
class Score:
    """The score of a device.

    `workloads` holds the official workloads that were run, in the order of the rules, and
    `additional` those outside the official set, which enter no figure. Neither do `others`, whose
    model is another network than that of the workload's name. `missing` names official workloads
    that were not run. `vips` and `vops` are None if no official workload was run. `models` has the
    files that ran, as far as they are known.
    """

    rules: RuleSet
    workloads: tuple[WorkloadScore, ...]
    additional: tuple[WorkloadScore, ...]
    others: tuple[WorkloadScore, ...]
    missing: tuple[str, ...]
    vips: Summary | None
    vops: Summary | None
    models: Mapping[str, RanModel]

    @property
    def all(self) -> tuple[WorkloadScore, ...]:
        """Return all workloads of the log."""
        return (*self.workloads, *self.additional, *self.others)

    def strange(self, found: WorkloadScore) -> list[str] | None:
        """Return in what a workload's model is another network, None if nobody knows the model."""
        return _strange(self.models, found.workload)


def score_workload(workload: Workload, tally: Tally) -> WorkloadScore:
    """Return the result of one workload."""
    # The number of images cancels out of accuracy / mean time.
    vips = tally.right / tally.total_time_s
    return WorkloadScore(
        workload=workload,
        images=tally.images,
        accuracy=tally.right / tally.images,
        mean_time_s=tally.total_time_s / tally.images,
        vips=vips,
        vops=workload.model.flops * tally.right / tally.total_time_s,
        one_above=tally.one_above / tally.images,
        one_below=tally.one_below / tally.images,
    )


def score_device(
    tallies: Mapping[str, Tally],
    rules: RuleSet = DRAFT_1_1,
    models: Mapping[str, RanModel] | None = None,
) -> Score:
    """Return the score of the workloads by their ids; `models` are the files that ran, by workload.

    The average runs over the workloads that were run, not over all of the rules: a workload that
    does not exist on a device is missing, not 0. Raises KeyError for an id that the rules do not
    know.
    """
    unknown = tallies.keys() - rules.by_id().keys()
    if unknown:
        raise KeyError(f"{rules.name} has no workload {min(unknown)!r}")
    known = {name: model for name, model in (models or {}).items() if name in tallies}
    workloads = [
        score_workload(workload, tallies[workload.workload_id])
        for workload in rules.workloads()
        if workload.workload_id in tallies
    ]
    others = tuple(workload for workload in workloads if _strange(known, workload.workload))
    fit = [workload for workload in workloads if workload not in others]
    official = tuple(workload for workload in fit if workload.workload.implementation.official)
    ran = {workload.workload.workload_id for workload in official}
    return Score(
        rules=rules,
        workloads=official,
        additional=tuple(workload for workload in fit if workload not in official),
        others=others,
        missing=tuple(name for name in rules.official_ids() if name not in ran),
        vips=_summary([workload.vips for workload in official]),
        vops=_summary([workload.vops for workload in official]),
        models=known,
    )


def _strange(models: Mapping[str, RanModel], workload: Workload) -> list[str] | None:
    model = models.get(workload.workload_id)
    if model is None or model.network is None:
        return None
    return differences(workload.model, model.network)


def _summary(values: Sequence[float]) -> Summary | None:
    if not values:
        return None
    total = math.fsum(values)
    return Summary(sum=total, average=total / len(values), maximum=max(values))
