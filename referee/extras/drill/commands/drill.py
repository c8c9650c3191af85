# SPDX-License-Identifier: Apache-2.0
"""Train the operators: play an event with emulated meters and teams, and let things go wrong.

The drill copies the event's configuration into a folder of its own: addresses, lanes, ranges and
operators are the event's. Pictures, teams and clients are generated, and every meter is emulated.
The event's data, its teams and its meters are not touched. Two people sit at the console as on the
day. Faults come at times that they do not know. Afterwards a report says for each fault when it was
seen, when it was dealt with, and what was lost, against the runbook in docs/emergency.md.

  referee drill --config event/contest.toml
  referee drill --config event/contest.toml --fault meter-unplugged --fault power-cut --seconds 60
  referee drill --list

What no console can do is done by hand: type a word at this terminal, for example 'cable' to put the
meter's cable back. '?' shows the words, 'quit' or Ctrl-C ends the drill with its report.
docs/drill.md has a plan for half an hour.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.seconds import whole_seconds
from referee.commands.options import MISSING, declare_config
from referee.errors import InputError, Unavailable
from referee.extras.drill.play.trainee_actions import Keyboard, words_text
from referee.extras.drill.rules.faults import BY_NAME, FAULTS, DrillFault
from referee.extras.drill.rules.judging import judge_all
from referee.extras.drill.rules.plan import draw_plan
from referee.extras.drill.rules.report import left_out_text, report_json, report_text
from referee.service.setup.config import LENGTH_MOST_S, Config
from referee.service.setup.config_file import load_config
from referee.service.setup.real_path import real_path

if TYPE_CHECKING:
    from referee.extras.drill.play.drilling import Drill
    from referee.extras.drill.play.hosting import Prepared, Wanted

_SECONDS_MOST, _SECONDS_LEAST = 120, 10
_SESSIONS, _MINUTES, _IMAGES = 4, 30.0, 120
_SEED_BELOW = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    declare_config(parser)
    add("--list", action="store_true", help="name the faults with one line each, and end")
    add(
        "--fault",
        action="append",
        default=[],
        metavar="NAME",
        help="let this fault come; may be repeated (default: one at random in each session)",
    )
    add("--sessions", type=int, metavar="N", help=f"number of sessions (default: {_SESSIONS})")
    add(
        "--seconds",
        type=whole_seconds,
        metavar="DURATION",
        help=f"length of a session (default: the event's, {_SECONDS_MOST} at most)",
    )
    add(
        "--minutes",
        type=float,
        default=_MINUTES,
        metavar="MINUTES",
        help="end the drill after this time (default: %(default)g)",
    )
    add("--seed", type=int, metavar="N", help="decides which faults come when (default: a new one)")
    add(
        "--for-trainer",
        action="store_true",
        help="tell on standard error what comes, when it comes. It spoils the drill for trainees",
    )
    add("--out", type=Path, metavar="DIR", help="folder of the drills (default: beside FILE)")
    add(
        "--images",
        type=int,
        default=_IMAGES,
        metavar="N",
        help="number of pictures that are drawn, once for all drills (default: %(default)d)",
    )
    add("--json", action="store_true", help="print the report as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Hold the drill and print its report."""
    from referee.extras.drill.play.drilling import Drill, DrillLimits, TrainersLog
    from referee.extras.drill.play.effects import possible
    from referee.extras.drill.play.hosting import prepared, require_event

    if args.list:
        print("\n".join(_catalogue()))
        return 0
    if args.config is None:
        raise InputError(f"{MISSING[:1].upper()}{MISSING[1:]}; --list needs neither.")
    named = [_fault(name) for name in args.fault]
    event = load_config(args.config)
    require_event(event)
    wanted = _wanted(args, event, len(named))
    plan = draw_plan(named, possible(), wanted.sessions, wanted.seed)
    limits = DrillLimits(wanted.sessions, 60.0 * args.minutes, float(wanted.seconds), wanted.seed)
    _say("Setting up the drill: pictures, teams, meters, servers. This takes half a minute.")
    with prepared(event, wanted, _say) as ready:
        keyboard = Keyboard(sys.stdin)
        log = TrainersLog(ready.folder / "trainer.jsonl", _say if args.for_trainer else None)
        drill = Drill(ready.scene, plan, limits, keyboard, log, _say)
        ready.scene.host.wait_until_ready(lambda: keyboard.wait(0.1))
        _tell_beginning(ready, wanted)
        try:
            drill.run()
        except KeyboardInterrupt:
            _say("Stopped. Here is the report.")
        finally:
            # Whatever ended the drill: what the operators did is worth its report.
            with _uninterrupted():
                _report(drill, ready.folder, as_json=args.json)
                keyboard.close()
                ready.scene.close()
    return 1 if drill.failed else 0


def _wanted(args: argparse.Namespace, event: Config, named: int) -> Wanted:
    """Check the numbers and fill in what was not given."""
    from referee.extras.drill.play.folder import TEAMS_MOST
    from referee.extras.drill.play.hosting import Wanted

    sessions = args.sessions if args.sessions is not None else max(_SESSIONS, named)
    shortened = max(_SECONDS_LEAST, min(_SECONDS_MOST, event.contest.seconds))
    seconds = shortened if args.seconds is None else args.seconds
    lanes = len(event.lanes)
    if not 1 <= sessions <= TEAMS_MOST - lanes:
        raise InputError(f"A drill has 1 to {TEAMS_MOST - lanes} sessions, not {sessions}.")
    if not _SECONDS_LEAST <= seconds <= LENGTH_MOST_S:
        raise InputError(
            f"A session of a drill takes at least {_SECONDS_LEAST} s, so that there is time to act."
        )
    if not 0 < args.minutes <= 24 * 60:
        raise InputError("Give --minutes above 0, a day at most.")
    if not 10 <= args.images <= 5000:
        raise InputError("Give 10 to 5000 --images.")
    seed = random.randrange(_SEED_BELOW) if args.seed is None else args.seed
    parent = args.out or event.path.parent / "drill"
    return Wanted(real_path(parent), seconds, sessions, args.images, seed)


def _fault(name: str) -> DrillFault:
    from referee.extras.drill.play.effects import possible

    if name not in BY_NAME:
        raise InputError(f"There is no fault '{name}'; the faults are {', '.join(BY_NAME)}.")
    if BY_NAME[name] not in possible():
        raise InputError(f"The fault '{name}' cannot be injected on this system.")
    return BY_NAME[name]


def _catalogue() -> Iterator[str]:
    for fault in FAULTS:
        yield f"  {fault.name:18}{fault.line}"
    yield ""
    yield "Not injected:"
    yield from left_out_text()


def _tell_beginning(ready: Prepared, wanted: Wanted) -> None:
    from referee.programs.following import tell_display

    host = ready.scene.host
    who: Sequence[str] = ready.operators
    _say(f"console {host.console}")
    if host.scoreboard is not None:
        _say(f"scoreboard {host.scoreboard}")
    tell_display(ready.scene.contest.track, host.console, len(ready.scene.meters))
    _say(f"drill {ready.folder}")
    teams = "One team wants" if wanted.sessions == 1 else f"{wanted.sessions} teams want"
    log_in = f"Log in as at the event: {', '.join(who)}." if who else "Nobody needs to log in."
    _say(f"""
You are the operators of this event. {log_in}
{teams} to run in the running order, {wanted.seconds} s each. Let them: New session, Arm, watch,
look at the result. Their people start their clients when you arm.
Things will go wrong. You are not told what, nor when. Use the console, the runbook
(docs/emergency.md), and your hands. Acknowledge each alarm that you have noticed.

Your hands, typed here (with several lanes add the lane: 'cable 2'):
{words_text()}
""")


def _report(drill: Drill, folder: Path, *, as_json: bool) -> None:
    record = drill.record()
    judged = judge_all(record)
    text, report = report_text(record, judged), report_json(record, judged)
    report["folder"] = str(folder)
    print(json.dumps(report) if as_json else text, flush=True)
    written = json.dumps(report, ensure_ascii=False, indent=2)
    try:
        (folder / "report.txt").write_text(text, encoding="utf-8")
        (folder / "report.json").write_text(f"{written}\n", encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{folder}: the report cannot be written there: {error}.") from error
    _say(f"The report is in {folder}/report.txt, what came when in {folder}/trainer.jsonl.")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let the end take its few seconds: a second Ctrl-C would leave processes behind."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
