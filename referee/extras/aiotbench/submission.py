# SPDX-License-Identifier: Apache-2.0
"""What a result still lacks before it is a submission as section 6 of the specification asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from referee.extras.aiotbench.networks import Network, differences
from referee.extras.aiotbench.score import Score, WorkloadScore

Configuration = Mapping[str, Mapping[str, str]]
"""The device's `hardware` and `software`, each a table of names and values."""

# A mean above this is no time of these models on any device: the log is hardly in seconds.
_HARDLY_SECONDS = 60.0


def open_points(
    score: Score,
    configuration: Configuration | None,
    networks: Mapping[str, Network] | None = None,
) -> list[str]:
    """Return a sentence for each point that keeps a result from being a submission.

    `networks` are those of the models' files, by workload, as far as they are known.
    """
    return [*_open_points(score, configuration), *_other_networks(score, networks or {})]


def _other_networks(score: Score, networks: Mapping[str, Network]) -> Iterator[str]:
    known = score.rules.by_id()
    for name, network in networks.items():
        found = differences(known[name].model, network)
        if found:
            yield f"The model of {name} is another network: {'; '.join(found)}."


def _open_points(score: Score, configuration: Configuration | None) -> Iterator[str]:
    if configuration is None:
        yield "The configuration of hardware and software is missing: add --configuration FILE."
    if score.missing:
        total = len(score.rules.official_ids())
        yield f"{len(score.missing)} of {total} workloads are missing: {' '.join(score.missing)}."
    short = [it for it in score.workloads if it.images != score.rules.images]
    if short:
        named = ", ".join(f"{it.workload.workload_id} {it.images}" for it in short)
        yield f"The rules want {score.rules.images} images of each workload: {named}."


def remarks(score: Score) -> list[str]:
    """Return a sentence for each workload whose figures look like a mistake in the log."""
    return [text for it in (*score.workloads, *score.additional) for text in _remarks(it)]


def _remarks(found: WorkloadScore) -> Iterator[str]:
    name = found.workload.workload_id
    if found.mean_time_s > _HARDLY_SECONDS:
        yield f"{name}: the mean time is {found.mean_time_s:.6g} s. The log must be in seconds."
    if found.images >= 100 and found.accuracy <= 0.01:
        yield (
            f"{name}: {100 * found.accuracy:.3g} % right is no better than chance. Do both labels"
            " count from the same number?"
        )
