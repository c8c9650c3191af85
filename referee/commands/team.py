# SPDX-License-Identifier: Apache-2.0
"""Register the teams of an event, and edit their list.

One registration is one solution; an organisation with two solutions registers two teams. An
imported table has the column 'team', and optionally 'organisation', 'prizes' and 'sessions' (yes or
no), 'lane' and 'login'. A login is short and has plain letters. If none is given, the referee makes
one from the name. A login never changes, and a team may type its name instead. With 'no' in
'sessions' a team hands in models only: the running order leaves it out. A team with the name of a
lane runs there only; the others take any free lane. Passwords are stored as hashes only, so slips
can be made only together with new passwords. A running referee uses every change at once, and every
change is on record.

  referee team import teams.csv --config event/contest.toml
  referee team slips --out slips.html --config event/contest.toml
  referee team add 'Team Rocket' --config event/contest.toml
  referee team amend 'Team Rocket' --sessions no --reason 'OVIC only' --config event/contest.toml
  referee team rename 'Team Rocket' 'Rocket II' --config event/contest.toml
  referee team withdraw 'Rocket II' --reason 'device broken' --config event/contest.toml
  referee team list --config event/contest.toml
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from power.commands.written_file import page_to_write
from referee.commands.operators import add_operator, written
from referee.commands.options import add_config
from referee.core.counts import counted
from referee.core.text_cells import isolated
from referee.errors import InputError
from referee.formats.json_text import json_of
from referee.formats.team_table import parse_team_table
from referee.formats.text import read_bytes
from referee.programs.progress import progress_bar
from referee.programs.terminal import say, tell_on_terminal
from referee.service.board.slip_venue import venue_of
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.opened import opened_contest
from referee.service.teams import registration, registration_changes
from referee.service.teams.lanes import declared_lane
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import roster_text, shown_roster
from referee.service.teams.slips import slips_page
from referee.service.teams.team_words import look_alike_warnings
from referee.store.teams import Registration

_ACTIONS = {
    "import": (
        "register all teams of a CSV table, or none if a line is wrong",
        "import teams.csv",
    ),
    "add": (
        "register a team and print its password",
        "add 'Team Rocket'",
    ),
    "list": (
        "print the teams in the running order, with attempts and turn",
        "list",
    ),
    "slips": (
        "make NEW passwords and a page of slips to print; earlier passwords stop working",
        "slips --out slips.html",
    ),
    "password": (
        "give a team a new password and print it; the old one stops working",
        "password 'Team Rocket'",
    ),
    "amend": (
        "change what a registration says: organisation, prizes, sessions, lane",
        "amend 'Team Rocket' --sessions no --reason 'OVIC only'",
    ),
    "rename": (
        "give a team another name; login, password, place and sessions stay",
        "rename 'Team Rocket' 'Rocket II'",
    ),
    "withdraw": (
        "withdraw a team; nothing is deleted",
        "withdraw 'Rocket II' --reason 'device broken'",
    ),
    "return": (
        "undo a withdrawal",
        "return 'Rocket II' --reason 'device repaired'",
    ),
    "remove": (
        "remove a registration that was a mistake; a team with sessions stays",
        "remove 'Rocket II'",
    ),
}

_YES_NO = {"yes": True, "no": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(_ACTIONS))
    for name, (summary, words) in _ACTIONS.items():
        example = f"referee team {words} --config event/contest.toml"
        action = actions.add_parser(name, help=summary, example=example)
        _add_own(action, name)
        add_config(action)
        add_operator(action)


def _add_own(action: argparse.ArgumentParser, name: str) -> None:
    """Declare what one action takes beside the configuration and the operator."""
    if name == "import":
        action.add_argument("file", type=Path, metavar="FILE.csv", help="the table of teams")
    elif name == "list":
        action.add_argument("--json", action="store_true", help="print one JSON object")
    elif name == "slips":
        _add_slips(action)
    else:
        action.add_argument("name", help="the team; one registration is one solution")
    if name == "rename":
        action.add_argument("new_name", help="its new name")
    if name == "add":
        action.add_argument("--organisation", default="", help="who entered it")
        action.add_argument(
            "--login",
            default="",
            metavar="LOGIN",
            help="what it types as its user name (default: made from its name)",
        )
        action.add_argument("--no-prizes", action="store_true", help="the team declines prizes")
        action.add_argument(
            "--models-only", action="store_true", help="the team runs no session (OVIC only)"
        )
    if name in ("add", "amend"):
        action.add_argument(
            "--lane",
            metavar="NAME",
            help="the only lane where it runs ('': any; default: %s)"
            % ("any" if name == "add" else "as it is"),
        )
    if name == "amend":
        action.add_argument("--organisation", metavar="TEXT", help="who entered it")
        action.add_argument("--prizes", choices=_YES_NO, help="whether it takes prizes")
        action.add_argument(
            "--sessions", choices=_YES_NO, help="whether it runs sessions, or submits models only"
        )
    if name in ("amend", "withdraw", "return"):
        action.add_argument("--reason", type=written, required=True, help="why; it stays on record")


def _add_slips(action: argparse.ArgumentParser) -> None:
    add = action.add_argument
    add("name", nargs="*", metavar="TEAM", help="only these teams (default: all active ones)")
    add(
        "--out",
        type=page_to_write,
        required=True,
        metavar="FILE.html",
        help="page to write, then to print",
    )
    add(
        "--address",
        action="append",
        metavar="URL",
        help="address for contestants; may be repeated (default: this laptop's)",
    )
    add(
        "--wifi",
        nargs=2,
        metavar=("NAME", "PASSWORD"),
        help="wireless network of the venue; each slip has a code that joins it",
    )
    add("--rules", metavar="TEXT", help="the rules in one line (default: window and score)")


def run(args: argparse.Namespace) -> int:
    """Change the list, or print it."""
    config = load_config(args.config)
    registration.require_list(config)
    with opened_contest(config) as contest:
        act = _DO[args.action]
        act(contest, args)
    return 0


def _import(contest: Contest, args: argparse.Namespace) -> None:
    lines = parse_team_table(read_bytes(args.file), str(args.file))
    with progress_bar("teams registered") as progress:
        names = registration.import_teams(contest, lines, str(args.file), args.by, progress)
    _warn(contest, names)
    print(
        f"Registered {counted(len(names), 'team')}, without passwords so far: 'referee team slips' "
        "makes passwords, and slips to print."
    )


def _add(contest: Contest, args: argparse.Namespace) -> None:
    details = Registration(
        " ".join(args.organisation.split()),
        not args.no_prizes,
        not args.models_only,
        _lane(contest, args) or "",
    )
    name = registration.add_team(contest, args.name, details, args.by, args.login)
    _warn(contest, [name])
    _print_passwords(contest, [name], args.by)


def _print_passwords(contest: Contest, names: Collection[str], operator: str) -> None:
    """Make new passwords, and print each team's login and password."""
    for name, password in registration_changes.new_passwords(contest, names, operator).items():
        print(f"{name}: {password}")
        # Programs read the line above, so this one is not in it.
        tell_on_terminal(f"'{name}' logs in as {registration.login_of(contest, name)}")


def _warn(contest: Contest, names: Collection[str]) -> None:
    for warning in look_alike_warnings(contest, names):
        tell_on_terminal(f"warning: {warning}")


def _list(contest: Contest, args: argparse.Namespace) -> None:
    roster = read_roster(contest)
    progress = read_progress(contest)
    print(json_of(shown_roster(roster, progress)) if args.json else roster_text(roster, progress))


def _slips(contest: Contest, args: argparse.Namespace) -> None:
    wifi = tuple(args.wifi) if args.wifi else None
    venue = venue_of(contest.config, wifi, args.address or (), args.rules or "")
    _require_writable(args.out)
    with progress_bar("passwords made") as progress:
        passwords = registration_changes.new_passwords(contest, args.name, args.by, progress)
    if not passwords:
        raise InputError("No team is registered, so there are no slips to make.")
    teams = read_roster(contest).teams
    bound = {team.name: team.registration.lane for team in teams}
    logins = {team.name: team.login for team in teams}
    _write_private(args.out, slips_page(venue, passwords, bound, logins))
    print(
        f"Wrote {args.out}: slips with NEW passwords for {counted(len(passwords), 'team')}. "
        "Earlier passwords no longer work."
    )
    if not any(venue.lanes.values()):
        print(
            "This laptop is on no network, so the slips have a blank line for the address. "
            "Give it with --address.",
            file=sys.stderr,
        )


def _password(contest: Contest, args: argparse.Namespace) -> None:
    _print_passwords(contest, [args.name], args.by)


def _amend(contest: Contest, args: argparse.Namespace) -> None:
    if args.organisation is args.prizes is args.sessions is args.lane is None:
        raise InputError("Nothing to change: give --organisation, --prizes, --sessions or --lane.")
    lane = _lane(contest, args)

    def changed(old: Registration) -> Registration:
        return Registration(
            organisation=(
                old.organisation
                if args.organisation is None
                else " ".join(args.organisation.split())
            ),
            prizes=_YES_NO.get(args.prizes, old.prizes),
            sessions=_YES_NO.get(args.sessions, old.sessions),
            lane=old.lane if lane is None else lane,
        )

    new = registration_changes.amend(contest, args.name, changed, args.reason, args.by)
    organisation = f"entered by {isolated(new.organisation)}, " if new.organisation else ""
    prizes = "takes prizes" if new.prizes else "declines prizes"
    sessions = "runs sessions" if new.sessions else "submits models only"
    where = f" only in lane {isolated(new.lane)}" if new.lane else ""
    print(f"'{isolated(args.name)}': {organisation}{prizes}, {sessions}{where}.")


def _lane(contest: Contest, args: argparse.Namespace) -> str | None:
    """Return the lane that --lane names, as it is declared; None without the option."""
    if args.lane is None:
        return None
    try:
        return declared_lane(contest.config, args.lane)
    except InputError as error:
        raise InputError(f"--lane: {error}.") from error


def _rename(contest: Contest, args: argparse.Namespace) -> None:
    name = registration_changes.rename(contest, args.name, args.new_name, args.by)
    _warn(contest, [name])
    login = registration.login_of(contest, name)
    say(f"'{args.name}' is now '{name}'. It still logs in as {login}, or with any earlier name.")


def _withdraw(contest: Contest, args: argparse.Namespace) -> None:
    registration_changes.withdraw(contest, args.name, args.reason, args.by)
    say(f"'{args.name}' has withdrawn.")


def _return(contest: Contest, args: argparse.Namespace) -> None:
    registration_changes.bring_back(contest, args.name, args.reason, args.by)
    say(f"'{args.name}' takes part again.")


def _remove(contest: Contest, args: argparse.Namespace) -> None:
    registration_changes.remove(contest, args.name, args.by)
    say(f"'{args.name}' is no longer registered.")


_DO: dict[str, Callable[[Contest, argparse.Namespace], None]] = {
    "import": _import,
    "add": _add,
    "list": _list,
    "slips": _slips,
    "password": _password,
    "amend": _amend,
    "rename": _rename,
    "withdraw": _withdraw,
    "return": _return,
    "remove": _remove,
}


def _require_writable(path: Path) -> None:
    """Raise `InputError` before new passwords replace the old ones, if no page could be written."""
    if not path.parent.is_dir() or path.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path} cannot be written: name a file in a folder of your own.")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
