# SPDX-License-Identifier: Apache-2.0
"""`referee ovic score`: the metric of an accuracy and a latency."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

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
    add_frontier,
    add_json,
    add_task,
    milliseconds,
    percent,
    score_text,
)
from referee.extras.ovic.judging.figures import (
    read_baselines,
    read_frontier,
    read_latency_ms,
    read_span,
    score_report,
)
from referee.extras.ovic.rules.score import RULES, best_score, ovic_score

_DESCRIPTION = """\
Print M(A, T) = A - a(T): the points by which an accuracy A is above the frontier at latency T.
Below 80 % of the target (detection 30 ms, classification 10 ms) T counts as 80 %. Above 120 % the
entry is invalid, and the exit code is 1.

Give --latency-ms or --benchmark once for each server build that measured the entry. Its best score
counts.
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "score",
        help="score an accuracy and a latency",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
        help="mean latency of one image, in milliseconds",
    )
    parser.add_argument(
        "--benchmark",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a result of 'referee ovic benchmark --out', for its mean latency",
    )
    add_frontier(parser)
    parser.add_argument(
        "--baselines", type=Path, metavar="FILE", help="CSV name,latency_ms,accuracy: dots to draw"
    )
    add_energy(
        parser, "images that --energy-wh was spent on (with --power-log: the runs of the benchmark)"
    )
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 for an invalid entry."""
    latencies_ms = [*args.latency_ms, *(read_latency_ms(path) for path in args.benchmark)]
    if not latencies_ms:
        raise InputError("give a latency: --latency-ms L, or --benchmark FILE")
    if args.baselines is not None and args.picture is None:
        raise InputError("--baselines are dots of a picture: add --picture FILE")
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
    if args.picture is not None:
        # The drawing library is slow to import.
        from referee.extras.ovic.judging.picture import figure_of, save_figure

        dots = read_baselines(args.baselines) if args.baselines is not None else []
        save_figure(figure_of(rules, dots, entry=best), args.picture)
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
