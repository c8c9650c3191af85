# SPDX-License-Identifier: Apache-2.0
"""A ranking of devices as JSON, as CSV, as lines of text, and as a page.

The page is one file of HTML that loads nothing and runs no script.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap

from referee.core.spreadsheet import plain_cell
from referee.core.text_cells import lines_of
from referee.extras.aiotbench.ranking import (
    DeviceRanking,
    RankedDevice,
    of_implementation,
    of_model,
)
from referee.extras.aiotbench.report import score_report
from referee.extras.aiotbench.rules import RuleSet
from referee.extras.aiotbench.score import WorkloadScore
from referee.extras.aiotbench.submission import (
    other_networks,
    remarks,
    short_cooling,
    unproved_networks,
)
from referee.service.setup.pages import page

_MILLION = 1e6
_LINE = 100
_NONE = "–"
CSV_FIELDS = tuple(
    "rank device workload official images accuracy reference_accuracy mean_time_s vips vops".split()
)
"""The header of the CSV form, which has a line for each device and workload."""

# The share of the page's width that the best device's bar takes, in percent.
_LONGEST = 70


def ranking_report(ranking: DeviceRanking, rules: RuleSet) -> dict[str, object]:
    """Return `devices`, the best first, `common`, `models` and `frameworks`, ready for JSON."""
    return {
        "rules": rules.name,
        "by": ranking.by,
        "devices": [_device(device) for device in ranking.devices],
        "common": list(ranking.common),
        "models": [
            {
                "model": model.code,
                "name": model.name,
                "flops": model.flops,
                "parameters": model.parameters,
                "reference_accuracy": model.reference_accuracy,
                "devices": {
                    name: _fastest(workload) for name, workload in of_model(ranking, model)
                },
            }
            for model in rules.models
        ],
        "frameworks": [
            {
                "implementation": implementation.code,
                "name": implementation.name,
                "official": implementation.official,
                "devices": {
                    name: asdict(figures)
                    for name, figures in of_implementation(ranking, implementation)
                },
            }
            for implementation in rules.implementations
        ],
    }


def ranking_csv(ranking: DeviceRanking) -> str:
    """Return a line for each device and workload, with all digits; a missing rank is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_FIELDS)
    for device in ranking.devices:
        for workload in (*device.score.workloads, *device.score.additional):
            row = (
                device.rank,
                device.device,
                workload.workload.workload_id,
                workload.workload.implementation.official,
                workload.images,
                workload.accuracy,
                workload.workload.model.reference_accuracy,
                workload.mean_time_s,
                workload.vips,
                workload.vops,
            )
            writer.writerow([plain_cell(value) for value in row])
    return text.getvalue()


def ranking_text(ranking: DeviceRanking, rules: RuleSet) -> str:
    """Return the ranking, models and frameworks as tables, and what is to be said of them."""
    lines = [f"{rules.name}, devices by the sum of {ranking.by.upper()}", ""]
    for rows in tables_of(ranking, rules).values():
        lines += [*_aligned(rows), ""]
    for sentence in sentences_of(ranking):
        lines += wrap(sentence, _LINE, subsequent_indent="  ")
    return "\n".join(lines).rstrip("\n")


def tables_of(ranking: DeviceRanking, rules: RuleSet) -> dict[str, list[list[str]]]:
    """Return the tables of texts by their titles; the first row of each has the heads."""
    names = [device.device for device in ranking.devices]
    models = [["model", "Table 1", *names]]
    for model in rules.models:
        fastest = dict(of_model(ranking, model))
        if fastest:
            cells = [_model_cell(fastest[name]) if name in fastest else _NONE for name in names]
            models.append([model.name, f"{100 * model.reference_accuracy:g} %", *cells])
    frameworks = [["framework", *names]]
    for implementation in rules.implementations:
        figures = dict(of_implementation(ranking, implementation))
        if figures:
            cells = [
                f"{figures[name].average_vips:.4g} VIPS, fastest in"
                f" {figures[name].fastest} of {figures[name].compared}"
                if name in figures
                else _NONE
                for name in names
            ]
            frameworks.append([implementation.name, *cells])
    return {
        "Devices": [list(_HEADS), *map(_device_row, ranking.devices)],
        "Models: accuracy and time of the fastest framework": models,
        "Frameworks: average VIPS, and the models that no other framework runs faster": frameworks,
    }


_HEADS = (
    "rank",
    "device",
    "workloads",
    "VIPS sum",
    "average",
    "maximum",
    "VOPS sum, M/s",
    "average",
    "maximum",
    "VIPS of common",
)


def sentences_of(ranking: DeviceRanking) -> Iterator[str]:
    """Yield what a reader must know: unlike sets of workloads, and figures like mistakes."""
    if not ranking.comparable:
        common = " ".join(ranking.common) or "none"
        yield (
            "The devices ran different workloads, and a workload that a device did not run adds "
            f"nothing to its sum. Common to all: {common}."
        )
    for device in ranking.devices:
        score = device.score
        known = short_cooling(device.configuration)
        for text in (*other_networks(score), *remarks(score), *unproved_networks(score), *known):
            yield f"{device.device}, {text}"
        for workload in device.score.workloads:
            yield from _accuracy_remark(device.device, workload)


def _accuracy_remark(device: str, score: WorkloadScore) -> Iterator[str]:
    """Say where an accuracy is far from table 1: another network, or other labels."""
    model = score.workload.model
    points = 100 * (score.accuracy - model.reference_accuracy)
    if score.images >= _ENOUGH and abs(points) > _FAR_POINTS:
        yield (
            f"{device}, {score.workload.workload_id}: {100 * score.accuracy:.3g} % right is "
            f"{abs(points):.3g} points {'above' if points > 0 else 'below'} the "
            f"{100 * model.reference_accuracy:g} % of table 1 for {model.name}. Is it this network?"
        )


# Published copies of a network differ by up to six points, and chance moves 500 images by as many.
_FAR_POINTS, _ENOUGH = 10.0, 500


def _device(device: RankedDevice) -> dict[str, object]:
    return {
        "rank": device.rank,
        "device": device.device,
        **score_report(device.score),
        "common_vips": device.common_vips,
        "common_vops": device.common_vops,
    }


def _fastest(score: WorkloadScore) -> dict[str, object]:
    return {
        "workload": score.workload.workload_id,
        "accuracy": score.accuracy,
        "mean_time_s": score.mean_time_s,
        "vips": score.vips,
    }


def _device_row(device: RankedDevice) -> list[str]:
    figures = [
        None if summary is None else getattr(summary, name) / unit
        for summary, unit in ((device.score.vips, 1.0), (device.score.vops, _MILLION))
        for name in ("sum", "average", "maximum")
    ]
    return [
        _NONE if device.rank is None else str(device.rank),
        device.device,
        str(len(device.score.workloads)),
        *(_NONE if value is None else f"{value:.6g}" for value in (*figures, device.common_vips)),
    ]


def _model_cell(score: WorkloadScore) -> str:
    return (
        f"{100 * score.accuracy:.2f} %, {1000 * score.mean_time_s:.4g} ms"
        f" ({score.workload.implementation.code})"
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    return lines_of(rows, [True] * len(rows[0]))


def ranking_page(ranking: DeviceRanking, rules: RuleSet) -> str:
    """Return the page: a bar for each device, the tables, and what is to be said of them."""
    return page(
        "extras/aiotbench/ranking.html",
        title=f"{rules.name}: devices by the sum of {ranking.by.upper()}",
        bars=_bars(ranking),
        tables=tables_of(ranking, rules),
        said=list(sentences_of(ranking)),
    )


def _bars(ranking: DeviceRanking) -> list[dict[str, str]]:
    """Return a bar for each ranked device, as long as its sum is of the best one's."""
    figures = {
        device.device: device.score.vips if ranking.by == "vips" else device.score.vops
        for device in ranking.devices
    }
    sums = {name: summary.sum for name, summary in figures.items() if summary is not None}
    best = max(sums.values(), default=0.0) or 1.0
    return [
        {"device": name, "width": f"{_LONGEST * value / best:.2f}", "sum": f"{value:.6g}"}
        for name, value in sums.items()
    ]
