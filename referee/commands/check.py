# SPDX-License-Identifier: Apache-2.0
"""Check whether an event is ready, and say what to do if it is not.

Each line says OK, WARN or FAIL. The console's page /check has the same list. While a FAIL stands,
no session can be armed, unless somebody overrides it with a reason. Exit code 1 means that a FAIL
stands.

Slow checks run once, and count for a day: the golden client, durable commits, guessable passwords,
and the meter's error queue and clock. --again repeats them, and --quick skips them. While the
referee runs, the command shows the running referee's list.

The command creates and changes nothing. What slow checks find, and overrides, are kept in the
event's own folder, if it has one.

  referee check --config event/contest.toml
  referee check --again --config event/contest.toml

An override holds for what the check finds now, and until midnight. --take-back ends it. ITEM is the
name behind FAIL. Acknowledge a WARN that you know and accept in the same way; the list no longer
counts it. All of it stays on record with the name and the reason, as on the page.

  referee check --override official --reason 'a show without prizes' --config event/contest.toml
  referee check --acknowledge calibration --reason 'a borrowed meter' --config event/contest.toml
  referee check --take-back official --reason 'repaired' --config event/contest.toml
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import convert

from referee.commands.operators import add_operator, written
from referee.commands.options import VARIABLE, environment_config
from referee.core.counts import counted
from referee.core.text_cells import isolated, with_isolated_quotes
from referee.errors import ConfigError, InputError, Unavailable
from referee.formats.json_text import json_of
from referee.service.desk.link import DeskClient, socket_path
from referee.service.preflight.finding import CheckResult, Level
from referee.service.preflight.overrides import make_override, take_back
from referee.service.preflight.shown import ReadinessNow, ShownFinding, ShownList, no_list
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.folder_lock import is_hosted, is_locked
from referee.service.setup.opened import opened_contest
from referee.service.setup.own_folder import Owner, owner_of, require_own

if TYPE_CHECKING:
    from referee.programs.checking import Slow

_RUN_S = 900.0
_LOOK_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--config",
        type=Path,
        default=environment_config() or Path("contest.toml"),
        metavar="FILE",
        help=f"the event's contest.toml (default: {VARIABLE}, or ./contest.toml)",
    )
    slow = parser.add_mutually_exclusive_group()
    slow.add_argument("--again", action="store_true", help="run all slow checks again")
    slow.add_argument("--quick", action="store_true", help="run no slow checks")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    _add_overrides(parser)


def run(args: argparse.Namespace) -> int:
    """Check and print, after an override if one is asked for; return 1 if a FAIL stands."""
    if _changes(args):
        # What was found before is what somebody overrides, so no slow check begins by itself.
        args.quick = not args.again
        _change_override(load_config(args.config), args, _list(args).findings)
        args.quick, args.again = True, False
    else:
        del args.by  # Looking is no action, so the audit has no refusal of it.
    shown = _list(args)
    if args.json:
        print(json_of(ShownList(ready=shown.ready, final=shown.final, findings=shown.findings)))
    else:
        print("\n".join(_lines(shown)))
    return 1 if _standing(shown.findings) else 0


def _list(args: argparse.Namespace) -> ShownList:
    from referee.programs.checking import check_here

    try:
        config = load_config(args.config)
    except ConfigError as error:
        remedy = "Repair the file; 'referee init' writes one that is sound."
        return no_list("file", error, remedy)
    if is_locked(config.rehearsals, "contest"):
        raise InputError("A rehearsal of this event is running. Check again once it is stopped.")
    if is_hosted(config.storage.folder):
        return _running(config, again=args.again)
    slow: Slow | None = None if args.quick else "all" if args.again else "missing"
    return check_here(config, slow, _say)


def _running(config: Config, *, again: bool) -> ShownList:
    """Return the list of the running referee, after its slow checks if `again`."""
    desk = DeskClient(socket_path(config.storage.folder))
    if again:
        desk.ask("check_again")
        _say("The referee is running its slow checks. This takes about half a minute.")
        deadline = time.monotonic() + _RUN_S
        while _asked(desk).running:
            if time.monotonic() > deadline:
                raise Unavailable("The slow checks have not finished; see data/logs/checks.log.")
            time.sleep(_LOOK_S)
    return _asked(desk)


def _asked(desk: DeskClient) -> ReadinessNow:
    return convert(desk.ask("check"), ReadinessNow)


def _lines(shown: ShownList) -> list[str]:
    lines: list[str] = []
    group = ""
    for row in shown.findings:
        if row.group != group:
            group = row.group
            lines.append(group)
        level = "KNOWN" if row.level == "WARN" and row.override else row.level
        text = with_isolated_quotes(row.text)
        lines.append(f"  {level:4}  {row.item}: {text}{_age(row.age_s)}")
        if row.remedy:
            # It may have a command to paste, so nothing goes into it.
            lines.append(f"        {row.remedy}")
        if row.override:
            by = row.override
            done = "overridden" if row.level == "FAIL" else "acknowledged"
            lines.append(f"        {done} by {isolated(by.operator)}: {by.reason}")
    return [*lines, "", _verdict(shown)]


def _verdict(shown: ShownList) -> str:
    rows = shown.findings
    warns = sum(row.level == "WARN" and row.override is None for row in rows)
    if shown.final:
        return "The results are final, so no session can be armed."
    if isinstance(shown, ReadinessNow) and shown.running:
        return "Not ready: no session can be armed while the slow checks run."
    if shown.ready:
        return f"Ready; {warns} to look at." if warns else "Ready."
    return f"Not ready: {counted(_standing(rows), 'check fails', 'checks fail')}."


def _standing(rows: Sequence[ShownFinding]) -> int:
    """Return how many FAILs nobody has overridden."""
    return sum(row.level == "FAIL" and row.override is None for row in rows)


def _age(age_s: float | None) -> str:
    if age_s is None:
        return ""
    minutes = int(age_s // 60)
    if minutes < 1:
        return " (just now)"
    return f" ({minutes} min ago)" if minutes < 120 else f" ({minutes // 60} h ago)"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _add_overrides(parser: argparse.ArgumentParser) -> None:
    """Declare the options of an override and of its end."""
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--override", metavar="ITEM", help="let sessions be armed although this check fails"
    )
    change.add_argument("--acknowledge", metavar="ITEM", help="acknowledge this warning")
    change.add_argument(
        "--take-back", metavar="ITEM", help="end the override or the acknowledgement of this check"
    )
    parser.add_argument("--reason", type=written, default="", help="why; it stays on record")
    add_operator(parser)


def _changes(args: argparse.Namespace) -> bool:
    """Tell whether the command changes an override; raise `InputError` if a reason is missing."""
    wanted = {args.override, args.acknowledge, args.take_back} != {None}
    if wanted and not args.reason.strip():
        raise InputError("An override, and its end, need --reason: it stays on record.")
    if args.reason and not wanted:
        raise InputError("--reason goes with --override, --acknowledge or --take-back.")
    return wanted


def _change_override(
    config: Config, args: argparse.Namespace, rows: Sequence[ShownFinding]
) -> None:
    """Make or end an override of a finding in the list; a repeat changes nothing.

    Raises `InputError` if no finding, or more than one, has the name; `Refusal` if `--override`
    names no FAIL, or `--acknowledge` no WARN.
    """
    _require_folder(config)
    with opened_contest(config) as contest:
        now = contest.clock.now()
        if args.take_back is None:
            level = Level.WARN if args.override is None else Level.FAIL
            row = _named(args.acknowledge or args.override or "", rows)
            finding = CheckResult(row.group, row.item, Level(row.level), row.text)
            seen = (level, finding.text)
            make_override(contest.database, now, finding, seen, args.reason, args.by)
            return
        override = _named(args.take_back, rows).override
        if override is not None:
            take_back(contest.database, now, override.number, args.reason, args.by)


def _require_folder(config: Config) -> None:
    """Raise `InputError` if the event has no folder yet, in which an override could be kept."""
    folder = config.storage.folder
    require_own(folder)
    if owner_of(folder) is not Owner.REFEREE:
        raise InputError(
            f"{folder}: the event has no folder yet, and overrides are kept there. Start 'referee "
            "serve' once."
        )


def _named(name: str, rows: Sequence[ShownFinding]) -> ShownFinding:
    """Return the finding with this name: its item, or its group and its item."""
    wanted = _plain(name)
    matching = [row for row in rows if wanted in (_plain(row.item), _plain(_full(row)))]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"'{_full(row)}'" for row in matching)
        raise InputError(f"Several checks are called '{name}'. Say which: {names}.")
    failing = [f"'{row.item}'" for row in rows if row.level == Level.FAIL.value]
    failing_text = f"These fail: {', '.join(failing)}." if failing else "No check fails now."
    raise InputError(f"No check is called '{name}'. {failing_text}")


def _full(row: ShownFinding) -> str:
    return f"{row.group}, {row.item}"


def _plain(name: str) -> str:
    return " ".join(name.replace(":", " ").replace(",", " ").split()).casefold()
