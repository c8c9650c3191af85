# SPDX-License-Identifier: Apache-2.0
"""Run one of the referee's own processes. The supervisor uses this command, people do not."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.core.garbage import collections_paused, keep_what_is_loaded
from referee.programs.log_lines import log_as
from referee.programs.lower_priority import lower_priority
from referee.programs.table import all_programs
from referee.service.setup.config_file import load_config
from referee.service.setup.folder_lock import running_in
from referee.service.setup.lane_config import lane_suffix
from referee.service.setup.process_name import name_of, name_process
from referee.service.setup.program import Launch, stop_with_parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", choices=list(all_programs()))
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
    program = all_programs()[args.name]
    name_process(name_of(f"{program.name}{lane_suffix(args.lane)}"))
    if program.niceness:
        lower_priority(program.niceness)
    with collections_paused():
        run_program = program.run.load()
    keep_what_is_loaded()
    launch = Launch(args.descriptor, args.lane, args.meter, args.contest, args.parent)
    with running_in(config.storage.folder):
        run_program(config, launch)
    return 0
