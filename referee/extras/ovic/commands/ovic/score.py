# SPDX-License-Identifier: Apache-2.0
"""`referee ovic score` and `frontier`: the metric, and the curve that it is measured from."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from power.commands.written_file import file_to_write
from referee.commands.energy import (
    RunEnergy,
    add_energy,
    energy_line,
    energy_of,
    energy_report,
    energy_within,
)
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.options import (
    add_action,
    add_json,
    add_task,
    milliseconds,
    percent,
    score_text,
)
from referee.extras.ovic.rules.frontier import FrontierEstimate, estimate_frontier
from referee.extras.ovic.rules.score import RULES, best_score, ovic_score

_SCORE = """\
Print M(A, T) = A - a(T): the points by which an accuracy A is above the frontier at latency T.
Below 80 % of the target (detection 30 ms, classification 10 ms) T counts as 80 %. Above 120 % the
entry is invalid, and the exit code is 1.

Give --latency-ms or --benchmark once for each server build that measured the entry. Its best score
counts.

  referee ovic score --task detection --accuracy 25.0 --latency-ms 28.4
  referee ovic score --task detection --accuracy 25.0 --benchmark result.json
"""

_FRONTIER = """\
Estimate a(t) = k ln t + a0 from baseline models, one line name,latency_ms,accuracy each. A baseline
far above all others is set aside and named. Of the rest, the Pareto front counts: the models that
no other one beats in latency and accuracy. 'referee ovic score --frontier' takes the file that
--out writes.

  referee ovic frontier --task detection --baselines baselines.csv --out frontier.json
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of the actions."""
    _add_score(actions)
    _add_frontier(actions)


def _add_score(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(actions, "score", "score an accuracy and a latency", _SCORE, _score)
    add_task(parser)
    parser.add_argument(
        "--accuracy", type=percent, required=True, metavar="A", help="COCO mAP or top-1, in percent"
    )
    parser.add_argument(
        "--latency-ms",
        type=milliseconds,
        action="append",
        default=[],
        metavar="L",
        help="mean latency of one image, in milliseconds; may be repeated",
    )
    parser.add_argument(
        "--benchmark",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a result of 'referee ovic benchmark --out', for its mean latency; may be repeated",
    )
    parser.add_argument(
        "--frontier",
        type=Path,
        metavar="FILE",
        help="a frontier that 'referee ovic frontier --out' wrote (default: that of 7 April 2020)",
    )
    add_energy(
        parser, "images that --energy-wh was spent on (with --power-log: the runs of the benchmark)"
    )
    add_json(parser)


def _score(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 for an invalid entry."""
    from referee.extras.ovic.judging.figures import read_frontier, read_latency_ms, score_report

    latencies_ms = [*args.latency_ms, *(read_latency_ms(path) for path in args.benchmark)]
    if not latencies_ms:
        raise InputError("give a latency: --latency-ms L, or --benchmark FILE")
    rules = RULES[args.task]
    if args.frontier is not None:
        rules = read_frontier(args.frontier, rules)
    if 0 < args.accuracy <= 1:
        print(
            f"referee ovic: {args.accuracy:g} is taken as percent. Is it a fraction?",
            file=sys.stderr,
        )
    energy = _energy(args)
    builds = [ovic_score(rules, args.accuracy, latency_ms) for latency_ms in latencies_ms]
    best = best_score(builds)
    if rules.note:
        print(f"referee ovic: {rules.note}", file=sys.stderr)
    if args.json:
        shown = {} if energy is None else {"energy": energy_report(energy)}
        print(json.dumps(score_report(best, builds) | shown))
    else:
        print(score_text(best))
        if energy is not None:
            print(energy_line(energy))
    return 0 if best.valid else 1


def _energy(args: argparse.Namespace) -> RunEnergy | None:
    """Return the energy that the options give, or None.

    From a power log the energy of the counted runs alone is taken: the meter may have run before
    and after them.
    """
    from referee.extras.ovic.judging.figures import read_span

    if args.power_log is None:
        if args.energy_wh is not None and args.energy_images is None:
            raise InputError("--energy-wh needs its images: add --energy-images N")
        return energy_of(args, 0)
    if len(args.benchmark) != 1 or args.energy_images is not None:
        raise InputError(
            "--power-log takes the energy of a benchmark's runs: add one --benchmark FILE, and no"
            " --energy-images"
        )
    began, ended, runs = read_span(args.benchmark[0])
    return energy_within(args.power_log, began, ended, runs)


def _add_frontier(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions, "frontier", "estimate the frontier from baselines", _FRONTIER, _estimate
    )
    add_task(parser)
    parser.add_argument(
        "--baselines",
        type=Path,
        required=True,
        metavar="FILE",
        help="CSV name,latency_ms,accuracy; accuracy in percent",
    )
    parser.add_argument(
        "--out", type=file_to_write, metavar="FILE", help="write the frontier as JSON"
    )
    add_json(parser)


def _estimate(args: argparse.Namespace) -> int:
    """Estimate, write and print."""
    from referee.extras.ovic.judging.figures import frontier_report, read_baselines

    rules = RULES[args.task]
    try:
        estimate = estimate_frontier(read_baselines(args.baselines))
    except ValueError as error:
        raise InputError(f"{args.baselines}: {error}") from None
    report = frontier_report(estimate, rules)
    if args.out is not None:
        _write(args.out, json.dumps(report, indent=2) + "\n")
    for baseline in estimate.set_aside:
        print(
            f"referee ovic: {baseline.name} ({baseline.accuracy:g} % at {baseline.latency_ms:g} ms)"
            " is far above the others and was set aside: check it",
            file=sys.stderr,
        )
    print(json.dumps(report) if args.json else _frontier_text(estimate))
    return 0


def _frontier_text(estimate: FrontierEstimate) -> str:
    lines = [
        f"k               {estimate.frontier.k:.6f}",
        f"a0              {estimate.frontier.a0:.6f}",
        f"spread, points  {estimate.spread:.3f}",
        f"on the front    {', '.join(baseline.name for baseline in estimate.front)}",
    ]
    if estimate.dominated:
        lines.append(
            f"behind it       {', '.join(baseline.name for baseline in estimate.dominated)}"
        )
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
