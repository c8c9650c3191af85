# SPDX-License-Identifier: Apache-2.0
"""The command line: a module for each command, in `referee.commands` or in an extra."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from power.commands.characters import lacking, print_escapes
from power.commands.parser import Parser, as_option
from power.logs.silence import keep_drawing_silent
from referee.commands.options import MISSING, source_of
from referee.core.actors import Actor
from referee.core.garbage import collections_paused, keep_what_is_loaded
from referee.errors import InputError, RefereeError
from referee.programs.terminal import drop_output, tell_on_terminal

if TYPE_CHECKING:
    from referee.service.setup.extra import Extra

COMMANDS = {
    "contestants": {
        "demo": "run a whole session on this machine, with generated data",
        "practice": "run a rehearsal referee for a contestant",
        "explain": "show what became of each detection of a session, with pictures",
        "score": "score a file of detections, offline",
    },
    "organisers": {
        "init": "set up an event: write a commented configuration and its secrets",
        "certificate": "make a certificate for contestants who connect by TLS",
        "team": "register teams, edit their list, print their slips",
        "order": "set and show the running order, by lottery or by hand",
        "operator": "register who may use the console, with passwords",
        "results": "print or write the ranking, the prizes and what is open",
        "proposal": "score sessions again as a proposal, then apply or cancel it",
        "finalize": "make the results final, or say what is open",
        "export": "write the evidence bundle of a session, or of all sessions",
        "sign": "add a signature to an evidence bundle",
    },
    "operators": {
        "check": "check whether an event is ready; say what to do if it is not",
        "serve": "run an event",
        "review": "let a SUSPECT or INVALID energy stand, with a reason",
        "scoreboard": "freeze what the audience sees, or unfreeze it",
        "camera": "write a frame of the camera track, or its test card",
        "audit": "print who did what, and what was refused",
        "doctor": "collect what a maintainer needs into one file without secrets",
    },
    "laboratories and researchers": {
        "verify": "compute everything in an evidence bundle again, anywhere",
        "history": "compare the mean scores of several years, and of their best",
    },
    "other tracks": {},
    "this program": {
        "upgrade-check": "say whether this version opens an event's folder",
        "medium": "write a folder that installs the referee without a network",
        "docs": "open the documents in the browser, without a network",
        "completion": "print a completion script for a shell",
    },
}
"""The contest's commands with their summaries, by whom they serve."""

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
    keep_drawing_silent()
    # SIGTERM from a supervisor or a container leads to the same clean end as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell script makes its background programs ignore Ctrl-C. This restores it.
    signal.signal(signal.SIGINT, _interrupt)
    # A closed window leads there, too, unless nohup wants the program to outlive it.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)
    print_escapes()
    words = as_option(sys.argv[1:] if argv is None else argv)
    parser = _parser(words[:1], _guests_of(words[:1]))
    if argv is None:  # This is the whole process, not a call from within another one.
        keep_what_is_loaded()
        warnings.filterwarnings("ignore", module=r"PIL\.")  # Our messages tell what is damaged.
    args = parser.parse_args(words)
    if args.needs_config and args.config is None:
        parser.error(MISSING)
    try:
        code: int = args.run(args)
        sys.stdout.flush()  # Raises BrokenPipeError here, not at exit, if the reader has gone.
        return code
    except BrokenPipeError:
        drop_output(sys.stdout)
        return _READER_GONE
    except InputError as error:
        _record_refused(args, error)
        tell_on_terminal(f"referee {args.command}: {error}{source_of(error)}")
        return 2
    except RefereeError as error:
        _record_refused(args, error)
        tell_on_terminal(f"referee {args.command}: {error}")
        return 1
    except UnicodeError as error:
        tell_on_terminal(f"referee {args.command}: {lacking(error)}")
        return 2
    except KeyboardInterrupt:
        tell_on_terminal(f"referee {args.command}: stopped.")
        # Ctrl-C is the normal end of a server. Any other command has not finished its work.
        return 0 if args.serves else 1


class _Version(argparse.Action):
    """Print the versions of the referee and of the packages beside it; this asks git, too."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from referee.plugins import installed_beside, words_of
        from referee.service.setup.commit import version_text

        print(f"{parser.prog} {version_text()}")
        for plugin in installed_beside():
            print(words_of(plugin))
        parser.exit()


def whole_parser() -> Parser:
    """Return the parser with the options of every command."""
    names = {name for name, _, _ in all_commands()}
    return _parser(names, _all_guests(), "command to run")


def _guests_of(words: Sequence[str]) -> Iterable[Extra]:
    """Return the guests whose commands matter to a line that begins with these words.

    None do to a command of the contest, so that it starts fast. The list, and a word that the
    referee's own guests do not know either, need those of other packages, too.
    """
    asked = words[0] if words else "--help"
    if asked == HIDDEN or any(asked in listed for listed in COMMANDS.values()):
        return ()
    if asked in ("-h", "--help"):
        return _all_guests()
    from referee.service.setup.extra import own_extras

    own = own_extras().values()
    known = {name for extra in own for listed in extra.commands.values() for name in listed}
    return own if asked.startswith("-") or asked in known else _all_guests()


def _all_guests() -> Iterable[Extra]:
    from referee.service.setup.extra import all_extras

    return all_extras()


def _parser(
    wanted: Collection[str], guests: Iterable[Extra], listed_as: str = argparse.SUPPRESS
) -> Parser:
    """Build the parser; import only the wanted commands, so that each command starts fast.

    The groups list the commands, so the parser itself lists them only if `listed_as` is a text.
    Of guests it knows the commands of these alone.
    """
    parser = _bare_parser()
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog=parser.prog, help=listed_as
    )
    if HIDDEN in wanted:  # Each program starts with it, and needs no list of the others.
        _fill(commands.add_parser(HIDDEN), f"referee.commands.{HIDDEN}")
        return parser
    for group, listed in _grouped_commands(guests).items():
        rows = [f"{name:<13} {summary}" for name, (summary, _) in listed.items()]
        parser.add_argument_group(f"for {group}", "\n".join(rows))
        for name, (summary, home) in listed.items():
            command = commands.add_parser(name, help=summary)
            if name in wanted:
                _fill(command, home)
    return parser


def _bare_parser() -> Parser:
    parser = Parser(
        prog="referee",
        usage="referee [-h] [--version] COMMAND ...",
        description="The referee of the Low-Power Image Recognition Challenge: hands out images for"
        "\nten minutes, takes detections, measures the energy, scores mAP per watt-hour.",
        example="referee demo\nreferee practice --help",
    )
    parser.set_defaults(needs_config=False)
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version, with the commit if known"
    )
    return parser


def _grouped_commands(guests: Iterable[Extra]) -> dict[str, dict[str, tuple[str, str]]]:
    """Return the summary and the module of each command, by its group and its name.

    A guest's commands replace none of the referee's own.
    """
    groups: dict[str, dict[str, tuple[str, str]]] = {
        group: {
            name: (summary, f"referee.commands.{name.replace('-', '_')}")
            for name, summary in listed.items()
        }
        for group, listed in COMMANDS.items()
    }
    known = {HIDDEN, *(name for listed in groups.values() for name in listed)}
    for extra in guests:
        for group, summaries in extra.commands.items():
            listed = groups.setdefault(group, {})
            for name, summary in summaries.items():
                if name not in known:
                    listed[name] = (summary, f"{extra.package}.commands.{name}")
    return groups


def all_commands() -> Iterator[tuple[str, str, str]]:
    """Yield the name, summary and module of each command, in the order of the help."""
    for listed in _grouped_commands(_all_guests()).values():
        for name, (summary, home) in listed.items():
            yield name, summary, home


def _fill(command: argparse.ArgumentParser, home: str) -> None:
    with collections_paused():
        module = importlib.import_module(home)
    command.description = module.__doc__
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
