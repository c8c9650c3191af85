# SPDX-License-Identifier: Apache-2.0
"""Write a static site of the event: what the scoreboard shows, and nothing else.

Any host serves it, and a browser opens its index.html from a disk. While the referee runs:

  referee publish site --config event/contest.toml

Renew it until Ctrl-C, and copy it after each change:

  referee publish site --follow --then 'rsync -a site/ host:www/' --config event/contest.toml

A freeze holds for the site, too. Files that did not change are not written again, and the pointer
state.json is replaced last.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from power.commands.seconds import some_seconds
from referee.commands.options import add_config
from referee.errors import InputError
from referee.programs.lower_priority import lower_priority
from referee.programs.terminal import say, tell_on_terminal
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest

SERVES = True
"""Ctrl-C is the normal end of this command."""

_EVERY_LEAST_S, _EVERY_MOST_S = 1.0, 3600.0
# As the scoreboard's: whatever is drawn may wait for a session.
_NICENESS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "site",
        type=Path,
        metavar="DIR",
        help="the site's folder: a new one, an empty one, or this site's own",
    )
    add_config(parser)
    parser.add_argument("--follow", action="store_true", help="renew the site until Ctrl-C")
    parser.add_argument(
        "--every",
        type=some_seconds,
        metavar="DURATION",
        help="with --follow: time between two renewals, 1s to 1h (default: 10s)",
    )
    parser.add_argument(
        "--then",
        metavar="COMMAND",
        help="with --follow: run this in a shell after each change, such as a copy to a host",
    )


def run(args: argparse.Namespace) -> int:
    """Write the site, or renew it until interrupted."""
    from referee.extras.publish.making.following import follow, opened_site
    from referee.service.event.newest_charts import require_charts

    if not args.follow and (args.every is not None or args.then is not None):
        raise InputError("--every and --then belong to --follow.")
    every_s = 10.0 if args.every is None else args.every
    if not _EVERY_LEAST_S <= every_s <= _EVERY_MOST_S:
        raise InputError("--every takes 1 to 3600 seconds.")
    require_charts()
    with (
        opened_contest(load_config(args.config)) as contest,
        opened_site(contest, args.site, every_s if args.follow else None, tell_on_terminal) as site,
    ):
        written = site.renew()
        say(f"{args.site}: {written.files} files written, {written.bytes:,} bytes")
        if args.follow:
            lower_priority(_NICENESS)
            follow(site, every_s, args.then, tell_on_terminal)
    return 0
