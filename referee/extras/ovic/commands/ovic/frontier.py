# SPDX-License-Identifier: Apache-2.0
"""`referee ovic frontier`: estimate the frontier again from baselines."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from referee.errors import InputError
from referee.extras.ovic.commands.ovic.options import add_json, add_task
from referee.extras.ovic.judging.figures import frontier_report, read_baselines
from referee.extras.ovic.rules.frontier import FrontierEstimate, estimate_frontier
from referee.extras.ovic.rules.score import RULES

_DESCRIPTION = """\
Estimate a(t) = k ln t + a0 from baseline models, one line name,latency_ms,accuracy each. A baseline
far above all others is set aside and named. Of the rest, the Pareto front counts: the models that
no other one beats in latency and accuracy. 'referee ovic score --frontier' takes the file that
--out writes.
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "frontier",
        help="estimate the frontier from baselines",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_task(parser)
    parser.add_argument(
        "--baselines",
        type=Path,
        required=True,
        metavar="FILE",
        help="CSV name,latency_ms,accuracy; accuracy in percent",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the frontier as JSON")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw it as .svg or .png; needs the extra 'plot'",
    )
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Estimate, write and print."""
    rules = RULES[args.task]
    try:
        estimate = estimate_frontier(read_baselines(args.baselines))
    except ValueError as error:
        raise InputError(f"{args.baselines}: {error}") from None
    report = frontier_report(estimate, rules)
    if args.out is not None:
        _write(args.out, json.dumps(report, indent=2) + "\n")
    if args.picture is not None:
        # The drawing library is slow to import.
        from referee.extras.ovic.judging.picture import figure_of, save_figure

        estimated = replace(rules, name=args.baselines.name, frontier=estimate.frontier)
        dots = (*estimate.front, *estimate.dominated)
        save_figure(figure_of(estimated, dots, estimate.set_aside), args.picture)
    for it in estimate.set_aside:
        print(
            f"referee ovic: {it.name} ({it.accuracy:g} % at {it.latency_ms:g} ms) is far above"
            " the others and was set aside: check it",
            file=sys.stderr,
        )
    print(json.dumps(report) if args.json else _text(estimate))
    return 0


def _text(estimate: FrontierEstimate) -> str:
    lines = [
        f"k               {estimate.frontier.k:.6f}",
        f"a0              {estimate.frontier.a0:.6f}",
        f"spread, points  {estimate.spread:.3f}",
        f"on the front    {', '.join(it.name for it in estimate.front)}",
    ]
    if estimate.dominated:
        lines.append(f"behind it       {', '.join(it.name for it in estimate.dominated)}")
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
