# SPDX-License-Identifier: Apache-2.0
"""The command line: a module for each command, in `referee.commands` or in an extra."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import NoReturn

from referee.core.actors import Actor
from referee.core.garbage import collections_paused, keep_what_is_loaded
from referee.errors import InputError, RefereeError
from referee.programs.terminal import drop_output, tell_on_terminal
from referee.service.setup.extra import GUESTS, all_extras

COMMANDS = {
    "demo": "run a whole session on this machine, with generated data",
    "practice": "run a rehearsal referee for a contestant",
    "explain": "show what became of each detection of a session, with pictures",
    "init": "set up an event: write a commented configuration and its secrets",
    "certificate": "make a certificate for contestants who connect by TLS",
    "team": "register teams, edit their list, print their slips",
    "order": "set and show the running order, by lottery or by hand",
    "check": "check whether an event is ready, and say what to do if it is not",
    "operator": "register who may use the console, with passwords",
    "audit": "print who did what, and what was refused",
    "doctor": "collect what a maintainer needs into one file without secrets",
    "serve": "run an event",
    "results": "print or write the ranking, the prizes and what is open",
    "review": "let an energy stand that is SUSPECT or INVALID, with a reason",
    "proposal": "score sessions again as a proposal, then apply or cancel it",
    "finalize": "make the results final, or say what is open",
    "scoreboard": "freeze what the audience sees, or thaw it",
    "history": "compare the mean scores of several years, and of each year's best",
    "score": "score a file of detections, offline",
    "export": "write the evidence bundle of a session, or of all sessions",
    "verify": "compute everything in an evidence bundle again, on any machine",
    "sign": "add a signature to an evidence bundle",
    "camera": "write a frame of the camera track, or its test card, as a picture",
}
# The command that starts the processes of 'serve'. It is not for people, so the help omits it.
HIDDEN = "process"
# The exit code that a shell reports for a program whose reader has gone, as with `| head`.
_READER_GONE = 128 + signal.SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 wrong use."""
    # numpy's threads of linear algebra cost each process time to start, and no rule needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # SIGTERM from a supervisor or a container leads to the same clean end as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell script makes its background programs ignore Ctrl-C. This restores it.
    signal.signal(signal.SIGINT, _interrupt)
    # A closed window leads there, too, unless nohup wants the program to outlive it.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)
    words = sys.argv[1:] if argv is None else list(argv)
    parser = _parser(words[0] if words else "")
    if argv is None:  # This is the whole process, not a call from within another one.
        keep_what_is_loaded()
    args = parser.parse_args(words)
    try:
        code: int = args.run(args)
        sys.stdout.flush()  # Raises BrokenPipeError here, not at exit, if the reader has gone.
        return code
    except BrokenPipeError:
        drop_output(sys.stdout)
        return _READER_GONE
    except InputError as error:
        _record_refused(args, error)
        tell_on_terminal(f"referee {args.command}: {error}")
        return 2
    except RefereeError as error:
        _record_refused(args, error)
        tell_on_terminal(f"referee {args.command}: {error}")
        return 1
    except KeyboardInterrupt:
        tell_on_terminal(f"referee {args.command}: stopped.")
        # Ctrl-C is the normal end of a server. Any other command has not finished its work.
        return 0 if args.serves else 1


class _Version(argparse.Action):
    """Print the version and end; only this asks git for the commit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from referee.service.setup.commit import version_text

        print(f"{parser.prog} {version_text()}")
        parser.exit()


def _parser(wanted: str) -> argparse.ArgumentParser:
    """Build the parser; import only the wanted command, so that each command starts fast."""
    parser = argparse.ArgumentParser(
        prog="referee",
        description="The referee of the Low-Power Image Recognition Challenge: hands out images "
        "for ten minutes, takes detections, measures the energy, scores mAP per watt-hour.",
        epilog="New here? Run 'referee demo'. A contestant wants 'referee practice'; an "
        "organiser 'referee init', 'referee check' and 'referee serve'.",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version, with the commit if known"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary, home in all_commands():
        command = commands.add_parser(name, help=summary)
        if name == wanted:
            _fill(command, home)
    if wanted == HIDDEN:
        _fill(commands.add_parser(HIDDEN), f"referee.commands.{HIDDEN}")
    return parser


def all_commands() -> Iterator[tuple[str, str, str]]:
    """Yield the name, summary and module of each command: the contest's, then the extras'."""
    for name, summary in COMMANDS.items():
        yield name, summary, f"referee.commands.{name}"
    for extra in all_extras():
        for name, summary in extra.commands.items():
            yield name, summary, f"{GUESTS}.{extra.name}.commands.{name}"


def _fill(command: argparse.ArgumentParser, home: str) -> None:
    with collections_paused():
        module = importlib.import_module(home)
    command.description = module.__doc__
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    module.add_arguments(command)
    command.set_defaults(run=module.run, serves=getattr(module, "SERVES", False))


def _record_refused(args: argparse.Namespace, error: RefereeError) -> None:
    """Put a refused command of an operator into its event's audit; other commands have none.

    A `by` that is no operator belongs to a command that only reads.
    """
    if isinstance(getattr(args, "by", None), Actor):
        # Only such a command needs the database, and has imported it by now.
        importlib.import_module("referee.commands.operators").record_refused(args, error)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGHUP:  # Shell and kernel both send one; the end is not interrupted.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise KeyboardInterrupt
