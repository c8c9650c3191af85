# SPDX-License-Identifier: Apache-2.0
"""Run one of the referee's own processes. The supervisor uses this command, people do not."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.programs.log_lines import log_as
from referee.programs.parent import stop_with_parent
from referee.service.setup.config_file import load_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    names = ("contest", "desk", "scorer", "scoreboard", "ovic", "checks")
    parser.add_argument("name", choices=names)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--descriptor", type=int, default=-1)
    parser.add_argument("--lane", type=int, default=1)
    parser.add_argument("--meter", action="append", default=[])
    parser.add_argument("--contest", action="append", default=[])


def run(args: argparse.Namespace) -> int:
    """Run the process until SIGTERM."""
    stop_with_parent(args.parent)
    config = load_config(args.config)
    log_as(config.log)
    # Each process imports its own program alone, so each starts fast and takes less memory.
    if args.name == "contest":
        from referee.programs.contest_server import run_contest_server

        run_contest_server(config, args.descriptor, args.lane)
    elif args.name == "desk":
        from referee.programs.control_desk import run_control_desk

        run_control_desk(config, args.descriptor, args.meter, args.contest, args.parent)
    elif args.name == "ovic":
        from referee.programs.entry_queue import run_entry_queue

        run_entry_queue(config)
    elif args.name == "scoreboard":
        from referee.programs.scoreboard import run_scoreboard

        run_scoreboard(config, args.descriptor)
    elif args.name == "checks":
        from referee.programs.slow_checks import run_slow_checks
        from referee.programs.terminal import tell_on_terminal

        run_slow_checks(config, None, tell_on_terminal)
    else:
        from referee.programs.live_scorer import run_live_scorer

        run_live_scorer(config)
    return 0
