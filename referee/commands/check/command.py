# SPDX-License-Identifier: Apache-2.0
"""The command `referee check`: the list, and its overrides."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.commands.check.overriding import add_overrides, change_override, changes
from referee.errors import ConfigError, InputError, Unavailable
from referee.programs.checking import Slow, check_here
from referee.programs.hosting import is_hosted
from referee.service.desk.link import DeskClient, socket_path
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.folder_lock import is_locked

_RUN_S = 900.0
_LOOK_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--config",
        type=Path,
        default=Path("contest.toml"),
        metavar="FILE",
        help="the event's contest.toml (default: ./contest.toml)",
    )
    slow = parser.add_mutually_exclusive_group()
    slow.add_argument("--again", action="store_true", help="make all slow checks anew")
    slow.add_argument("--quick", action="store_true", help="make no slow check")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_overrides(parser)


def run(args: argparse.Namespace) -> int:
    """Check and print, after an override if one is asked for; return 1 if a FAIL stands."""
    if changes(args):
        # What was found before is what somebody overrides, so no slow check begins by itself.
        args.quick = not args.again
        change_override(load_config(args.config), args, _list(args)["findings"])
        args.quick, args.again = True, False
    else:
        del args.by  # Looking is no action, so the audit has no refusal of it.
    shown = _list(args)
    if args.json:
        print(json.dumps({"ready": shown["ready"], "findings": shown["findings"]}))
    else:
        print("\n".join(_lines(shown)))
    return 0 if shown["ready"] else 1


def _list(args: argparse.Namespace) -> Mapping[str, Any]:
    try:
        config = load_config(args.config)
    except ConfigError as error:
        row = {"group": "configuration", "item": "file", "level": "FAIL", "text": str(error)}
        remedy = "Repair the file; 'referee init' writes one that is sound."
        more = {"remedy": remedy, "found_utc": None, "age_s": None, "override": None}
        return {"ready": False, "findings": [row | more]}
    if is_locked(config.rehearsals, "contest"):
        raise InputError("A rehearsal of this event runs. Check when it is stopped.")
    if is_hosted(config.storage.folder):
        return _running(config, again=args.again)
    slow: Slow | None = None if args.quick else "all" if args.again else "missing"
    return check_here(config, slow, _say)


def _running(config: Config, *, again: bool) -> Mapping[str, Any]:
    """Return the list of the running referee, after its slow checks if `again`."""
    desk = DeskClient(socket_path(config.storage.folder))
    if again:
        desk.ask("check_again")
        _say("The referee makes its slow checks; this takes half a minute or so.")
        deadline = time.monotonic() + _RUN_S
        while desk.ask("check")["running"]:
            if time.monotonic() > deadline:
                raise Unavailable("The slow checks do not end; see data/logs/checks.log.")
            time.sleep(_LOOK_S)
    return desk.ask("check")


def _lines(shown: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    group = ""
    for row in shown["findings"]:
        if row["group"] != group:
            group = row["group"]
            lines.append(group)
        level = "KNOWN" if row["level"] == "WARN" and row["override"] else row["level"]
        lines.append(f"  {level:4}  {row['item']}: {row['text']}{_age(row['age_s'])}")
        if row["remedy"]:
            lines.append(f"        {row['remedy']}")
        if row["override"]:
            by = row["override"]
            done = "overridden" if row["level"] == "FAIL" else "acknowledged"
            lines.append(f"        {done} by {by['operator']}: {by['reason']}")
    return [*lines, "", _verdict(shown["ready"], shown["findings"])]


def _verdict(ready: bool, rows: Sequence[Mapping[str, Any]]) -> str:
    warns = sum(row["level"] == "WARN" and row["override"] is None for row in rows)
    if ready:
        return f"Ready; {warns} to look at." if warns else "Ready."
    stand = sum(row["level"] == "FAIL" and row["override"] is None for row in rows)
    return f"Not ready: {stand} {'check fails' if stand == 1 else 'checks fail'}."


def _age(age_s: float | None) -> str:
    if age_s is None:
        return ""
    minutes = int(age_s // 60)
    if minutes < 1:
        return " (just now)"
    return f" ({minutes} min ago)" if minutes < 120 else f" ({minutes // 60} h ago)"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
