# SPDX-License-Identifier: Apache-2.0
"""The score of a device as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from referee.extras.aiotbench.networks import Network, differences
from referee.extras.aiotbench.score import Score, Summary, WorkloadScore
from referee.extras.aiotbench.submission import Configuration, open_points

Report = dict[str, Any]


def score_report(score: Score) -> Report:
    """Return `vips`, `vops`, `workloads` and `missing`; also `additional` if there are any."""
    report: Report = {
        "vips": _figures(score.vips),
        "vops": _figures(score.vops),
        "workloads": _workloads(score.workloads),
        "missing": list(score.missing),
    }
    if score.additional:
        report["additional"] = _workloads(score.additional)
    return report


def networks_report(score: Score, networks: Mapping[str, Network]) -> Report:
    """Return what the models' files hold, and how it differs from table 1, by workload."""
    known = score.rules.by_id()
    return {
        name: asdict(network) | {"differences": differences(known[name].model, network)}
        for name, network in networks.items()
    }


def submission_report(
    score: Score, configuration: Configuration, networks: Mapping[str, Network] | None = None
) -> Report:
    """Return what section 6 asks for beside the sums: configuration, and each workload's score.

    `open` lists what is missing. With an empty list the result is a submission.
    """
    return {
        "rules": score.rules.name,
        "configuration": configuration,
        "scores": {
            it.workload.workload_id: {"vips": it.vips, "vops": it.vops} for it in score.workloads
        },
        "open": open_points(score, configuration, networks),
    }


def _figures(summary: Summary | None) -> dict[str, float | None]:
    if summary is None:
        return dict.fromkeys(("sum", "average", "maximum"))
    return asdict(summary)


def _workloads(found: Sequence[WorkloadScore]) -> Report:
    return {
        it.workload.workload_id: {
            "accuracy": it.accuracy,
            "mean_time_s": it.mean_time_s,
            "images": it.images,
        }
        for it in found
    }
