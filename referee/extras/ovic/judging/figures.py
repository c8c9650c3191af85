# SPDX-License-Identifier: Apache-2.0
"""OVIC's figures as files and JSON: baselines, frontiers, scores, latencies, a model's answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from referee.errors import InputError
from referee.extras.ovic.rules.documents import ScoreFields
from referee.extras.ovic.rules.frontier import Baseline, FrontierEstimate
from referee.extras.ovic.rules.score import Frontier, OvicRules, OvicScore
from referee.formats.json_fields import load_json, number, object_at
from referee.formats.text import parse_cell, read_bytes, require_width
from referee.scoring import CocoResults

_BASELINE_FIELDS = ("name", "latency_ms", "accuracy")


def read_baselines(path: Path) -> list[Baseline]:
    """Read CSV lines `name,latency_ms,accuracy`, accuracy in percent; a header is optional."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from None
    rows = csv.reader(io.StringIO(text))
    baselines = []
    for row in rows:
        row = [cell.strip() for cell in row]
        if not any(row) or tuple(row) == _BASELINE_FIELDS:
            continue
        require_width(path, rows.line_num, row, _BASELINE_FIELDS)
        latency_ms, accuracy = (
            parse_cell(path, rows.line_num, field, text, float, "a number")
            for field, text in zip(_BASELINE_FIELDS[1:], row[1:], strict=True)
        )
        baselines.append(Baseline(row[0], latency_ms, accuracy))
    return baselines


def frontier_report(estimate: FrontierEstimate, rules: OvicRules) -> dict[str, object]:
    """Return an estimate as the JSON object that `read_frontier` reads."""
    return {
        "task": rules.task,
        "k": estimate.frontier.k,
        "a0": estimate.frontier.a0,
        "log": "natural",
        "spread": estimate.spread,
        "front": [vars(baseline) for baseline in estimate.front],
        "dominated": [vars(baseline) for baseline in estimate.dominated],
        "set_aside": [vars(baseline) for baseline in estimate.set_aside],
    }


def read_frontier(path: Path, rules: OvicRules) -> OvicRules:
    """Return the rules with the frontier of a file that `frontier_report` made.

    Raises InputError for a frontier of another task or of another logarithm.
    """
    content = _object(path)
    for field, expected in (("task", rules.task), ("log", "natural")):
        found = object_at(path, "the frontier", content, field)
        if found != expected:
            raise InputError(f"{path}, {field}: the frontier has {found!r}, not {expected!r}")
    k, a0 = (
        number(path, "the frontier", field, object_at(path, "the frontier", content, field))
        for field in ("k", "a0")
    )
    return replace(
        rules, name=f"frontier of {path.name}", frontier=Frontier(k, a0), data=str(path), note=""
    )


def read_span(path: Path) -> tuple[datetime, datetime, int]:
    """Return when the runs of a benchmark's result began and ended, and their number."""
    content = _object(path)
    plan = object_at(path, "the result", content, "plan")
    runs = plan.get("runs") if isinstance(plan, dict) else None
    try:
        began, ended = (
            datetime.fromisoformat(object_at(path, "the result", content, name))
            for name in ("began_utc", "ended_utc")
        )
        if None in (began.tzinfo, ended.tzinfo) or not isinstance(runs, int) or runs < 1:
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(
            f"{path} does not say when its runs began and ended: give the result of a benchmark"
        ) from None
    return began, ended, runs


def read_latency_ms(path: Path) -> float:
    """Return the mean latency of a benchmark's result; raise InputError for an unstable one."""
    content = _object(path)
    if content.get("stable") is not True:
        raise InputError(
            f"{path} has no stable measurement: measure again, on a machine that does nothing else"
        )
    latency = object_at(path, "the result", content, "latency_ms")
    if not isinstance(latency, dict):
        raise InputError(f"{path}, latency_ms is not an object: give the result of a benchmark")
    return number(path, "latency_ms", "mean", object_at(path, "latency_ms", latency, "mean"))


def write_coco_results(path: Path, results: CocoResults) -> None:
    """Write detections as a list of COCO results, as evaluation servers take them.

    Raises InputError if the file cannot be written.
    """
    columns = (results.image_id, results.category_id, results.box, results.score)
    entries = [
        {"image_id": image_id, "category_id": category_id, "bbox": box, "score": score}
        for image_id, category_id, box, score in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]
    try:
        path.write_text(json.dumps(entries, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _object(path: Path) -> dict[str, object]:
    content = load_json(path, read_bytes(path))
    if not isinstance(content, dict):
        raise InputError(f"{path} is not one JSON object")
    return content


def score_report(best: OvicScore, builds: Sequence[OvicScore] = ()) -> dict[str, object]:
    """Return a score as the JSON object of `score` and `run`; `builds` are all that were judged."""
    report = (
        {"task": best.rules.task}
        | score_fields(best)
        | {
            "target_ms": best.rules.target_ms,
            "rules": best.rules.name,
            "k": best.rules.frontier.k,
            "a0": best.rules.frontier.a0,
            "note": best.rules.note or None,
        }
    )
    if len(builds) > 1:
        report["builds"] = [{"task": build.rules.task} | score_fields(build) for build in builds]
    return report


def score_fields(score: OvicScore) -> ScoreFields:
    """Return what a score is made of, ready for JSON; the caller names its task."""
    return {
        "accuracy": score.accuracy,
        "latency_ms": score.latency_ms,
        "clamped_ms": score.clamped_ms,
        "frontier": score.frontier,
        "metric": score.metric,
        "valid": score.valid,
        "reasons": list(score.reasons),
    }
