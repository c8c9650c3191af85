# SPDX-License-Identifier: Apache-2.0
"""`python -m power selftest`: try a meter out before an event."""

from __future__ import annotations

import argparse
import json
import platform
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from power.bench.priority import hurried
from power.bench.selftest import Check, CheckOutcome, SelfTest
from power.checklist.report import ChecklistReport, load, save
from power.checklist.steps import chosen, table
from power.checklist.tools import PersonAnswer, StepSkipped, StepTools, WalkEnded
from power.checklist.walk import SECOND, WALK, NotedPerson, walk
from power.clock import real_elapsed_s
from power.commands.as_found import as_found, in_time
from power.commands.options import (
    add_discard_option,
    add_meter_options,
    chosen_meter,
    guard_of,
)
from power.commands.output import print_json, say
from power.commands.seconds import whole_seconds
from power.connect import open_wt310
from power.errors import MeterError
from power.meter import Identity
from power.transports.transport import WireLog
from power.wipe_guard import Guard
from power.wt310.driver import WT310

_DESCRIPTION = """\
Check identity, error queue, settings, update rate, the behaviour right after START, the
integrator's clock against this computer's, and a short integration. Then put every setting back,
and read it again. It takes some seconds more than --seconds. It is refused while an integration
runs, or while the meter holds a result that nobody has fetched. Exit code 1 when a check fails.

With --real, walk through what only a real meter can tell, about 15 minutes with a person beside it.
Each step says what to do at the meter, does what the program can do, shows what it saw, and asks.
After each step the report is saved. The same command goes on where the walk ended. At the end, and
after Ctrl-C, the meter has its settings back. Exit code 1 while steps are open. The record beside
the report, FILE.wire.jsonl, holds every message with its time: please send it to the maintainers.

  python -m power selftest TCPIP::192.168.1.5::INSTR --real
  python -m power selftest TCPIP::192.168.1.5::INSTR --real --only lockout --only keys
  python -m power selftest --checklist      (the steps; no meter needed)
"""
# The test takes about this long beside its integration.
_BESIDE_S = 5.0

_LOOK_S = 0.5
_LIBRARIES = ("pyvisa", "pyvisa-py", "pyserial", "pyusb")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "selftest",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    parser.add_argument(
        "--seconds",
        type=whole_seconds,
        default=5,
        metavar="DURATION",
        help="length of the integration (default: 5)",
    )
    real = parser.add_argument_group("what only a real meter can tell")
    real.add_argument(
        "--real", action="store_true", help="walk through the checklist, with a person at the meter"
    )
    real.add_argument(
        "--report",
        metavar="FILE.json",
        type=Path,
        default=Path("checklist.json"),
        help="the report; its text and the conversation go beside it (default: checklist.json)",
    )
    real.add_argument(
        "--only",
        metavar="STEP",
        action="append",
        default=[],
        help="this step alone, also again; may be repeated",
    )
    real.add_argument("--checklist", action=_PrintChecklist, help="print the steps, and end")
    add_discard_option(parser)
    parser.set_defaults(run=run)


class _PrintChecklist(argparse.Action):
    """The option that prints the checklist; it needs no meter."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        """Print the checklist and end the program."""
        print(table(), end="")
        parser.exit()


def run(options: argparse.Namespace) -> int:
    """Print one line for each check when it is done, or walk through the checklist."""
    from power.commands.progress import progress_line, tell, ticking

    if options.real:
        return walk_real_meter(options)
    if options.only:
        raise ValueError("--only chooses steps of the checklist; add --real")
    checks: list[Check] = []
    with (
        progress_line(options.seconds + _BESIDE_S, quiet=options.json) as draw,
        chosen_meter(options) as meter,
        hurried(),
    ):
        guard = guard_of(meter, options)
        leave = guard.leave()
        sleep = ticking(time.sleep, draw)
        test = SelfTest(meter, guard, clock=real_elapsed_s, sleep=sleep, seconds=options.seconds)
        try:
            for check in test.run(leave):
                checks.append(check)
                if not options.json:
                    tell(f"{check.outcome.value:5} {check.name:12} {check.text}")
        except KeyboardInterrupt:
            _put_back(meter, test)
            raise
    if options.json:
        print_json(
            {
                "checks": [
                    {"name": check.name, "outcome": check.outcome.value, "text": check.text}
                    for check in checks
                ]
            }
        )
    return 1 if any(check.outcome is CheckOutcome.FAIL for check in checks) else 0


def _put_back(meter: WT310, test: SelfTest) -> None:
    """Put the settings back after an interrupt, unless the meter does not answer at once."""
    checks: list[Check] = []
    why = in_time(meter, lambda: checks.append(test.put_back()), hasty=True)
    if why or checks[0].outcome is not CheckOutcome.OK:
        say(f"the meter did not get its settings back: {why or checks[0].text}")


def walk_real_meter(options: argparse.Namespace) -> int:
    """Walk the checklist; return 0 when no chosen step is left open, else 1."""
    path: Path = options.report
    steps = chosen(options.only)
    before = load(path) if path.exists() else None
    if options.wire_log is None:
        options.wire_log = path.with_suffix(".wire.jsonl")
    with chosen_meter(options) as meter:
        identity = meter.identify()
        report = _report(before, identity, options)
        guard = guard_of(meter, options)
        guard.leave()
        save(path, report)  # A disk that is full is found before the walk.
        # The conversation's own log writes the same file: each line goes to its end, whole.
        record = WireLog(options.wire_log)
        tools = _tools(meter, guard, options, record)
        record.note(WALK, json.dumps(_circumstances(meter, options.resource)))
        with closing(record), as_found(meter, guard), _traces_removed(meter, guard):
            left = walk(
                steps,
                tools,
                report,
                partial(save, path),
                lambda: datetime.now(UTC),
                record.note,
                again=bool(options.only),
            )
    if options.json:
        print_json(json.loads(path.read_text(encoding="utf-8")))
    say(f"report   {path} and {path.with_suffix('.txt')}")
    say(f"record   {options.wire_log}; please send this file to the maintainers")
    say(f"open     {', '.join(left) or 'nothing'}")
    return 1 if left else 0


def _circumstances(meter: WT310, resource: str) -> dict[str, object]:
    """Return what a replay must know: the meter, its crest factor, and what spoke with it."""
    versions = {}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "identity": asdict(meter.identify()),
        "resource": resource,
        "crest_factor": meter.settings().crest_factor,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libraries": versions,
    }


def _report(
    before: ChecklistReport | None, identity: Identity, options: argparse.Namespace
) -> ChecklistReport:
    """Return the report to go on with, or a new one; refuse that of another meter."""
    if before is None:
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        return ChecklistReport(identity, options.resource, begun)
    if before.identity != identity:
        raise ValueError(
            f"{options.report} is about {before.identity.model} {before.identity.serial}, and this"
            f" is {identity.model} {identity.serial}; name another file with --report"
        )
    return before


def _tools(meter: WT310, guard: Guard, options: argparse.Namespace, record: WireLog) -> StepTools:
    crest_factor = meter.settings().crest_factor
    return StepTools(
        link=meter.conversation,
        ask=guard.leave,
        clock=real_elapsed_s,
        sleep=time.sleep,
        person=NotedPerson(TerminalPerson(), record.note),
        second=partial(_second, options.resource, record),
        voltage_ranges_v=meter.model.voltage_ranges(crest_factor),
        current_ranges_a=meter.model.current_ranges(crest_factor),
    )


def _second(resource: str, record: WireLog) -> str:
    """Open another connection, ask who answers, close it; note and return what happened."""
    answer = _of_another_link(resource)
    record.note(SECOND, answer)
    return answer


def _of_another_link(resource: str) -> str:
    if resource.upper().startswith("ASRL"):
        return "not tried: two programs at one serial port take each other's replies"
    other = open_wt310(resource)
    try:
        return f"{other.identify().model} answers"
    except MeterError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        other.close()


@contextmanager
def _traces_removed(meter: WT310, guard: Guard) -> Iterator[None]:
    """End the walk's own integration and put local lockout back, when it is interrupted.

    The integrator must not run when the settings are put back, and lockout is none of those.
    """
    lockout = meter.conversation.ask(":COMMunicate:LOCKout?")

    def remove() -> None:
        meter.stop()
        guard.give_up()
        meter.conversation.tell(f":COMMunicate:LOCKout {lockout}")

    try:
        yield
    except KeyboardInterrupt:
        why = in_time(meter, remove, hasty=True)
        if why:
            say(f"the meter may still integrate, or keep a locked panel: {why}")
        raise
    except BaseException:
        in_time(meter, remove, hasty=False)
        raise


class TerminalPerson:
    """A person who reads stderr and types lines; the end of the input ends the walk."""

    def __init__(self, read_line: Callable[[], str] | None = None) -> None:
        self._read_line = read_line or _read_line

    def show(self, text: str) -> None:
        """Show a line."""
        say(text)

    def wait(self, task: str) -> None:
        """Name a task at the meter, and return when the person presses Enter."""
        self._ask(f">> {task}\n   Enter: done   s: skip this step   q: end, and go on later")

    def choose(self, question: str, choices: Mapping[str, str]) -> PersonAnswer:
        """Ask until the line begins with one of the choices; the rest of it is the remark."""
        meanings = "   ".join(f"{word}: {meaning}" for word, meaning in choices.items())
        text = f">> {question}\n   {meanings}   s: skip   q: end   (a remark may follow)"
        while True:
            word, _, remark = self._ask(text).partition(" ")
            if word.lower() in choices:
                return PersonAnswer(word.lower(), remark.strip())
            text = f"   {word!r} is not one of {', '.join(choices)}, s, q"

    def _ask(self, text: str) -> str:
        say(text)
        line = self._read_line()
        answer = line.strip()
        if not line or answer.lower() == "q":
            raise WalkEnded
        if answer.lower() == "s":
            raise StepSkipped
        return answer


def _read_line() -> str:
    """Return the next line of stdin.

    Ctrl-C that comes right before a read begins would be felt only after the next line. So a
    terminal, which gives one line a read, is read when it has one.
    """
    if sys.stdin.isatty() and sys.platform != "win32":
        while not select.select([sys.stdin], [], [], _LOOK_S)[0]:
            pass
    return sys.stdin.readline()
