# SPDX-License-Identifier: Apache-2.0
"""What a result still lacks before it is a submission as section 6 of the specification asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from referee.core.counts import counted
from referee.extras.aiotbench.device_configuration import COOLING, pause_s
from referee.extras.aiotbench.likely_mistakes import likely_mistakes
from referee.extras.aiotbench.score import Score

Configuration = Mapping[str, Mapping[str, str]]
"""The device's `hardware` and `software`, each a table of names and values."""

COOLING_S = 300.0
"""The shortest pause between two tests: "at least five minutes of cooling time" (section 6)."""


def open_points(score: Score, configuration: Configuration | None) -> list[str]:
    """Return a sentence for each point that keeps a result from being a submission."""
    return [*_open_points(score, configuration), *other_networks(score)]


def other_networks(score: Score) -> Iterator[str]:
    """Yield a sentence for each workload whose model is not the network of its name."""
    for workload in score.others:
        differences = "; ".join(score.strange(workload) or ())
        yield f"The model of {workload.workload.workload_id} is another network: {differences}."


def _open_points(score: Score, configuration: Configuration | None) -> Iterator[str]:
    if configuration is None:
        yield "The configuration of hardware and software is missing: add --configuration FILE."
    else:
        yield from short_cooling(configuration)
    if score.missing:
        total = len(score.rules.official_ids())
        yield f"{len(score.missing)} of {total} workloads are missing: {' '.join(score.missing)}."
    short = [workload for workload in score.workloads if workload.images != score.rules.images]
    if short:
        named = ", ".join(
            f"{workload.workload.workload_id} {workload.images}" for workload in short
        )
        yield f"The rules want {counted(score.rules.images, 'image')} of each workload: {named}."


def unproved_networks(score: Score) -> Iterator[str]:
    """Yield a sentence about the workloads of which nobody knows the network."""
    unknown = [
        workload.workload.workload_id for workload in score.all if score.strange(workload) is None
    ]
    if unknown:
        yield (
            f"Nothing but the accuracy shows which network ran as {' '.join(unknown)}. The sample "
            "for boards notes it under [models] in the TOML file beside its log."
        )


def remarks(score: Score) -> list[str]:
    """Return a sentence for each workload whose figures look like a mistake in the log."""
    return [text for workload in score.all for text in likely_mistakes(workload)]


def short_cooling(configuration: Configuration) -> Iterator[str]:
    """Yield a sentence where the device had less time to cool down than the rules ask for."""
    for part in configuration.values():
        if not pause_s(part.get(COOLING)) >= COOLING_S:
            yield (
                f"The pause before each workload was {part[COOLING]} s ({COOLING}): section 6 asks "
                f"for at least {COOLING_S:g} s of cooling time."
            )
