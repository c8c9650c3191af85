# SPDX-License-Identifier: Apache-2.0
"""Several devices in one ranking, and models and frameworks compared across them.

Source: BenchCouncil AIoTBench, draft 1.1, section 1: comparison of models, comparison of
frameworks, and ranking of devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from referee.core.places import shared_places
from referee.extras.aiotbench.rules import Implementation, Model
from referee.extras.aiotbench.score import Score, WorkloadScore

By = Literal["vips", "vops"]


@dataclass(frozen=True)
class RankedDevice:
    """A device with its score; `rank` is None without an official workload.

    `common_vips` and `common_vops` are the sums over the workloads that all ranked devices have,
    None where there is no such workload. `configuration` is what is known of hardware and software.
    """

    rank: int | None
    device: str
    score: Score
    common_vips: float | None
    common_vops: float | None
    configuration: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceRanking:
    """Devices, the best first; `common` has the ids of the workloads that all of them ran."""

    by: By
    devices: tuple[RankedDevice, ...]
    common: tuple[str, ...]

    @property
    def comparable(self) -> bool:
        """Tell whether all ranked devices ran the same workloads."""
        return all(
            {workload.workload.workload_id for workload in device.score.workloads}
            == set(self.common)
            for device in self.devices
            if device.rank is not None
        )


def rank_devices(
    scores: Mapping[str, Score],
    by: By = "vips",
    configurations: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
) -> DeviceRanking:
    """Rank devices by the sum of VIPS or VOPS, as the formulas have it.

    `configurations` has what is known of each device.

    A workload that a device did not run adds nothing to its sum. Equal sums share a rank, and the
    ranks after them are left out. Devices without an official workload follow without a rank.
    """
    ranked = [score for score in scores.values() if score.vips is not None]
    common = _common(ranked)
    sums = {name: _sum(score, by) for name, score in scores.items()}
    order = sorted(scores, key=lambda name: (sums[name] is None, -(sums[name] or 0.0)))
    places = shared_places([sums[name] for name in order])
    devices = []
    for name, rank in zip(order, places, strict=True):
        workloads = [
            workload
            for workload in scores[name].workloads
            if workload.workload.workload_id in common
        ]
        vips, vops = (
            sum(workload.vips for workload in workloads),
            sum(workload.vops for workload in workloads),
        )
        shared = rank is not None and bool(common)
        devices.append(
            RankedDevice(
                rank,
                name,
                scores[name],
                vips if shared else None,
                vops if shared else None,
                (configurations or {}).get(name, {}),
            )
        )
    return DeviceRanking(by, tuple(devices), common)


def of_model(ranking: DeviceRanking, model: Model) -> Iterator[tuple[str, WorkloadScore]]:
    """Yield each device with its fastest workload of a model, where it has one."""
    for device in ranking.devices:
        workloads = [
            workload for workload in device.score.workloads if workload.workload.model is model
        ]
        if workloads:
            yield device.device, min(workloads, key=lambda workload: workload.mean_time_s)


@dataclass(frozen=True)
class FrameworkFigures:
    """An implementation on a device: its models, their average VIPS, and how often it is fastest.

    `fastest` counts the models that no other implementation runs faster on this device, among
    `compared`, those that another one runs, too.
    """

    models: int
    average_vips: float
    fastest: int
    compared: int


def of_implementation(
    ranking: DeviceRanking, implementation: Implementation
) -> Iterator[tuple[str, FrameworkFigures]]:
    """Yield each device with its figures of an implementation, where it has any."""
    for device in ranking.devices:
        workloads = [workload for workload in _all(device.score) if _is(workload, implementation)]
        if not workloads:
            continue
        rivals = [_rivals(device.score, workload) for workload in workloads]
        yield (
            device.device,
            FrameworkFigures(
                models=len(workloads),
                average_vips=sum(workload.vips for workload in workloads) / len(workloads),
                fastest=sum(
                    bool(others) and all(workload.mean_time_s <= other for other in others)
                    for workload, others in zip(workloads, rivals, strict=True)
                ),
                compared=sum(map(bool, rivals)),
            ),
        )


def _common(scores: Sequence[Score]) -> tuple[str, ...]:
    sets = [{workload.workload.workload_id for workload in score.workloads} for score in scores]
    shared = set.intersection(*sets) if sets else set()
    return (
        tuple(name for name in scores[0].rules.official_ids() if name in shared) if scores else ()
    )


def _sum(score: Score, by: By) -> float | None:
    figures = score.vips if by == "vips" else score.vops
    return None if figures is None else figures.sum


def _all(score: Score) -> Sequence[WorkloadScore]:
    return (*score.workloads, *score.additional)


def _is(score: WorkloadScore, implementation: Implementation) -> bool:
    return score.workload.implementation is implementation


def _rivals(score: Score, workload: WorkloadScore) -> list[float]:
    """Return the mean times of the same model in the other implementations on a device."""
    return [
        rival.mean_time_s
        for rival in _all(score)
        if rival.workload.model is workload.workload.model and rival is not workload
    ]
