# SPDX-License-Identifier: Apache-2.0
"""Run an event: contest server, control desk, live scorer and scoreboard, until Ctrl-C.

The referee restarts a process that was killed, and a running session continues. The console says
what to do. The files in data/logs say what happened.

While a session is armed, runs or waits for its energy, press Ctrl-C twice to stop the event.
Closing the window stops nothing: the console then says which process to end.

  referee serve --config event/contest.toml
"""

from __future__ import annotations

import argparse

from referee.commands.options import add_config
from referee.programs.ending import ended_on_purpose
from referee.programs.terminal import say
from referee.service.setup.config_file import load_config
from referee.service.setup.image_counts import counts_text
from referee.service.setup.program import stop_with_parent

SERVES = True
"""Ctrl-C is the normal end of this command."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_config(parser)
    # A drill starts this command, and must not leave it behind.
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Host the event until interrupted."""
    from referee.programs.following import follow_sessions, tell_ca, tell_display
    from referee.programs.forked import forked_for
    from referee.programs.hosting import claimed, hosted
    from referee.tracks.loading import load_track

    if args.parent is not None:
        stop_with_parent(args.parent)
    config = load_config(args.config)
    with forked_for(config) as forked, ended_on_purpose(config), claimed(config.storage.folder):
        with hosted(config, forked=forked) as host:
            supervisor = host.supervisor
            doors = ", ".join(
                f"{lane.name} {lane.contest} (here {url})".strip()
                for lane, url in zip(config.lanes, supervisor.contest_urls, strict=True)
            )
            audience = supervisor.scoreboard_url
            shown = "" if audience is None else f"scoreboard {audience}  "
            say(
                f"ready: contestants {doors}  "
                f"console {supervisor.console_url}  {shown}{counts_text(host.images)}  "
                f"data {config.storage.folder}"
            )
            tell_ca(config.server.contest_tls)
            track = load_track(config.contest.track)
            tell_display(track, supervisor.console_url, len(config.lanes))
            follow_sessions(host.database, track)
    return 0
