# SPDX-License-Identifier: Apache-2.0
"""Rank the teams of several stations together: halls or cities, each a laptop with a referee.

The board asks the feed of each station's scoreboard ([server] scoreboard) what is new. It only
asks: no station hears anything else from it. What it knows is kept in --data, so a board that
starts again goes on, and a station that is unplugged keeps its place. Without a network it reads
evidence bundles that somebody has copied.

Print the ranking once:

  referee board --follow 'Hall A=http://192.168.1.2:8002' --follow http://192.168.1.3:8002
  referee board --bundles copied --public-key hall_a.pub --public-key hall_b.pub

Follow the stations, and show the public one scoreboard, until Ctrl-C:

  referee board --follow 'Hall A=http://192.168.1.2:8002' --listen 0.0.0.0:8003

Print what a board knows, while it runs or later:

  referee board --data board-data

The exit code is 1 if a station did not answer, or sent something that cannot be used.
"""

from __future__ import annotations

import argparse
import json
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.seconds import some_seconds
from referee.errors import InputError
from referee.extras.stations.address import parse_addresses
from referee.programs.supervisor import bind
from referee.programs.terminal import say, tell_on_terminal
from referee.service.setup.clock import SystemClock
from referee.service.setup.folder_lock import lock_folder

if TYPE_CHECKING:
    from referee.extras.stations.program import BoardPlan

SERVES = True
"""Ctrl-C is the normal end of this command."""

_LOOK_AFTER_S = 0.2
_EVERY_LEAST_S, _EVERY_MOST_S = 0.5, 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from referee.tracks.loading import TRACK_OPTION

    add = parser.add_argument
    add(
        "--follow",
        action="append",
        default=[],
        metavar="[NAME=]URL",
        help="a station: the address of its scoreboard, and its name on the board; may be repeated",
    )
    add("--bundles", type=Path, metavar="DIR", help="folder of copied evidence bundles")
    add(
        "--public-key",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a station's signing.pub: bundles count only if one of these has signed; may be"
        " repeated",
    )
    add("--ca-file", type=Path, metavar="FILE", help="CA that https:// stations are checked with")
    add("--listen", metavar="HOST:PORT", help="follow until Ctrl-C, and serve the page there")
    add(
        TRACK_OPTION,
        default="network",
        metavar="TRACK",
        help="what is ranked: network, camera, or the Python module of other rules, which is run; "
        "a bundle or a feed chooses none (default: network)",
    )
    add("--title", default="Joint ranking", help="the board's title (default: Joint ranking)")
    add(
        "--every",
        type=some_seconds,
        default=2.0,
        metavar="DURATION",
        help="time between two looks at a station, 0.5 s to 1h (default: 2)",
    )
    add(
        "--data",
        type=Path,
        default=Path("board-data"),
        metavar="DIR",
        help="folder that keeps what the board knows (default: board-data)",
    )
    add("--json", action="store_true", help="print one JSON object: view, stations")


def run(args: argparse.Namespace) -> int:
    """Print the board, or serve it until interrupted."""
    from referee.extras.stations.program import JointBoard, board_pages

    _require_usable(args)
    if not args.follow and args.bundles is None:
        _print(args)
        return 0
    with ExitStack() as stack:
        stack.enter_context(lock_folder(args.data, "board"))
        board = JointBoard(_plan(args), tell_on_terminal)
        if args.listen is None:
            board.look_once()
            _print(args)
            return 0 if board.is_heard else 1
        from referee.service.event.newest_charts import require_charts

        require_charts()
        listener = bind(args.listen, "board server", "option --listen")
        stack.enter_context(board.follow(args.every))
        url, look_after = stack.enter_context(board_pages(args.data, listener))
        say(f"ready: board {url}  data {args.data}")
        while True:
            look_after()
            threading.Event().wait(_LOOK_AFTER_S)


def _require_usable(args: argparse.Namespace) -> None:
    if not _EVERY_LEAST_S <= args.every <= _EVERY_MOST_S:
        raise InputError("--every takes 0.5 to 3600 seconds.")
    if args.public_key and args.bundles is None:
        raise InputError("--public-key checks bundles: give --bundles too.")
    if args.listen is not None and args.json:
        raise InputError("--listen serves /view as JSON: leave out --json.")


def _plan(args: argparse.Namespace) -> BoardPlan:
    from referee.extras.stations.bundles import BundleFolder
    from referee.extras.stations.link import http_look
    from referee.extras.stations.program import BoardPlan
    from referee.tracks.loading import TRACK_OPTION, load_track

    track = load_track(args.track, TRACK_OPTION)
    return BoardPlan(
        title=args.title,
        track=track,
        stations=parse_addresses(args.follow),
        look=http_look(args.ca_file),
        bundles=None
        if args.bundles is None
        else BundleFolder(args.bundles, track, args.public_key),
        folder=args.data,
    )


def _print(args: argparse.Namespace) -> None:
    from referee.extras.stations.joint_board import read_board
    from referee.extras.stations.joint_text import board_text
    from referee.formats.json_text import json_of
    from referee.service.scoreboard.view import shown_view

    board = read_board(args.data, SystemClock())
    view, stations = board.publication.view, json.loads(board.live)["stations"]
    if args.json:
        print(json_of({"view": shown_view(view), "stations": stations}))
    else:
        print(board_text(view, stations))
