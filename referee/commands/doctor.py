# SPDX-License-Identifier: Apache-2.0
"""Collect what a maintainer needs to find a fault, in one file without secrets.

The file has versions, the configuration, the list of checks, the state of the database, all
sessions with their notices, who did what, and the ends of the logs. Passwords, keys, tokens,
images, the ground truth and answers are not in it. It works while the referee runs, and also when
nothing works any more. Look into the file before you send it: it names teams and operators.

  referee doctor --config event/contest.toml
  referee doctor --config event/contest.toml --out fault.zip
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import convert

from power.bounded_file import SMALL_BYTES, file_bytes
from power.commands.written_file import file_to_write
from referee.commands.options import add_config
from referee.errors import ConfigError
from referee.service.desk.link import DeskClient, socket_path
from referee.service.observation.report import machine_facts, sessions_told, write_report
from referee.service.people.audit import ShownAction, read_audit, shown_action
from referee.service.preflight.shown import ReadinessNow, ShownList
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.folder_lock import is_hosted
from referee.service.setup.opened import opened_contest
from referee.store.health import database_facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_config(parser)
    add(
        "--out",
        type=file_to_write,
        metavar="FILE.zip",
        help="file to write (default: doctor-TIME.zip)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the file and say where it is."""
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    out = args.out or Path(f"doctor-{time}.zip")
    try:
        config = load_config(args.config)
    except ConfigError as error:
        print(f"{error} The file leaves out what depends on it.", file=sys.stderr)
        members = write_report(out, args.config.parent, _always(args.config))
    else:
        parts = _always(args.config) | _parts(config)
        missing: dict[str, list[str]] = {}
        members = write_report(
            out,
            config.storage.folder,
            parts,
            lambda name, why: missing.setdefault(why, []).append(name),
        )
        for why, names in missing.items():
            print(f"Without {', '.join(names)}: {why}", file=sys.stderr)
    print(f"Wrote {out}: {', '.join(members)}.")
    print(
        "It has no secrets, but it names teams and operators. Look through it before you send it."
    )
    return 0


def _always(path: Path) -> dict[str, Callable[[], Any]]:
    """Return the parts that need no sound configuration."""
    return {
        "machine.json": partial(machine_facts, path.absolute().parent),
        "contest.toml": partial(_configuration_text, path),
    }


def _configuration_text(path: Path) -> str:
    return file_bytes(path, SMALL_BYTES).decode("utf-8", "replace")


def _parts(config: Config) -> dict[str, Callable[[], Any]]:
    if not config.database.exists():  # To look for sessions would make a new folder.
        return {}
    return {
        "checks.json": partial(_checks, config),
        "database.json": partial(database_facts, config.database),
        "sessions.json": partial(_sessions, config),
        "audit.json": partial(_audit, config),
    }


def _checks(config: Config) -> ShownList:
    """Return the running referee's list; without one the list is made here, without slow checks."""
    from referee.programs.checking import check_here

    if is_hosted(config.storage.folder):
        desk = DeskClient(socket_path(config.storage.folder))
        return convert(desk.ask("check"), ReadinessNow)
    return check_here(config, None, partial(print, file=sys.stderr))


def _sessions(config: Config) -> Mapping[str, object]:
    with opened_contest(config) as contest:
        return sessions_told(contest)


def _audit(config: Config) -> list[ShownAction]:
    with opened_contest(config) as contest:
        trail = read_audit(contest, person="", action="", team="")
    return [shown_action(row) for row in trail]
