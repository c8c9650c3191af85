# SPDX-License-Identifier: Apache-2.0
"""The score of a device as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from referee.extras.aiotbench.score import Score, Summary, WorkloadScore
from referee.extras.aiotbench.submission import Configuration, open_points, remarks

Report = dict[str, object]


def score_report(score: Score) -> Report:
    """Return `vips`, `vops`, `workloads`, `missing` and `models`.

    There are `additional` and `others` where the log has such workloads, and `remarks` where a
    figure looks like a mistake.
    """
    report: Report = {
        "vips": _figures(score.vips),
        "vops": _figures(score.vops),
        "workloads": _workloads(score.workloads),
        "missing": list(score.missing),
        "models": {
            workload.workload.workload_id: _model(score, workload) for workload in score.all
        },
    }
    for name, workloads in (("additional", score.additional), ("others", score.others)):
        if workloads:
            report[name] = _workloads(workloads)
    if likely := remarks(score):
        report["remarks"] = likely
    return report


def _model(score: Score, workload: WorkloadScore) -> Report | None:
    """Return the file that ran, what is in it, and how it differs from table 1, as far as known."""
    model = score.models.get(workload.workload.workload_id)
    if model is None:
        return None
    network = {} if model.network is None else asdict(model.network)
    file = {"file": model.file, "sha256": model.sha256}
    return {**file, **network, "differences": score.strange(workload)}


def submission_report(score: Score, configuration: Configuration) -> Report:
    """Return what section 6 asks for beside the sums: configuration, and each workload's score.

    `open` lists what is missing. With an empty list the result is a submission.
    """
    return {
        "rules": score.rules.name,
        "configuration": configuration,
        "scores": {
            workload.workload.workload_id: {"vips": workload.vips, "vops": workload.vops}
            for workload in score.workloads
        },
        "open": open_points(score, configuration),
    }


def _figures(summary: Summary | None) -> dict[str, float | None]:
    if summary is None:
        return dict.fromkeys(("sum", "average", "maximum"))
    return asdict(summary)


def _workloads(workloads: Sequence[WorkloadScore]) -> Report:
    return {
        workload.workload.workload_id: {
            "accuracy": workload.accuracy,
            "mean_time_s": workload.mean_time_s,
            "images": workload.images,
        }
        for workload in workloads
    }
